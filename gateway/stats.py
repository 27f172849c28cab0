"""Medians of few, noisy samples. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


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
