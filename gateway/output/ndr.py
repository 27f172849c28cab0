"""``gwbench ndr``: live lines, the result's rows, and the table that is read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.measure import ndr
from gateway.measure.trial import Trial
from gateway.output.console import Console
from gateway.output.plain import table
from gateway.search import Goal
from gateway.stats import summary_or_none

WAYS = {"seal": "seal", "open": "open", "both": "both ways"}


class Lines(ndr.Progress):
    """One line an event."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def row(self, frame: ndr.Frame, direction: str) -> None:
        self._console.print(self._console.bold(f"{_frames(frame.name)}, {WAYS[direction]}"))

    def trial(self, trial: Trial, seconds: float) -> None:
        line = f"  {seconds:4.2f} s  {trial.packets_per_s:11,.0f} packets/s  {trial.loss_ratio:8.3%} lost"
        if trial.late:
            line += "  (the generator was late)"
        if trial.noise.reason:
            line += f"  [{trial.noise.reason}]"
        self._console.print(line)
        for reason in trial.reasons:
            self._console.print(self._console.bad(f"  INVALID: {reason}"))

    def stage(self, text: str) -> None:
        self._console.print(self._console.faint(f"  {text}"))


def as_dict(row: ndr.Row, suite: str, implementation: str) -> dict[str, Any]:
    """One row of the result file."""
    reasons = row.reasons
    found = {goal.name: _goal(row, goal) for goal in dict.fromkeys(f.goal for o, _ in row.rounds for f in o.found)}
    return {
        "role": "ndr",
        "suite": suite,
        "implementation": implementation,
        "dataplane": "user",
        "driver": None,
        "direction": row.direction,
        "frame": row.frame.name,
        "packet_bytes": list(row.frame.sizes),
        "mean_frame_bytes": row.frame.mean_frame_bytes,
        **found,
        "generator_packets_per_s": row.capacity,
        "back_to_back": row.back_to_back.as_dict() if row.back_to_back else None,
        "latency": [one.as_dict() for one in row.latency],
        "valid": not reasons,
        "reasons": reasons,
        "seconds": row.seconds,
        "disturbed_trials": sum(trial.noise.dirty for trial in row.trials),
        "searches": [
            {
                "complete": outcome.complete,
                "seconds": outcome.seconds,
                "trials": [trial.as_dict() for trial in trials],
            }
            for outcome, trials in row.rounds
        ],
    }


def _goal(row: ndr.Row, goal: Goal) -> dict[str, Any]:
    found = row.found(goal.name)
    rates = summary_or_none([one.lower_per_s for one in found])
    bits = row.frame.mean_frame_bytes * 8 / 1e6
    return {
        "loss_ratio": goal.loss_ratio,
        "asked_width": goal.width,
        "packets_per_s": rates.as_dict() if rates else None,
        "upper_packets_per_s": [one.upper_per_s for one in found],
        "forwarded_per_s": [one.forwarded_per_s for one in found],
        "widths": [one.width for one in found],
        "narrow": all(one.narrow for one in found),
        "judged": all(one.judged for one in found),
        "generator_bound": row.generator_bound(goal.name),
        "frame_mbit_per_s": rates.median * bits if rates else None,
    }


