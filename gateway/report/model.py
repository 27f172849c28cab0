"""What a report says, apart from how it looks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = str | float | int | None
"""A number is shown rounded and sorted by its value; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1
    """The first columns are words, the others numbers."""
    marked: frozenset[int] = frozenset()
    """Rows whose numbers are not to be trusted."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One of a bar plot: what was measured, and how far its samples reach."""

    label: str
    value: float
    low: float
    high: float
    group: str = ""
    """Bars of a group have one colour."""


@dataclass(frozen=True, slots=True)
class Line:
    """One of a line plot."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """Of a band around it; empty: none."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars or lines."""

    title: str
    x_label: str
    """With its unit."""
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    y_label: str = ""
    reference: float | None = None
    """A line across: what a ratio of 1 means."""
    log_x: bool = False
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One result, or one comparison."""

    title: str
    lines: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    preformatted: tuple[str, ...] = ()
    """Lines of fixed width, as iperf prints them; for mails."""


@dataclass(frozen=True, slots=True)
class Report:
    """All of it."""

    title: str
    verdict: tuple[str, ...]
    """What a hurried reader takes home."""
    valid: bool
    sections: tuple[Section, ...]
    environment: Table | None = None
    documents: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    """The results, as they were read."""


def number(value: Cell) -> str:
    """Rounded to what a measurement can claim: three digits, thousands whole."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}" if abs(value) >= 0.01 else f"{value:.2g}"


def texts(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Every cell as it is shown."""
    return [[number(cell) for cell in row] for row in rows]
