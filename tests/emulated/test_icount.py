"""Executed instructions do not grow: the counts of this tree against the committed baseline."""

from __future__ import annotations

import icount_baseline
import icount_report
import pytest


@pytest.mark.parametrize("target", list(icount_report.TARGETS))
def test_no_count_grew(target: str) -> None:
    baseline = icount_baseline.load()
    now = icount_baseline.collect(icount_report.count(target))[target]
    grown = icount_baseline.regressions(baseline[target], now)
    assert not grown, "\n".join(["make icount-baseline accepts these:", *grown])
    unknown = sorted(set(now) - set(baseline[target]))
    assert not unknown, f"no baseline yet (make icount-baseline): {unknown}"


def test_growth_beyond_the_tolerance_is_found() -> None:
    before = {"ecb(aes) x enc 128 x1": {16: 1000, 64: 1000}, "gone x1": {16: 1}}
    now = {"ecb(aes) x enc 128 x1": {16: 1011, 64: 1010}}
    found = icount_baseline.regressions(before, now)
    assert len(found) == 2
    assert "16 bytes: 1000 instructions before, 1011 now" in found[0]
    assert "gone" in found[1]


def test_counts_are_exactly_repeatable() -> None:
    first, second = (icount_report.count("mips", "--impl", "sha256-generic/gwbench") for _ in range(2))
    assert first and first == second


def test_loads_and_stores_are_told_apart() -> None:
    """Table AES: 16 look-ups a round against 16 bytes written a block."""
    rows = icount_report.count("mips", "--impl", "ecb-aes-generic/gwbench")
    long = next(r for r in rows if r.bytes == 8192 and r.batch == 1 and r.op == "encrypt")
    assert long.loads > 4 * long.stores
