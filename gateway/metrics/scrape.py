"""One scrape: every collector in turn. One that fails is told by ``gwbench_collector_success`` and is otherwise
absent; what it had added before it failed is no measurement and is dropped."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from gateway.metrics.exposition import Families


class Collector(Protocol):
    """Adds samples. Any exception means that nothing was measured."""

    name: str

    def collect(self, families: Families) -> None: ...


class Exporter:
    """Collectors and what has gone wrong with them."""

    def __init__(self, collectors: Sequence[Collector], report: Callable[[str], None] | None = None) -> None:
        """``report`` gets a line when a collector begins to fail, and when it works again; default: stderr."""
        self._collectors = tuple(collectors)
        self._failing: dict[str, str] = {}
        self._lock = threading.Lock()
        self._report = report or (lambda line: print(f"gwbench: {line}", file=sys.stderr, flush=True))

    def scrape(self) -> Families:
        """One at a time: two scrapes at once would both move the ledgers."""
        with self._lock:
            families = Families()
            for collector in self._collectors:
                start = time.perf_counter()
                own = Families()
                try:
                    collector.collect(own)
                except Exception as error:
                    self._failed(collector.name, " ".join(str(error).split()) or type(error).__name__)
                    success = 0
                else:
                    families.update(own)
                    success = 1
                    if self._failing.pop(collector.name, None):
                        self._report(f"{collector.name} works again")
                families.add("gwbench_collector_success", (collector.name,), success)
                families.add(
                    "gwbench_collector_duration_seconds", (collector.name,), round(time.perf_counter() - start, 6)
                )
            return families

    def _failed(self, name: str, why: str) -> None:
        if self._failing.get(name) != why:
            self._failing[name] = why
            self._report(f"{name}: {why}")
