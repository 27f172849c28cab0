"""CPU time by core, from /proc/stat: whether one core is full is invisible in the machine's average."""

from __future__ import annotations

import os
from pathlib import Path

from gateway.metrics.exposition import Families


class Cpu:
    """The collector."""

    name = "cpu"

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._path = proc / "stat"

    def collect(self, families: Families) -> None:
        """OSError when /proc/stat cannot be read."""
        tick = os.sysconf("SC_CLK_TCK")
        for line in self._path.read_text(encoding="ascii").splitlines():
            core, *words = line.split()
            if not core.startswith("cpu") or core == "cpu":
                continue
            user, nice, system, idle, iowait, irq, softirq, steal = (int(word) / tick for word in words[:8])
            for mode, seconds in (
                ("busy", user + nice + system + irq),
                ("idle", idle + iowait),
                ("softirq", softirq),
                ("steal", steal),
            ):
                families.add("gwbench_cpu_seconds_total", (core.removeprefix("cpu"), mode), round(seconds, 2))
