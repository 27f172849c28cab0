"""Latency under load: percentiles and distribution at shares of PDR."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.measure.trial import Trial, Trials

SHARES = (0.0, 0.1, 0.5, 0.9)
"""Of PDR; 0 is one packet at a time."""
PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
IDLE_PER_S = 500.0


@dataclass(frozen=True, slots=True)
class Latency:
    """One way at one load; microseconds, from before the generator's send to the kernel's receive stamp at the sink."""

    way: str
    share: float
    packets_per_s: float
    packets: int
    """That were timed."""
    histogram: Mapping[int, int]
    """Least nanoseconds of a bucket -> packets."""
    min_us: float
    mean_us: float
    max_us: float
    loss_ratio: float

    def percentile_us(self, percent: float) -> float:
        """Upper edge of the bucket, which is 1.6 % wide, so that it is not promised too little; never above max."""
        return min(percentile_ns(self.histogram, percent) / 1e3, self.max_us)

    def as_dict(self) -> dict[str, Any]:
        return {
            "way": self.way,
            "share_of_pdr": self.share,
            "packets_per_s": self.packets_per_s,
            "packets": self.packets,
            "loss_ratio": self.loss_ratio,
            "min_us": self.min_us,
            "mean_us": self.mean_us,
            "max_us": self.max_us,
            "percentiles_us": {f"{p:g}": self.percentile_us(p) for p in PERCENTILES},
            "histogram_ns": [[ns, n] for ns, n in self.histogram.items()],
        }


def percentile_ns(histogram: Mapping[int, int], percent: float) -> float:
    """Upper edge of the bucket that holds it. ValueError for an empty histogram."""
    total = sum(histogram.values())
    if not total:
        raise ValueError("an empty histogram has no percentiles")
    rank = max(1, math.ceil(percent / 100 * total - 1e-9))
    seen = 0
    for ns, n in sorted(histogram.items()):
        seen += n
        if seen >= rank:
            return ns + _width_ns(ns)
    raise AssertionError


def _width_ns(ns: int) -> int:
    """Of the bucket that begins there (csrc/bench/histogram.h): 64 an octave."""
    return 1 if ns < 128 else 1 << (ns.bit_length() - 7)


def measure(
    trials: Trials, direction: str, sizes: Sequence[int], pdr_per_s: float, seconds: float
) -> tuple[Latency, ...]:
    """At every share, both ways where there are two."""
    found = []
    for share in SHARES:
        rate = share * pdr_per_s if share else min(IDLE_PER_S, pdr_per_s / 20)
        trial = trials.run(direction, sizes, rate, seconds=seconds, times=True)
        found += _of(trial, share, rate)
    return tuple(found)


def _of(trial: Trial, share: float, rate: float) -> list[Latency]:
    found = []
    for stream in trial.streams:
        sink = stream.sink
        if not sink.latencies:
            continue
        found.append(
            Latency(
                stream.way,
                share,
                rate,
                sink.latencies,
                stream.histogram,
                sink.latency_min_ns / 1e3,
                sink.latency_sum_ns / sink.latencies / 1e3,
                sink.latency_max_ns / 1e3,
                stream.lost / stream.generator.sent if stream.generator.sent else 0.0,
            )
        )
    return found
