"""How the time of a suite's crypto divides between cipher and hash: both benched alone, right after the run."""

from __future__ import annotations

from dataplane import DataplaneError, Suite, bench_impl

_MIN_NS = 15_000_000
_BATCH = 32
"""Packets; about what one read of the TUN yields."""


def integrity_share(suite: Suite, implementation: str, packet_bytes: int) -> float | None:
    """Part of the crypto time that the hash takes, 0..1; None for AEADs, one-pass implementations, or no bench.

    implementation: ``cipher driver + hash driver``. The cipher's time is the mean of encrypting and decrypting.
    """
    drivers = implementation.split(" + ")
    if len(drivers) != 2 or not suite.auth_alg:
        return None
    size = packet_bytes // 64 * 64
    try:
        cipher = [_ns_per_byte(drivers[0], opening, suite.enc_key_bytes, size) for opening in (False, True)]
        integrity = _ns_per_byte(drivers[1], False, suite.auth_key_bytes, size)
    except DataplaneError:
        return None
    total = sum(cipher) / 2 + integrity
    return integrity / total if total > 0 else None


def _ns_per_byte(driver: str, opening: bool, key_len: int, size: int) -> float:
    sample = bench_impl(driver, opening=opening, key_len=key_len, bytes_=size, batch=_BATCH, min_ns=_MIN_NS)
    return sample.ns / sample.bytes if sample.bytes else 0.0
