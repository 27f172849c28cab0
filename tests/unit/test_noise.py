"""Steal and foreign CPU of an interval, on made-up and on real numbers."""

from __future__ import annotations

import time

import pytest

from gateway.noise import (
    CpuTimes,
    as_json,
    cpu_times,
    noise_between,
    parse_proc_stat,
)

S = 1_000_000_000


def test_proc_stat() -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice; guest is in user already
    assert parse_proc_stat("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9\n", 10) == ((1 + 2 + 4 + 32 + 64) * 10, 1280)
    for bad in ("", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3"):
        with pytest.raises(ValueError, match="cpu line"):
            parse_proc_stat(bad, 10)


@pytest.mark.parametrize(
    ("busy", "steal", "own", "reason"),
    [
        (8 * S, 0, 8 * S, ""),
        (8 * S, int(0.4 * S), 8 * S, ""),
        (8 * S, int(0.6 * S), 8 * S, "0.06 cores stolen by the hypervisor"),
        (8 * S, 0, int(6.5 * S), "0.15 cores used by others"),
        (8 * S, 5 * S, 3 * S, "0.50 cores stolen by the hypervisor, 0.50 cores used by others"),
        (8 * S, 0, 9 * S, ""),  # ticks are coarser than schedstat: less than nothing is nothing
    ],
)
def test_dirty_above_the_limits(busy: int, steal: int, own: int, reason: str) -> None:
    noise = noise_between(CpuTimes(0, 0, 0, 0), CpuTimes(10 * S, busy, steal, own))
    assert (noise.reason, noise.dirty) == (reason, bool(reason))
    assert noise.seconds == 10
    assert as_json(noise)["dirty"] is noise.dirty


def test_an_interval_without_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="no length"):
        noise_between(CpuTimes(5, 0, 0, 0), CpuTimes(5, 0, 0, 0))


def test_this_machines_numbers_move_forward() -> None:
    before = cpu_times(time.monotonic_ns(), 0)
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = cpu_times(time.monotonic_ns(), 0)
    assert after.busy_ns > before.busy_ns
    assert after.steal_ns >= before.steal_ns
