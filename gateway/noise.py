"""How much of an interval the machine gave to others: stolen by the hypervisor, or used by foreign processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STEAL_LIMIT_CORES = 0.05
FOREIGN_LIMIT_CORES = 0.10
"""Above either an interval is dirty: repeat it or mark it."""


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """CPU time of the whole machine and of our own processes at one moment, nanoseconds."""

    wall_ns: int
    busy_ns: int
    """user, nice, system, irq and softirq of all cores."""
    steal_ns: int
    own_ns: int


@dataclass(frozen=True, slots=True)
class Noise:
    """An interval between two moments."""

    seconds: float
    steal_cores: float
    """Cores that the hypervisor withheld while something wanted to run."""
    foreign_cores: float
    """Cores busy with what is not ours. Interrupt work for our packets counts as foreign only where it is charged to
    no task; the limit leaves room for that."""
    dirty: bool
    reason: str
    """Empty when clean."""


def parse_proc_stat(text: str, tick_ns: int) -> tuple[int, int]:
    """(busy, steal) in nanoseconds from /proc/stat's first line. ValueError when that is something else."""
    fields = text.split("\n", 1)[0].split()
    if not fields or fields[0] != "cpu" or len(fields) < 9:
        raise ValueError("/proc/stat does not begin with a cpu line")
    user, nice, system, _idle, _iowait, irq, softirq, steal = (int(x) for x in fields[1:9])
    return (user + nice + system + irq + softirq) * tick_ns, steal * tick_ns


def cpu_times(wall_ns: int, own_ns: int, proc: Path = Path("/proc")) -> CpuTimes:
    """Now; time is passed in. Without /proc/stat's cpu line everything counts as unknown (0)."""
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    try:
        busy, steal = parse_proc_stat((proc / "stat").read_text(), tick_ns)
    except (OSError, ValueError):
        busy = steal = 0
    return CpuTimes(wall_ns=wall_ns, busy_ns=busy, steal_ns=steal, own_ns=own_ns)


def noise_between(
    before: CpuTimes,
    after: CpuTimes,
    *,
    steal_limit_cores: float = STEAL_LIMIT_CORES,
    foreign_limit_cores: float = FOREIGN_LIMIT_CORES,
) -> Noise:
    """Noise of the interval. ValueError when it has no length."""
    wall = after.wall_ns - before.wall_ns
    if wall <= 0:
        raise ValueError("the interval has no length")
    steal = max(0.0, (after.steal_ns - before.steal_ns) / wall)
    foreign = max(0.0, (after.busy_ns - before.busy_ns - (after.own_ns - before.own_ns)) / wall)
    reasons = []
    if steal > steal_limit_cores:
        reasons.append(f"{steal:.2f} cores stolen by the hypervisor")
    if foreign > foreign_limit_cores:
        reasons.append(f"{foreign:.2f} cores used by others")
    return Noise(
        seconds=wall / 1e9,
        steal_cores=steal,
        foreign_cores=foreign,
        dirty=bool(reasons),
        reason=", ".join(reasons),
    )


def as_json(noise: Noise) -> Mapping[str, object]:
    """For the result file."""
    return {
        "seconds": round(noise.seconds, 3),
        "steal_cores": round(noise.steal_cores, 4),
        "foreign_cores": round(noise.foreign_cores, 4),
        "dirty": noise.dirty,
        "reason": noise.reason,
    }
