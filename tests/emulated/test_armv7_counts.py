"""What the ARMv7 NEON code must reach: executed instructions a byte against the best there was."""

from __future__ import annotations

from functools import cache

import anchors
import icount_report
import pytest


@cache
def counts() -> dict[tuple[str, str, str, int, int, int], float]:
    """(algorithm, implementation, op, key bits, batch, bytes) -> instructions a byte."""
    rows = icount_report.count("armv7")
    return {(r.algorithm, r.implementation, r.op, r.key_bits, r.batch, r.bytes): r.insns_per_byte for r in rows}


def cipher(mode: str, op: str, bits: int, batch: int, size: int) -> float:
    return counts()[f"{mode}(aes)", f"{mode}-aes-neonbs/gwbench", op, bits, batch, size]


# CBC encryption of a single packet is serial: see below.
SINGLE = [
    key[1:]
    for key in anchors.ANCHORS
    if key[0] == "armv7" and key[1].endswith("(aes)") and key[1:3] != ("cbc(aes)", "encrypt")
]


@pytest.mark.parametrize("algorithm, op, bits", SINGLE)
def test_five_per_cent_below_the_best_known(algorithm: str, op: str, bits: int) -> None:
    best = anchors.ANCHORS["armv7", algorithm, op, bits]
    assert cipher(algorithm[:3], op, bits, 1, 8192) <= 0.95 * best


def test_sha256() -> None:
    best = anchors.ANCHORS["armv7", "sha256", "hash", 0]
    assert counts()["sha256", "sha256-neon/gwbench", "hash", 0, 1, 8192] <= 0.95 * best
    assert counts()["sha256", "sha256-neon4/gwbench", "hash", 0, 16, 1408] <= 13
    assert counts()["hmac(sha256)", "hmac-sha256-neon4/gwbench", "hash", 0, 16, 1408] <= 13


def test_cbc_encryption() -> None:
    """Eight packets abreast in bit slices; a single one by look-up in registers, below scalar tables (39.3)."""
    assert cipher("cbc", "encrypt", 128, 16, 1408) <= 17  # the issue asks for 21
    assert cipher("cbc", "encrypt", 128, 1, 8192) <= 26


def other(algorithm: str, driver: str, op: str, bits: int, batch: int, size: int) -> float:
    return counts()[algorithm, f"{driver}/gwbench", op, bits, batch, size]


def test_other_algorithms() -> None:
    assert other("xts(speck128)", "xts-speck128-neon", "encrypt", 512, 1, 8192) <= 11
    assert other("xts(speck64)", "xts-speck64-neon", "encrypt", 256, 1, 8192) <= 9.5
    assert other("sha512", "sha512-neon", "hash", 0, 1, 8192) <= 24
    assert other("sha1", "sha1-neon", "hash", 0, 1, 8192) <= 13
    chacha = other("rfc7539(chacha20,poly1305)", "chacha20poly1305-neon", "seal", 256, 16, 1408)
    assert chacha <= 0.65 * anchors.ANCHORS["armv7", "chacha20poly1305", "seal", 256]


def test_few_blocks_do_not_cost_eight() -> None:
    assert cipher("ecb", "encrypt", 128, 1, 16) <= 45
    assert cipher("ctr", "encrypt", 128, 1, 64) <= 35


def test_ghash_by_difference() -> None:
    gcm = counts()["gcm(aes)", "gcm-aes-neonbs/gwbench", "seal", 128, 1, 8192]
    assert gcm - cipher("ctr", "encrypt", 128, 1, 8192) <= 6  # best known: 8.07


@pytest.mark.parametrize("mode", ["ecb", "cbc", "ctr"])
@pytest.mark.parametrize("op", ["encrypt", "decrypt"])
@pytest.mark.parametrize("size", [16, 64])
def test_short_requests_share_lanes(mode: str, op: str, size: int) -> None:
    long = cipher(mode, op, 128, 16, 8192)
    assert cipher(mode, op, 128, 16, size) <= 1.5 * long


def test_whole_packets() -> None:
    assert counts()["aes128gcm16", "gcm-aes-neonbs/gwbench", "seal", 128, 16, 1408] <= 21  # the issue asks for 27
    for mac, most in (("hmac-sha256-neon", 48), ("hmac-sha256-neon4", 36)):
        suite = f"cbc-aes-neonbs/gwbench + {mac}/gwbench"
        assert counts()["aes256-sha256", suite, "seal", 256, 16, 1408] <= most
