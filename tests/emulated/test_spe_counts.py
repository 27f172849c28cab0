"""What the SPE code must reach: executed instructions a byte against the best there was, and estimated cycles."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import anchors
import e500v2_model as model
import icount_report
import pytest
import spe_build


@cache
def counts() -> dict[tuple[str, str, str, int, int, int], float]:
    """(algorithm, tag, op, key bits, batch, bytes) -> instructions a byte."""
    rows = icount_report.count("e500v2")
    return {(r.algorithm, r.tag, r.op, r.key_bits, r.batch, r.bytes): r.insns_per_byte for r in rows}


@pytest.mark.parametrize("algorithm, op, bits", [key[1:] for key in anchors.ANCHORS if key[0] == "e500v2"])
def test_at_or_below_the_best_known(algorithm: str, op: str, bits: int) -> None:
    best = anchors.ANCHORS["e500v2", algorithm, op, bits]
    assert counts()[algorithm, "spe", op, bits, 1, 8192] <= best


def test_small_requests_and_whole_packets() -> None:
    assert counts()["cbc(aes)", "spe", "encrypt", 128, 1, 16] <= 36
    for op in ("seal", "open"):
        assert counts()["aes128gcm16", "spe", op, 128, 1, 1408] <= 55
        suite = [counts()["aes256-sha256", tag, op, 256, 16, 1408] for tag in ("generic", "spe")]
        assert suite[0] / suite[1] >= 1.60


# (driver less its tag, direction, key bytes, request bytes, batch)
OPERATIONS = [
    ("ecb-aes", 1, 16, 8192, 1),
    ("cbc-aes", 1, 32, 1408, 8),
    ("cbc-aes", 0, 32, 1408, 8),
    ("ctr-aes", 1, 16, 1408, 8),
    ("xts-aes", 1, 64, 8192, 1),
    ("gcm-aes", 1, 16, 1408, 8),
    ("gcm-aes", 0, 16, 1408, 8),
    ("sha256", 1, 0, 8192, 1),
    ("hmac-sha256", 1, 32, 1432, 8),
]


def cycles_per_byte(tmp_path: Path, driver: str, direction: int, key_bytes: int, size: int, batch: int) -> float:
    few, many = (
        model.read_profile(spe_build.profile(tmp_path / f"{n}", driver, direction, key_bytes, size, batch, n))
        for n in (1, 3)
    )
    return model.estimate(model.difference(many, few)).cycles / (2 * size * batch)


@pytest.mark.parametrize("name, direction, key_bytes, size, batch", OPERATIONS)
def test_the_unit_limits_favour_spe(
    tmp_path: Path, name: str, direction: int, key_bytes: int, size: int, batch: int
) -> None:
    """SPE is chosen by default, so it must also win by the core's units, not only by counts."""
    spe, generic = (
        cycles_per_byte(tmp_path, f"{name}-{tag}/gwbench", direction, key_bytes, size, batch)
        for tag in ("spe", "generic")
    )
    assert spe * 1.3 <= generic, f"{spe:.2f} against {generic:.2f} cycles a byte (estimate)"


def test_the_founding_suite_gains_in_estimated_cycles(tmp_path: Path) -> None:
    """aes256-sha256, packets of 1408 bytes in batches, cipher and hash together: sealed and opened."""
    for direction in (1, 0):
        generic = cycles_per_byte(tmp_path, "cbc-aes-generic/gwbench", direction, 32, 1408, 16)
        generic += cycles_per_byte(tmp_path, "hmac-sha256-generic/gwbench", 1, 32, 1432, 16) * 1432 / 1408
        spe = cycles_per_byte(tmp_path, "authenc-hmac-sha256-cbc-aes-spe/gwbench", direction, 32, 1408, 16)
        assert generic / spe >= 1.60, f"{spe:.2f} against {generic:.2f} cycles a byte (estimate)"


def test_running_beside_hashes_beats_running_after_them(tmp_path: Path) -> None:
    """The fused implementation has the higher priority: it must earn it by the core's units."""
    for key_bytes in (16, 32):
        apart = cycles_per_byte(tmp_path, "cbc-aes-spe/gwbench", 1, key_bytes, 1408, 16)
        apart += cycles_per_byte(tmp_path, "hmac-sha256-spe/gwbench", 1, 32, 1432, 16) * 1432 / 1408
        fused = cycles_per_byte(tmp_path, "authenc-hmac-sha256-cbc-aes-spe/gwbench", 1, key_bytes, 1408, 16)
        assert fused * 1.1 <= apart, f"{fused:.2f} against {apart:.2f} cycles a byte (estimate)"
