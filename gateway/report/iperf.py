"""What an end-to-end result says. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.report import rfc6349
from gateway.report.model import Bar, Cell, Line, Plot, Section, Table
from gateway.stats import median, paired_ratio

OURS = "/gwbench"


def section(document: Mapping[str, Any], title: str) -> Section:
    """One iperf result. KeyError, TypeError where it is not whole."""
    rows = [row for row in document["results"] if row["mbit_per_s"] is not None]
    both = len({row["direction"] for row in rows}) > 1
    names = _names(rows, both)
    gains, gain_bars = _gains(rows, names)
    plots = [_throughput(rows, names), _over_time(rows, names)]
    if any(row["cpu_s_per_gb"] for row in rows):
        plots.append(_cost(rows, names))
    if gain_bars:
        plots.append(Plot("Gain over generic", "times generic", bars=gain_bars, reference=1.0))
    tables = [_results(rows, document["ratios"], names)]
    if gains:
        tables.append(
            Table("Gain over generic, paired within rounds", ("", "median", "95 % from", "to", "rounds"), tuple(gains))
        )
    if "waterfall" in document:
        plots.insert(0, _waterfall(document["waterfall"]))
        tables.insert(0, _steps(document["waterfall"]))
    if "rfc6349" in document:
        plots[:0] = rfc6349.plots(document["rfc6349"])
        tables[:0] = rfc6349.tables(document["rfc6349"])
    tables += [_drops(rows, names)] if any((row["sa"] or {}).get("drops") for row in rows) else []
    return Section(
        title,
        tuple(document.get("verdict", ())) + tuple(f"Note: {note}." for note in document.get("notes", ())),
        tuple(plots),
        tuple(tables),
        tuple(_intervals(rows, names)),
    )


def _waterfall(found: Mapping[str, Any]) -> Plot:
    bars = tuple(Bar(step["step"], step["s_per_gb"], step["s_per_gb"], step["s_per_gb"]) for step in found["steps"])
    return Plot("Where the time goes: seconds per GB, each step with all before it", "seconds per GB", bars=bars)


def _steps(found: Mapping[str, Any]) -> Table:
    body = [
        (step["step"], step["suite"] or "", step["mbit_per_s"], step["s_per_gb"], step["added_s_per_gb"])
        for step in found["steps"]
    ]
    title = "Steps" + (f": {found['costs_most']} costs most" if found["costs_most"] else "")
    return Table(title, ("step", "suite", "Mbit/s", "s/GB", "added"), tuple(body), 2)


def _names(rows: Sequence[Mapping[str, Any]], both: bool) -> list[str]:
    """One for each row, and no two the same."""
    names = []
    for row in rows:
        name = row["suite"] or row["role"]
        if row["role"] in ("generic", "accelerated", "kernel"):
            name += f" {row['role']}"
        if both:
            name += " <-" if row["direction"] == "reverse" else " ->"
        names.append(name)
    for i, (row, name) in enumerate(zip(rows, names, strict=True)):
        if names.count(name) > 1:
            names[i] = f"{row['suite']} {_ran(row)}"
            if both:
                names[i] += f" ({row['direction']})"
    return names


def _ran(row: Mapping[str, Any]) -> str:
    return (row["implementation"] or "no tunnel").replace(OURS, "")


def _bar(name: str, summary: Mapping[str, Any], group: str) -> Bar:
    return Bar(name, summary["median"], summary["min"], summary["max"], group)


def _throughput(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Plot:
    bars = tuple(_bar(name, row["mbit_per_s"], row["role"]) for row, name in zip(rows, names, strict=True))
    return Plot("Throughput: median, least and most of the rounds", "Mbit/s", bars=bars)


def _cost(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Plot:
    bars = tuple(
        _bar(name, row["cpu_s_per_gb"], row["role"])
        for row, name in zip(rows, names, strict=True)
        if row["cpu_s_per_gb"]
    )
    return Plot("CPU time of all gateways", "seconds per GB of goodput", bars=bars)


def _over_time(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Plot:
    lines = []
    for row, name in zip(rows, names, strict=True):
        if row["role"] in ("line", "plain") and len(rows) > 1:
            continue  # it would squeeze what is compared
        by_start: dict[int, list[Mapping[str, Any]]] = {}
        for one in row["intervals"]:
            if not one.get("omitted"):
                by_start.setdefault(round(one["start_s"]), []).append(one)
        # The last one of a run can be a sliver.
        whole = [slot for _, slot in sorted(by_start.items()) if slot[0]["end_s"] - slot[0]["start_s"] > 0.5]
        if len(whole) > 1:  # a point is no course
            rates = [[one["mbit_per_s"] for one in slot] for slot in whole]
            lines.append(
                Line(
                    name,
                    tuple(slot[0]["end_s"] for slot in whole),
                    tuple(median(slot) for slot in rates),
                    tuple(min(slot) for slot in rates),
                    tuple(max(slot) for slot in rates),
                )
            )
    return Plot("Throughput over time, all rounds", "seconds", lines=tuple(lines), y_label="Mbit/s")


def _results(rows: Sequence[Mapping[str, Any]], ratios: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row, name in zip(rows, names, strict=True):
        speed, cpu, again = row["mbit_per_s"], row["cpu_s_per_gb"], row["retransmits"]
        factor = next(
            (
                ratio["factor"]
                for ratio in ratios
                if ratio["suite"] == row["suite"]
                and ratio["direction"] == row["direction"]
                and ratio["implementation"] == row["implementation"]
                and row["role"] == "accelerated"
            ),
            None,
        )
        body.append(
            (
                name,
                _ran(row),
                speed["median"],
                speed["min"],
                speed["max"],
                factor,
                None if row["share_of_plain"] is None else 100 * row["share_of_plain"],
                cpu["median"] if cpu else None,
                again["median"] if again else None,
                "yes" if row["valid"] else "NO: " + "; ".join(row["reasons"]),
            )
        )
    head = ("row", "implementation", "Mbit/s", "min", "max", "x generic", "% of plain", "s/GB", "retrans", "adds up")
    bad = frozenset(i for i, row in enumerate(rows) if not row["valid"])
    return Table("Results", head, tuple(body), 2, bad)


def _gains(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[list[tuple[Cell, ...]], tuple[Bar, ...]]:
    """Paired ratios: both sides of a round met the same machine."""
    lines: list[tuple[Cell, ...]] = []
    bars = []
    for row, name in zip(rows, names, strict=True):
        base = next(
            (
                other
                for other in rows
                if other["role"] == "generic"
                and (other["suite"], other["direction"]) == (row["suite"], row["direction"])
                and other.get("dataplane") == row.get("dataplane")
            ),
            None,
        )
        if row["role"] in ("plain", "null", "generic") or base is None:
            continue
        middle, interval = paired_ratio(_by_round(row), _by_round(base))
        if middle is None:
            continue
        low, high = (interval.low, interval.high) if interval else (None, None)
        lines.append((name, middle, low, high, len(_by_round(row))))
        bars.append(Bar(name, middle, low or middle, high or middle, row["role"]))
    return lines, tuple(bars)


def _by_round(row: Mapping[str, Any]) -> dict[int, float]:
    rounds = [one["round"] for one in row["rounds"]]
    samples = row["mbit_per_s"]["samples"]
    return dict(zip(rounds if len(rounds) == len(samples) else range(len(samples)), samples, strict=True))


def _drops(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    reasons = sorted({reason for row in rows for reason in (row["sa"] or {}).get("drops", {})})
    body = [
        (name, *(((row["sa"] or {}).get("drops", {})).get(reason, 0) for reason in reasons))
        for row, name in zip(rows, names, strict=True)
        if row["sa"]
    ]
    return Table("Packets dropped, by reason", ("row", *reasons), tuple(body))


def _intervals(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """The form in which the WDR4900's figures were posted: intervals of the first round, then the whole."""
    lines: list[str] = []
    for row, name in zip(rows, names, strict=True):
        first = [one for one in row["intervals"] if one["round"] == row["intervals"][0]["round"]]
        lines += [f"{name}: {_ran(row)}"]
        lines += [
            f"  {one['start_s']:6.2f}-{one['end_s']:6.2f} sec  {one['bytes'] / 1e6:9.1f} MBytes"
            f"  {one['mbit_per_s']:9.1f} Mbits/sec"
            for one in first
        ]
        lines += [
            f"  median of {len(row['mbit_per_s']['samples'])} rounds: {row['mbit_per_s']['median']:.1f} Mbits/sec"
        ]
    return lines
