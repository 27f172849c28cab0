"""Medians of few, noisy samples, and how far they can be trusted. Pure, and the same every time."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEVEL = 0.95
"""Of confidence intervals."""
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Summary:
    """A measured quantity over the rounds; the samples are kept, in round order."""

    samples: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.samples:
            raise ValueError("a summary needs at least one sample")

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def min(self) -> float:
        return min(self.samples)

    @property
    def max(self) -> float:
        return max(self.samples)

    def as_dict(self) -> dict[str, object]:
        """The form of the result file: median, min, max, samples."""
        return {"median": self.median, "min": self.min, "max": self.max, "samples": list(self.samples)}


def summary_or_none(samples: Sequence[float | None]) -> Summary | None:
    """None when nothing was measured: absent, never 0."""
    known = tuple(s for s in samples if s is not None)
    return Summary(known) if known else None


def median_ratio(numerators: dict[int, float], denominators: dict[int, float]) -> float | None:
    """Median of the ratios within each round (keys are round numbers): both sides of a round met the same machine, so
    their ratio is steadier than the ratio of medians. None when no round has both."""
    ratios = [numerators[r] / denominators[r] for r in numerators if denominators.get(r)]
    return statistics.median(ratios) if ratios else None


def median(values: Sequence[float]) -> float:
    """ValueError when there are none."""
    return statistics.median(values)


@dataclass(frozen=True, slots=True)
class Interval:
    """Confidence interval of level LEVEL."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def _percentiles(values: list[float]) -> Interval:
    values.sort()
    tail = (1 - LEVEL) / 2
    return Interval(values[int(tail * len(values))], values[min(len(values) - 1, math.ceil((1 - tail) * len(values)))])


def bootstrap_median(samples: Sequence[float]) -> Interval | None:
    """Interval of the median by resampling; None for fewer than three samples, which tell nothing of their spread.

    Efron & Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13 (percentile intervals).
    """
    if len(samples) < 3:
        return None
    rng = random.Random(len(samples))
    n = len(samples)
    return _percentiles([statistics.median(rng.choices(samples, k=n)) for _ in range(_RESAMPLES)])


def paired_ratio(
    numerators: Mapping[int, float], denominators: Mapping[int, float]
) -> tuple[float | None, Interval | None]:
    """Median of the ratios within each round, and its interval: (None, None) when no round has both."""
    ratios = [numerators[r] / denominators[r] for r in numerators if denominators.get(r)]
    return (statistics.median(ratios), bootstrap_median(ratios)) if ratios else (None, None)


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity before and after."""

    before: float
    after: float
    """Medians."""
    ratio: float
    interval: Interval | None
    """Of the ratio; None when the samples tell nothing of their spread."""
    moved: bool
    """Beyond noise."""


def relative_spread(samples: Sequence[float]) -> float | None:
    """Standard deviation over the median; None for fewer than two samples.

    From six samples on by the quartiles, which one stolen core among the rounds does not move.
    """
    if len(samples) < 2 or not statistics.median(samples):
        return None
    deviation = statistics.stdev(samples)
    if len(samples) >= 6:
        low, _, high = statistics.quantiles(samples, n=4)
        deviation = (high - low) / 1.349
    return deviation / abs(statistics.median(samples))


def typical_spread(rows: Sequence[Sequence[float]]) -> float | None:
    """Median of the rows' relative spreads: what this kind of measurement varies by on this machine. Three samples
    alone often lie close together by chance; a row is not trusted to vary less than the others do."""
    spreads = [spread for row in rows if (spread := relative_spread(row)) is not None]
    return statistics.median(spreads) if spreads else None


def change(
    before: Sequence[float], after: Sequence[float], *, floor: float, typical: float | None = None, rows: int = 1
) -> Change | None:
    """Did it move? None when a side has no samples or is 0.

    The interval comes from a parametric bootstrap of both medians with each side's own relative spread, but at least
    ``typical`` (see :func:`typical_spread`). A change counts as moved when its interval leaves 1 out and it is larger
    than ``floor`` (relative, 0.02 is 2 %); where no spread is known, ``floor`` alone decides. rows: how many are judged
    together. Of twenty rows one leaves its 95 % interval by chance, so with many the change must stand further out:
    none of them moves by chance with probability LEVEL (Bonferroni).
    """
    if not before or not after:
        return None
    first, second = statistics.median(before), statistics.median(after)
    if first <= 0 or second <= 0:
        return None
    ratio = second / first
    spreads = [max(s for s in (relative_spread(side), typical, 0.0) if s is not None) for side in (before, after)]
    large = abs(ratio - 1) > floor
    if typical is None and len(before) < 2 and len(after) < 2:
        return Change(first, second, ratio, None, large)
    rng = random.Random(f"{len(before)} {len(after)}")

    def draw(spread: float, n: int) -> float:
        # Student's t of few samples is wider than the normal distribution: a chi-square draw of the spread itself.
        freedom = max(2, n - 1 + 4 * (typical is not None))
        scale = spread * math.sqrt(freedom / rng.gammavariate(freedom / 2, 2))
        return math.exp(statistics.median([rng.gauss(0, scale) for _ in range(n)]))

    ratios = [ratio * draw(spreads[1], len(after)) / draw(spreads[0], len(before)) for _ in range(_RESAMPLES)]
    interval = _percentiles(ratios)
    return Change(first, second, ratio, interval, large and not interval.holds(1) and _beyond(ratios, rows))


def _beyond(ratios: Sequence[float], rows: int) -> bool:
    """Is 1 outside the interval that holds for ``rows`` rows together? By the normal distribution of the logarithms:
    resamples would have to be many more to reach so far."""
    logs = [math.log(ratio) for ratio in ratios]
    limit = statistics.NormalDist().inv_cdf(1 - (1 - LEVEL) / 2 / max(1, rows))
    return abs(statistics.fmean(logs)) > limit * statistics.stdev(logs)
