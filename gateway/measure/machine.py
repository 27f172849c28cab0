"""How busy this machine was: what the cores did meanwhile, by kind of work, and how much of it was for others."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Core:
    """One core's shares of its own time, 0..1."""

    number: int
    busy: float
    """Not idle; steal is in it."""
    softirq: float
    """Hard interrupts are in it."""


@dataclass(frozen=True, slots=True)
class Busy:
    """Seconds of CPU between two readings, over all cores."""

    wall_s: float
    """Of all cores together: cores times elapsed time."""
    idle_s: float
    softirq_s: float
    """Packet forwarding by the kernel, mostly."""
    system_s: float
    user_s: float
    steal_s: float
    """What the hypervisor gave to others."""
    busiest_core: float
    """Share of its time that the busiest core was not idle, 0..1."""
    cores: tuple[Core, ...] = ()
    """Each of them: a mean over all hides a core that is full of softirq."""

    @property
    def busy_s(self) -> float:
        return self.softirq_s + self.system_s + self.user_s

    def as_dict(self) -> dict[str, Any]:
        """Shares of all cores' time, 0..1; ``cores``: of each one's own."""
        whole = self.wall_s or 1.0
        return {
            "idle": self.idle_s / whole,
            "softirq": self.softirq_s / whole,
            "system": self.system_s / whole,
            "user": self.user_s / whole,
            "steal": self.steal_s / whole,
            "busiest_core": self.busiest_core,
            "cores": [asdict(core) for core in self.cores],
        }


def read(root: Path = Path("/proc")) -> list[list[int]]:
    """/proc/stat's lines of all cores (first) and of each; ticks."""
    return parse((root / "stat").read_text())


def parse(text: str) -> list[list[int]]:
    """The same of another machine's /proc/stat."""
    lines = text.splitlines()
    return [[int(x) for x in line.split()[1:9]] for line in lines if line.startswith("cpu")]


def between(before: list[list[int]], after: list[list[int]]) -> Busy:
    """What happened between two readings."""
    tick = 1.0 / os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, softirq, steal = (
        (b - a) * tick for a, b in zip(before[0], after[0], strict=True)
    )
    cores = []
    for number, (first, second) in enumerate(zip(before[1:], after[1:], strict=False)):
        delta = [b - a for a, b in zip(first, second, strict=True)]
        if whole := sum(delta):
            cores.append(Core(number, 1.0 - (delta[3] + delta[4]) / whole, (delta[5] + delta[6]) / whole))
    return Busy(
        wall_s=user + nice + system + idle + iowait + irq + softirq + steal,
        idle_s=idle + iowait,
        softirq_s=softirq + irq,
        system_s=system,
        user_s=user + nice,
        steal_s=steal,
        busiest_core=max((core.busy for core in cores), default=0.0),
        cores=tuple(cores),
    )


def others_cpu_ns(proc: Path = Path("/proc"), own_pid: int | None = None) -> int:
    """CPU time so far of every process that is not ours, children that ended included.

    Kernel threads are left out: ksoftirqd forwards our packets, and that is part of the measurement.
    """
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    used: dict[int, int] = {}
    parents: dict[int, int] = {}
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The command in parentheses may hold blanks and parentheses itself.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry.name)
        parents[pid] = int(fields[1])
        # utime, stime, and the same of children that were waited for
        used[pid] = sum(int(x) for x in fields[11:15])
    own = os.getpid() if own_pid is None else own_pid

    def ours(pid: int) -> bool:
        while pid in parents:
            if pid == own:
                return True
            pid = parents[pid]
        return False

    return tick_ns * sum(ticks for pid, ticks in used.items() if pid != 2 and parents[pid] != 2 and not ours(pid))