def render(document: Mapping[str, Any]) -> list[str]:
    """Lines of the table and what belongs under it."""
    rows = document["results"]
    head = [
        "suite",
        "frame",
        "way",
        "NDR packets/s",
        "width",
        "Mbit/s",
        "PDR packets/s",
        "width",
        "Mbit/s",
        "back-to-back",
    ]
    body = []
    for row in rows:
        cells = [row["suite"], row["frame"].replace("imix", "IMIX"), WAYS[row["direction"]]]
        for goal in ("ndr", "pdr"):
            cells += _cells(row[goal])
        if row["disturbed_trials"]:
            cells[3] += "*"
        cells.append(_burst(row["back_to_back"]))
        if not row["valid"]:
            cells[-1] += " INVALID"
        body.append(cells)
    lines = table(head, body, left=3)
    lines.append("")
    if any(row["direction"] == "both" for row in rows):
        lines.append("Both ways: packets/s of each way.")
    lines.append("NDR: no packet lost. PDR: at most 0.5 %. Width: how far below the least rate that failed, at most.")
    if any(row[goal]["generator_bound"] for row in rows for goal in ("ndr", "pdr")):
        lines.append(">=: the generator is the bound, the gateway may do more.")
    if any(not row[goal]["judged"] for row in rows for goal in ("ndr", "pdr")):
        lines.append("~: the time was up before this rate was tried often enough; --time gives more.")
    if any(row["disturbed_trials"] for row in rows):
        disturbed = sum(row["disturbed_trials"] for row in rows)
        trials = sum(len(search["trials"]) for row in rows for search in row["searches"])
        lines.append(f"* {disturbed} of {trials} trials met a disturbed machine; see the file.")
    for row in rows:
        lines += latency_lines(row)
        lines += [f"INVALID: {row['frame']} {row['direction']}: {reason}" for reason in row["reasons"]]
    cores = document["lab"].get("cores") or {}
    if cores:
        lines.append(
            f"The gateway's loop ran on core {_list(cores['gateway'])}, generator and sink on {_list(cores['tester'])}."
        )
    else:
        lines.append("Gateway, generator and sink shared the cores.")
    lines += [f"Note: {note}." for note in document["notes"]]
    lines += document["verdict"]
    return lines


def _frames(name: str) -> str:
    return "IMIX" if name == ndr.IMIX else f"{name}-byte frames"


def _list(cores: Sequence[int]) -> str:
    return ", ".join(map(str, cores))


def _cells(goal: Mapping[str, Any]) -> list[str]:
    if goal["packets_per_s"] is None:
        return ["not known" if goal["generator_bound"] else "none", "-", "-"]
    rates = goal["packets_per_s"]
    text = f"{rates['median']:,.0f}"
    if len(rates["samples"]) > 1:
        text += f" ({rates['min']:,.0f}-{rates['max']:,.0f})"
    widths = [width for width in goal["widths"] if width is not None]
    more = ">= " if goal["generator_bound"] else "" if goal["judged"] else "~ "
    return [more + text, f"{max(widths):.1%}" if widths else "-", f"{goal['frame_mbit_per_s']:,.0f}"]


def _burst(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "-"
    return f"{'' if found['limit_found'] else '>= '}{found['mean']:,.0f}"


def latency_lines(row: Mapping[str, Any]) -> list[str]:
    """Percentiles of one row, where they were taken."""
    if not row["latency"]:
        return []
    percentiles = list(row["latency"][0]["percentiles_us"])
    head = ["of PDR", "way", "packets/s", *(f"{p} %" for p in percentiles), "max"]
    body = [
        [
            f"{one['share_of_pdr']:.0%}",
            one["way"],
            f"{one['packets_per_s']:,.0f}",
            *(f"{one['percentiles_us'][p]:,.0f}" for p in percentiles),
            f"{one['max_us']:,.0f}",
        ]
        for one in row["latency"]
    ]
    return [f"Latency of {_frames(row['frame'])}, microseconds:", *table(head, body, left=2), ""]


def verdict(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each direction, at its largest frame."""
    lines = []
    for suite, direction in dict.fromkeys((row["suite"], row["direction"]) for row in rows):
        of_this = [r for r in rows if (r["suite"], r["direction"]) == (suite, direction) and r["pdr"]["packets_per_s"]]
        if not of_this:
            continue
        row = max(of_this, key=lambda r: r["mean_frame_bytes"])
        more = "at least " if row["pdr"]["generator_bound"] else ""
        each = " each way" if direction == "both" else ""
        rate = row["pdr"]["packets_per_s"]["median"]
        verb = {"seal": "Seals", "open": "Opens", "both": "Seals and opens"}[direction]
        lines.append(
            f"{verb} {more}{rate:,.0f} packets/s of {_frames(row['frame'])}{each} in {suite} with at most 0.5 % lost: "
            f"{row['pdr']['frame_mbit_per_s']:,.0f} Mbit/s of frames."
        )
    return lines
