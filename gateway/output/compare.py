"""``gwbench compare``: before and after, a row a line, and which rows really moved."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from gateway.compare.series import Comparison, Moved, environment_difference
from gateway.output.plain import table as aligned
from gateway.output.plain import wrap

_WORDS = {"faster": "FASTER", "slower": "SLOWER", "same": "", "invalid": "INVALID", "no figure": "no figure"}


def _figure(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _change(moved: Moved) -> str:
    return "-" if moved.change is None else f"{(moved.change.ratio - 1) * 100:+.1f} %"


def _interval(moved: Moved) -> str:
    interval = moved.change.interval if moved.change else None
    return "-" if interval is None else f"{(interval.low - 1) * 100:+.1f} to {(interval.high - 1) * 100:+.1f} %"


def table(comparison: Comparison) -> list[str]:
    """One line a row, then what is to be said of all."""
    head = ["row", "unit", "before", "after", "change", "95 % interval", ""]
    body = []
    for one in comparison.rows:
        label = one.row.label.removesuffix(f" {one.row.unit}")
        before, after = ("-", "-") if one.change is None else (_figure(one.change.before), _figure(one.change.after))
        body.append([label, one.row.unit, before, after, _change(one), _interval(one), _WORDS[one.word]])
    return [*aligned(head, body, left=2), "", *summary(comparison)]


def cryptsetup(comparison: Comparison) -> list[str]:
    """The form of patches' cover letters: ``algorithm key encryption before -> after``."""
    lines = ["#     Algorithm |     Key |  Direction |    Before ->     After |  Change | 95 % interval"]
    for one in comparison.rows:
        if one.change is None:
            continue
        name, key, way = _cells(one)
        unit = one.row.unit
        figures = f"{_figure(one.change.before):>9} -> {_figure(one.change.after):>9} {unit}"
        word = f"  {_WORDS[one.word]}" if _WORDS[one.word] else ""
        lines.append(f"{name:>15}   {key:>7}   {way:>10}   {figures}  {_change(one):>8}  {_interval(one)}{word}")
    return [*lines, "", *summary(comparison)]


def _cells(one: Moved) -> tuple[str, str, str]:
    key = [part for part in one.row.key if part and part != one.row.unit]
    if one.row.unit == "MiB/s" and len(key) == 3:
        return key[0], key[1], key[2]
    return key[0], "", " ".join(key[1:])


def summary(comparison: Comparison) -> list[str]:
    """Which rows moved, in words, and by what rule."""
    faster, slower = comparison.improvements, comparison.regressions
    same = [one for one in comparison.rows if one.word == "same"]
    lines = [f"{len(faster)} faster, {len(slower)} slower, {len(same)} of {len(comparison.rows)} not beyond noise."]
    if comparison.typical is None:
        lines += wrap(
            f"Every row was measured once: changes up to {comparison.floor:.0%} count as noise (--noise). Append the "
            "output of several runs to each file, and the noise is measured instead."
        )
    else:
        lines += wrap(
            f"Noise: a row varies by {comparison.typical:.1%} from run to run (median); moved is what changes by "
            f"more than {comparison.floor:.1%} and stands so far out that with {len(comparison.rows)} rows none would "
            "by chance (95 %)."
        )
    for name, left in (("before", comparison.only_before), ("after", comparison.only_after)):
        if left:
            some = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
            lines += wrap(f"Only {name}: {some}")
    for one in comparison.rows:
        first, second = one.implementations
        if first != second and one.row.unit != "CPU s/GB":
            lines += wrap(f"{one.row.label}: ran {first or 'nothing'} before, {second or 'nothing'} after")
    difference = environment_difference(comparison.before.environment, comparison.after.environment)
    if difference:
        lines.append("The machines differ in:")
        lines += [f"  {name}: {first} -> {second}"[:200] for name, first, second in difference]
    elif comparison.before.environment and comparison.after.environment:
        lines.append("The environments recorded are the same.")
    return lines


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """For ``--json``."""
    return {
        "schema": "gwbench-compare/1",
        "before": comparison.before.name,
        "after": comparison.after.name,
        "noise": {"typical": comparison.typical, "floor": comparison.floor},
        "rows": [_row(one) for one in comparison.rows],
        "only_before": list(comparison.only_before),
        "only_after": list(comparison.only_after),
        "environment": [
            {"name": name, "before": first, "after": second}
            for name, first, second in environment_difference(
                comparison.before.environment, comparison.after.environment
            )
        ],
    }


def _row(one: Moved) -> dict[str, Any]:
    change = one.change
    interval = change.interval if change else None
    return {
        "row": one.row.label,
        "unit": one.row.unit,
        "before": change.before if change else None,
        "after": change.after if change else None,
        "ratio": change.ratio if change else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "moved": one.word,
    }


def as_csv(comparisons: Sequence[Comparison]) -> str:
    """A line a row; several comparisons below each other."""
    out = io.StringIO()
    names = ["before_file", "after_file", "row", "unit", "before", "after", "ratio", "low", "high", "moved"]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for comparison in comparisons:
        files = {"before_file": comparison.before.name, "after_file": comparison.after.name}
        for one in comparison.rows:
            writer.writerow({**files, **{k: "" if v is None else v for k, v in _row(one).items()}})
    return out.getvalue()
