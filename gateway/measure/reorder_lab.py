"""``gwbench ndr --reorder`` as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from gateway import environment, result
from gateway.cleanup import CleanupStack
from gateway.measure import reorder
from gateway.measure.laboratory import deliver
from gateway.output.console import Console
from gateway.output.plain import table
from gateway.suites import parse_suites


def run(
    suite: str,
    windows: Sequence[int],
    detours: Sequence[int],
    console: Console,
    *,
    command: Sequence[str],
    json_to: TextIO | Path | None,
    save: bool,
) -> bool:
    """Measures, prints, writes. Returns whether every cell is as RFC 4303 has it."""
    (chosen,) = parse_suites(suite)
    with CleanupStack() as cleanup:
        recorded = environment.record()
        cells = reorder.measure(chosen.name, windows, detours, cleanup, lambda text: console.print(f"  {text}"))
        document: dict[str, Any] = {
            "schema": result.SCHEMA,
            "test": "reorder",
            "command": result.recorded_command(command),
            "environment": environment.record(recorded),
            "suite": chosen.name,
            "results": [cell.as_dict() for cell in cells],
            "valid": all(cell.valid for cell in cells),
            "notes": [],
            "verdict": [verdict(cells)],
        }
        console.print()
        for line in render(document, windows, detours):
            console.print(line)
        deliver(document, console, json_to, save, "reorder")
    return bool(document["valid"])


def verdict(cells: Sequence[reorder.Cell]) -> str:
    wrong = sum(not cell.valid for cell in cells)
    if wrong:
        return f"{wrong} of {len(cells)} cells are not what RFC 4303's window says."
    return f"All {len(cells)} cells are what RFC 4303's window says, to the packet."


def render(document: Mapping[str, Any], windows: Sequence[int], detours: Sequence[int]) -> list[str]:
    """A matrix: detours down, windows across."""
    found = {(row["replay_window_packets"], row["held_for_packets"]): row for row in document["results"]}
    body = []
    for detour in detours:
        cells = [f"{detour:,}"]
        for window in windows:
            row = found[window, detour]
            cells.append(f"{row['dropped']:,}" + ("" if row["valid"] else f" (not {row['expected']:,})"))
        body.append(cells)
    first = document["results"][0]
    held = f"{first['held']} of {first['sent'] + first['lost_on_purpose']} packets late"
    return [
        f"Dropped of {held}, by how late and by replay window:",
        *table(["packets late", *(f"window {window}" for window in windows)], body),
        "",
        *[f"INVALID: {reason}" for row in document["results"] for reason in row["reasons"]],
        *document["verdict"],
    ]
