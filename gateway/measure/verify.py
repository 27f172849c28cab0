"""Is what a cell measures right at its size? A library that silently refuses a long request would look fast."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import dataplane
from gateway.measure.crypto import Cell

REQUESTS = 3
"""Enough for company in a batch; limits of a library concern every request alike."""


def _op(cell: Cell, number: int, key: dataplane.Key | None) -> dataplane.Op:
    seed = hashlib.shake_128(f"{cell.algorithm} {number}".encode())
    aead, hashing = cell.op in ("seal", "open"), cell.op == "hash"
    digest = 64 if "512" in cell.algorithm else 20 if "sha1" in cell.algorithm else 32
    return dataplane.Op(
        data=seed.digest(cell.bytes),
        key=None if hashing else key,
        mac_key=key if hashing else None,
        iv=b"" if hashing else bytes(12 if aead else 8 if cell.algorithm == "xts(speck64)" else 16),
        aad=bytes(8) if aead else b"",
        tag_bytes=16 if aead else digest if hashing else 0,
    )


def _answers(cell: Cell, driver: str) -> list[tuple[bytes, bytes]]:
    """Output and tag of some sealed requests."""
    raw = hashlib.shake_128(b"key").digest(cell.key_bits // 8)
    key = dataplane.Key(driver, raw) if cell.key_bits else None
    try:
        results = dataplane.run(driver, [_op(cell, n, key) for n in range(REQUESTS)])
        return [(b"" if cell.op == "hash" else r.out, r.tag) for r in results]
    finally:
        if key:
            key.close()


def _opens(cell: Cell, sealed: Sequence[tuple[bytes, bytes]]) -> bool:
    """Does the cell's driver turn the right ciphertext back?"""
    raw = hashlib.shake_128(b"key").digest(cell.key_bits // 8)
    with dataplane.Key(cell.driver, raw) as key:
        plain = [_op(cell, n, key) for n in range(REQUESTS)]
        ops = [
            dataplane.Op(data=out, key=key, iv=p.iv, aad=p.aad, tag=tag)
            for p, (out, tag) in zip(plain, sealed, strict=True)
        ]
        results = dataplane.run(cell.driver, ops, opening=True)
    return all(r.ok and r.out == p.data for r, p in zip(results, plain, strict=True))


def wrong(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Cells whose answers differ from generic's, or that cannot run: what is the matter with each."""
    found: dict[Cell, str] = {}
    expected: dict[tuple[str, int, int], list[tuple[bytes, bytes]]] = {}
    generic = {i.alg: i.driver for i in dataplane.implementations() if i.tag == "generic"}
    for cell in cells:
        if cell.tag == "generic" or cell.algorithm not in generic:
            continue  # its known answers were published ones
        place = cell.algorithm, cell.key_bits, cell.bytes
        try:
            if place not in expected:
                expected[place] = _answers(cell, generic[cell.algorithm])
            if cell.op in ("open", "decrypt"):
                right = _opens(cell, expected[place])
            else:
                right = _answers(cell, cell.driver) == expected[place]
        except dataplane.DataplaneError as error:
            found[cell] = f"{cell.driver}: {error.message}"
        else:
            if not right:
                found[cell] = f"{cell.driver} answers wrongly: {cell.op} of {cell.bytes} bytes"
    return found
