"""From files to a report: each result a section, and what moved between each and the one before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from gateway.compare.readers import of_document, read
from gateway.compare.series import Comparison, Series, compare, environment_difference
from gateway.errors import UnusableError
from gateway.report import iperf, ndr
from gateway.report.model import Bar, Cell, Plot, Report, Section, Table
from gateway.stats import median

_MOST_BARS = 40


def build(paths: Sequence[Path]) -> Report:
    """UnusableError says which file is none of ours and why."""
    documents: list[dict[str, Any]] = []
    series: list[Series] = []
    sections = []
    for path in paths:
        one = read(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        document = json.loads(text) if text.lstrip().startswith("{") else {"schema": one.kind, "text": text}
        try:
            sections.append(_section(document, one, path.name))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnusableError(f"{path}: not a whole result: {type(error).__name__} {error}") from None
        documents.append(document)
        series.append(one)
    moved = []
    for before, after in pairwise(series):
        if before.kind == after.kind and (found := compare(before, after)).rows:
            moved.append(_comparison(found))
    verdict = [line for document in documents for line in document.get("verdict", ())]
    verdict += [line for section in moved for line in section.lines[:1]]
    return Report(
        "gwbench: " + ", ".join(Path(one.name).stem for one in series),
        tuple(dict.fromkeys(verdict)) or (f"{sum(len(one.rows) for one in series)} rows measured.",),
        all(row.valid for one in series for row in one.rows),
        (*moved, *sections),
        _environment(documents[-1]),
        tuple(documents),
    )


def _section(document: Mapping[str, Any], series: Series, name: str) -> Section:
    if document.get("test") == "ndr":
        return ndr.section(document, name)
    if document.get("schema") == "gwbench/1" and all("mbit_per_s" in row for row in document["results"]):
        return iperf.section(document, name)
    return _rows(series if series.rows else of_document(document, name), name)


def _rows(series: Series, name: str) -> Section:
    """Anything else: what was measured, as bars and a table."""
    body: list[tuple[Cell, ...]] = [
        (row.label, row.unit, median(row.samples), min(row.samples), max(row.samples)) for row in series.rows
    ]
    units = {row.unit for row in series.rows}
    plots = [
        Plot(
            "What was measured",
            unit,
            bars=tuple(
                Bar(
                    row.label, median(row.samples), min(row.samples), max(row.samples), row.implementation or row.key[0]
                )
                for row in series.rows
                if row.unit == unit
            ),
        )
        for unit in sorted(units)
        if sum(row.unit == unit for row in series.rows) <= _MOST_BARS
    ]
    return Section(
        name, (), tuple(plots), (Table(series.kind, ("row", "unit", "median", "min", "max"), tuple(body), 2),)
    )


def _comparison(found: Comparison) -> Section:
    body: list[tuple[Cell, ...]] = []
    bars = []
    for one in found.rows:
        if one.change is None:
            body.append((one.row.label, one.word, None, None, None, None, None))
            continue
        low, high = (one.change.interval.low, one.change.interval.high) if one.change.interval else (None, None)
        body.append((one.row.label, one.word, one.change.before, one.change.after, one.change.ratio, low, high))
        bars.append(Bar(one.row.label, one.change.ratio, low or one.change.ratio, high or one.change.ratio, one.word))
    tables = [
        Table("Rows", ("row", "moved", "before", "after", "after/before", "95 % from", "to"), tuple(body), 2),
    ]
    if different := environment_difference(found.before.environment, found.after.environment):
        tables.append(Table("What differs in the environment", ("", "before", "after"), tuple(different), 3))
    names = f"{Path(found.before.name).stem} -> {Path(found.after.name).stem}"
    line = f"{names}: {len(found.improvements)} rows better, {len(found.regressions)} worse beyond noise, "
    line += f"{len(found.rows) - len(found.improvements) - len(found.regressions)} not."
    plots = (Plot("After over before", "ratio", bars=tuple(bars), reference=1.0),) if len(bars) <= _MOST_BARS else ()
    return Section(names, (line,), plots, tuple(tables))


def _environment(document: Mapping[str, Any]) -> Table | None:
    lines: list[tuple[Cell, ...]] = []

    def flat(value: Any, name: str) -> None:
        if isinstance(value, Mapping):
            for key, one in value.items():
                flat(one, f"{name}.{key}" if name else str(key))
        elif isinstance(value, list):
            lines.append((name, " ".join(map(str, value))))
        elif value is not None:
            lines.append(
                (name, value if isinstance(value, int | float) and not isinstance(value, bool) else str(value))
            )

    flat(document.get("environment") or {}, "")
    return Table("Environment", ("", "value"), tuple(lines), 1) if lines else None
