"""What is compared: named rows of samples, whatever file they came from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.stats import Change, change, typical_spread

NOISE = 0.05
"""Where rows were measured once: a change that is not larger may be noise. Repeated runs tell better."""
FLOOR = 0.01
"""No change smaller than this counts, however steady the samples."""


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity."""

    key: tuple[str, ...]
    """What the same row of another file has, too."""
    unit: str
    samples: tuple[float, ...]
    more_is_better: bool = True
    valid: bool = True
    """False: measured, but its numbers did not add up."""
    implementation: str = ""
    """What ran, where the key does not say."""

    @property
    def label(self) -> str:
        return " ".join(part for part in self.key if part)


@dataclass(frozen=True, slots=True)
class Series:
    """One file."""

    name: str
    kind: str
    """``gwbench/1``, ``tcrypt``, ``cryptsetup``, ..."""
    rows: tuple[Row, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moved:
    """One row of both files."""

    row: Row
    """Of the second."""
    change: Change | None
    """None: one of them has no figure for it."""
    implementations: tuple[str, str]
    """What ran before and after."""

    @property
    def word(self) -> str:
        """``faster``, ``slower``, ``same``, ``invalid`` or ``no figure``."""
        if not self.row.valid:
            return "invalid"
        if self.change is None:
            return "no figure"
        if not self.change.moved:
            return "same"
        return "faster" if (self.change.ratio > 1) == self.row.more_is_better else "slower"


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows that both files have, in the second's order."""

    before: Series
    after: Series
    rows: tuple[Moved, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    typical: float | None
    """What a row varies by from run to run, relative; None when nothing was measured twice."""
    floor: float

    @property
    def regressions(self) -> list[Moved]:
        return [one for one in self.rows if one.word == "slower"]

    @property
    def improvements(self) -> list[Moved]:
        return [one for one in self.rows if one.word == "faster"]


def compare(before: Series, after: Series, noise: float | None = None) -> Comparison:
    """noise: relative change up to which a row has not moved; None = FLOOR, or NOISE where nothing was repeated."""
    earlier = {row.key: row for row in before.rows}
    later = {row.key: row for row in after.rows}
    both = [key for key in later if key in earlier]
    typical = typical_spread([r.samples for key in both for r in (earlier[key], later[key])])
    floor = noise if noise is not None else NOISE if typical is None else FLOOR
    moved = []
    for key in both:
        first, second = earlier[key], later[key]
        found = change(first.samples, second.samples, floor=floor, typical=typical, rows=len(both))
        if not first.valid and second.valid:
            second = Row(second.key, second.unit, second.samples, second.more_is_better, False, second.implementation)
        moved.append(Moved(second, found, (first.implementation, second.implementation)))
    return Comparison(
        before,
        after,
        tuple(moved),
        tuple(earlier[key].label for key in earlier if key not in later),
        tuple(later[key].label for key in later if key not in earlier),
        typical,
        floor,
    )


def relative(series: Series, word: str) -> Series:
    """Every row over that of the same round whose key differs in one word, which contains ``word``: what the machine
    did to both in that round - frequency, neighbours - is gone. Rows without such a partner are left out."""
    rows = []
    for row in series.rows:
        partner = next((other for other in series.rows if _partner(row.key, other.key, word)), None)
        if partner is None or len(partner.samples) != len(row.samples) or not all(partner.samples):
            continue
        ratios = tuple(a / b for a, b in zip(row.samples, partner.samples, strict=True))
        valid = row.valid and partner.valid
        rows.append(Row(row.key, f"x {word}", ratios, row.more_is_better, valid, row.implementation))
    return Series(series.name, series.kind, tuple(rows), series.environment)


def _partner(key: tuple[str, ...], other: tuple[str, ...], word: str) -> bool:
    if len(key) != len(other):
        return False
    different = [(a, b) for a, b in zip(key, other, strict=True) if a != b]
    return len(different) == 1 and word in different[0][1] and word not in different[0][0]


_NOISY = frozenset(("load", "time", "cpu_s", "memory_available_bytes", "cpu_khz", "python"))


def environment_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What the machines differ in: (name, before, after). What changes with every run is left out."""
    first, second = _flat(before), _flat(after)
    return [
        (name, first.get(name, "(absent)"), second.get(name, "(absent)"))
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def _flat(value: Any, name: str = "") -> dict[str, str]:
    if isinstance(value, Mapping):
        found: dict[str, str] = {}
        for key, one in value.items():
            if key not in _NOISY and (name or key not in ("before", "after")):
                found |= _flat(one, f"{name}.{key}" if name else str(key))
        return found
    if isinstance(value, Sequence) and not isinstance(value, str):
        return {name: " ".join(map(str, value))}
    return {name: str(value)}
