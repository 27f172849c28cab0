"""Steal and foreign CPU of an interval, on made-up and on real numbers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gateway.noise import (
    CpuTimes,
    OwnCpu,
    as_json,
    children_of,
    cpu_times,
    noise_between,
    parse_proc_stat,
    process_cpu_ns,
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


def test_own_cpu_keeps_what_an_ended_process_had_used(tmp_path: Path) -> None:
    def write(pid: int, *threads: int) -> None:
        for tid, ns in enumerate(threads):
            task = tmp_path / str(pid) / "task" / str(tid)
            task.mkdir(parents=True, exist_ok=True)
            (task / "schedstat").write_text(f"{ns} 5 6\n")

    own = OwnCpu(tmp_path)
    write(1, 100, 20)
    write(2, 3)
    assert own.read([1, 2]) == 123
    for path in sorted((tmp_path / "1").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    write(2, 10)
    assert own.read([1, 2, 99]) == 130


def test_a_busy_child_is_ours_and_measured() -> None:
    code = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\ninput()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while process_cpu_ns(child.pid) < 0.3 * S:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert {os.getpid(), child.pid} <= children_of(os.getpid())
        assert os.getpid() not in children_of(child.pid)
    finally:
        child.kill()
        child.communicate()
    assert process_cpu_ns(child.pid) == 0


def test_this_machines_numbers_move_forward() -> None:
    before = cpu_times(time.monotonic_ns(), 0)
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = cpu_times(time.monotonic_ns(), 0)
    assert after.busy_ns > before.busy_ns
    assert after.steal_ns >= before.steal_ns
