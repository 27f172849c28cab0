"""Back-to-back frames (RFC 2544 26.4 as RFC 9004 has it): the longest burst that comes through whole.

The burst goes as fast as the generator can make it. Where the gateway keeps up with that, there is no limit to find:
RFC 9004 5.2 asks for a rate that exceeds the throughput.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gateway.measure.trial import Trial, Trials

TESTS = 5
"""Searches; RFC 9004 6.1 asks for 50, which takes minutes."""
BUDGET_S = 10.0
STEP = 0.05
"""The search ends when burst and failure are this close."""
_FIRST = 256
_MOST_S = 0.5
"""A burst that is longer at the generator's rate is no burst any more."""


@dataclass(frozen=True, slots=True)
class Result:
    """Packets, of each way where there are two."""

    bursts: tuple[int, ...]
    """Of each search, the longest that came through whole."""
    rate_per_s: float
    """At which bursts were sent."""
    limited: bool
    """False: the longest one that was tried came through; there is no more to know."""
    throughput_per_s: float

    @property
    def mean(self) -> float:
        return statistics.fmean(self.bursts)

    @property
    def buffer_ms(self) -> float | None:
        """Corrected DUT buffer time (RFC 9004 6.4): what is stored while packets come faster than they leave."""
        if not self.limited or self.rate_per_s <= self.throughput_per_s or self.rate_per_s <= 0:
            return None
        implied_s = self.mean / self.rate_per_s
        return 1e3 * (implied_s - implied_s * self.throughput_per_s / self.rate_per_s)

    def as_dict(self) -> dict[str, Any]:
        return {
            "packets": list(self.bursts),
            "mean": self.mean,
            "min": min(self.bursts),
            "max": max(self.bursts),
            "stdev": statistics.stdev(self.bursts) if len(self.bursts) > 1 else None,
            "sent_at_packets_per_s": self.rate_per_s,
            "limit_found": self.limited,
            "corrected_buffer_ms": self.buffer_ms,
        }


def measure(trials: Trials, direction: str, sizes: Sequence[int], throughput_per_s: float) -> Result | None:
    """None when not even one packet comes through."""
    deadline = time.monotonic() + BUDGET_S
    bursts: list[int] = []
    rates: list[float] = []
    limited = False
    start = _FIRST
    for _ in range(TESTS):
        found, failed = _search(trials, direction, sizes, start, deadline, rates)
        if found or failed:
            bursts.append(found)
        limited = limited or failed > 0
        if time.monotonic() > deadline or (not failed and found):
            break
        start = max(1, found)
    if not bursts or not rates:
        return None
    return Result(tuple(bursts), statistics.median(rates), limited, throughput_per_s)


def _search(
    trials: Trials, direction: str, sizes: Sequence[int], start: int, deadline: float, rates: list[float]
) -> tuple[int, int]:
    """(longest that passed, least that failed or 0)."""
    passed, failed, burst = 0, 0, start
    while time.monotonic() < deadline:
        trial = trials.run(direction, sizes, 0.0, count=burst)
        seconds = max(s.generator.seconds for s in trial.streams)
        if burst >= _FIRST and seconds > 0:
            rates.append(burst / seconds)
        if _whole(trial):
            passed = burst
            if seconds > _MOST_S:
                return passed, 0
            burst = (passed + failed) // 2 if failed else burst * 2
        else:
            failed = burst
            if failed <= 1:
                return 0, failed
            burst = (passed + failed) // 2 if passed else burst // 2
        if failed and passed and failed - passed <= max(1, STEP * failed):
            break
    return passed, failed


def _whole(trial: Trial) -> bool:
    return trial.offered == trial.intended and trial.forwarded == trial.offered
