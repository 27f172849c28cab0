"""What a non-drop rate result says. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.report.model import Bar, Cell, Line, Plot, Section, Table

WAYS = {"seal": "seal", "open": "open", "both": "both ways"}
GOALS = {"ndr": "NDR", "pdr": "PDR 0.5 %"}


def section(document: Mapping[str, Any], title: str) -> Section:
    """One ndr result. KeyError, TypeError where it is not whole."""
    rows = document["results"]
    many = len({(row["suite"], row["implementation"]) for row in rows}) > 1
    plots = [_rates(rows, many), _by_size(rows, many), *_latency_plots(rows, many)]
    tables = [_results(rows), *_latency_tables(rows, many), *_trials(rows, many)]
    notes = tuple(f"Note: {note}." for note in document.get("notes", ()))
    if any(row[goal]["generator_bound"] for row in rows for goal in GOALS):
        notes += ("Where the generator is the bound, the gateway may do more.",)
    return Section(title, tuple(document.get("verdict", ())) + notes, tuple(plots), tuple(tables))


def _name(row: Mapping[str, Any], many: bool, frame: bool = True) -> str:
    words = [_frame(row)] if frame else []
    words.append(WAYS[row["direction"]])
    if many:
        words.append(f"{row['suite']} {row['implementation'].replace('/gwbench', '')}")
    return " ".join(words)


def _frame(row: Mapping[str, Any]) -> str:
    return row["frame"].replace("imix", "IMIX") if row["frame"] == "imix" else f"{row['frame']} B"


def _rates(rows: Sequence[Mapping[str, Any]], many: bool) -> Plot:
    bars = []
    for row in rows:
        for goal, name in GOALS.items():
            rates = row[goal]["packets_per_s"]
            if rates is not None:
                uppers = [x for x in row[goal]["upper_packets_per_s"] if x is not None]
                label = f"{_name(row, many)}, {name.split()[0]}"
                high = max([*uppers, rates["max"]]) / 1e3
                bars.append(Bar(label, rates["median"] / 1e3, rates["min"] / 1e3, high, row["direction"] + goal))
    return Plot("Non-drop and partial-drop rate, up to the rate that failed", "1000 packets a second", bars=tuple(bars))


def _by_size(rows: Sequence[Mapping[str, Any]], many: bool) -> Plot:
    """Mbit/s over frame size; a mix has no place on that axis."""
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    for row in rows:
        if row["frame"] == "imix":
            continue
        bits = row["mean_frame_bytes"] * 8 / 1e6
        for goal, name in GOALS.items():
            rates = row[goal]["packets_per_s"]
            if rates is not None:
                uppers = [x for x in row[goal]["upper_packets_per_s"] if x is not None]
                point = (row["mean_frame_bytes"], rates["median"] * bits, rates["min"] * bits)
                high = max([*uppers, rates["max"]]) * bits
                lines.setdefault(f"{_name(row, many, frame=False)}, {name}", []).append((*point, high))
    drawn = []
    for name, points in lines.items():
        x, y, low, high = zip(*sorted(points), strict=True)
        if len(x) > 1:
            drawn.append(Line(name, x, y, low, high))
    return Plot("By frame size", "frame, bytes", lines=tuple(drawn), y_label="Mbit/s of frames")


def _results(rows: Sequence[Mapping[str, Any]]) -> Table:
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        cells: list[Cell] = [_frame(row), WAYS[row["direction"]], row["suite"]]
        cells.append(row["implementation"].replace("/gwbench", ""))
        for goal in GOALS:
            one = row[goal]
            rates, widths = one["packets_per_s"], [w for w in one["widths"] if w is not None]
            cells += [
                rates["median"] if rates else None,
                100 * max(widths) if widths else None,
                one["frame_mbit_per_s"],
            ]
        burst = row["back_to_back"]
        cells += [burst["mean"] if burst else None, burst["corrected_buffer_ms"] if burst else None]
        bound = any(row[goal]["generator_bound"] for goal in GOALS)
        cells.append("generator" if bound else "gateway")
        cells.append("yes" if row["valid"] else "NO: " + "; ".join(row["reasons"]))
        body.append(tuple(cells))
    rates_of = ("packets/s", "width %", "Mbit/s")
    head = (
        *("frame", "way", "suite", "implementation"),
        *(f"{name} {what}" for name in ("NDR", "PDR") for what in rates_of),
        *("back-to-back", "buffer ms", "bound", "adds up"),
    )
    bad = frozenset(i for i, row in enumerate(rows) if not row["valid"])
    return Table("Rates", head, tuple(body), 4, bad)


def _latency_plots(rows: Sequence[Mapping[str, Any]], many: bool) -> list[Plot]:
    plots = []
    for row in rows:
        for way in dict.fromkeys(one["way"] for one in row["latency"]):
            lines = []
            for one in row["latency"]:
                if one["way"] == way:
                    lines.append(_cdf(one))
            title = f"Latency of {_name(row, many)}: share of packets that were as quick"
            if row["direction"] == "both":
                title += f" ({way})"
            plots.append(
                Plot(title, "microseconds", lines=tuple(lines), y_label="% of packets", log_x=True, steps=True)
            )
    return plots


def _cdf(one: Mapping[str, Any]) -> Line:
    total = sum(n for _, n in one["histogram_ns"])
    x, y, seen = [], [], 0
    for ns, n in one["histogram_ns"]:
        seen += n
        x.append(ns / 1e3)
        y.append(100 * seen / total)
    return Line(f"{one['share_of_pdr']:.0%} of PDR", tuple(x), tuple(y))


def _latency_tables(rows: Sequence[Mapping[str, Any]], many: bool) -> list[Table]:
    body: list[tuple[Cell, ...]] = []
    percentiles: list[str] = []
    for row in rows:
        for one in row["latency"]:
            percentiles = list(one["percentiles_us"])
            cells: list[Cell] = [_name(row, many), one["way"], 100 * one["share_of_pdr"], one["packets_per_s"]]
            cells += [one["percentiles_us"][p] for p in percentiles]
            body.append((*cells, one["max_us"]))
    if not body:
        return []
    head = ("row", "way", "% of PDR", "packets/s", *(f"{p} %" for p in percentiles), "max")
    return [Table("Latency, microseconds", head, tuple(body), 2)]


def _trials(rows: Sequence[Mapping[str, Any]], many: bool) -> list[Table]:
    """Where packets were lost, over all trials."""
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        trials = [trial for search in row["searches"] for trial in search["trials"]]
        drops: dict[str, int] = {}
        for trial in trials:
            for name, n in trial["drops"].items():
                drops[name] = drops.get(name, 0) + n
        where = ", ".join(f"{name} {n:,}" for name, n in sorted(drops.items(), key=lambda item: -item[1])) or "nowhere"
        offered = sum(trial["offered"] for trial in trials)
        forwarded = sum(trial["forwarded"] for trial in trials)
        disturbed = sum(bool(trial["noise"]["dirty"]) for trial in trials)
        body.append((_name(row, many), where, len(trials), disturbed, offered, forwarded, offered - forwarded))
    head = ("row", "dropped where", "trials", "disturbed", "offered", "forwarded", "lost")
    return [Table("Trials of the searches", head, tuple(body), 2)]
