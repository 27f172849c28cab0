"""What ``gwbench selftest`` prints: a line for each file and implementation, then reasons; ASCII, 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gateway.measure.faults import out_of_selection
from gateway.output.plain import short, table, wrap
from gateway.vectors.outcome import Outcome

SHOWN_FAILURES = 5


def render(outcomes: Sequence[Outcome], out: list[str], absent: str = "") -> list[str]:
    """Lines; every reason has its count."""
    lines: list[str] = []
    for file in dict.fromkeys(o.file for o in outcomes):
        rows = [o for o in outcomes if o.file == file]
        lines += [f"{file}:"]
        body = [
            [f"  {short(o.implementation, 44)}", o.result, *(str(n) if n else "-" for n in _numbers(o))]
            for o in rows
            if o.result != "not applicable"
        ]
        if body:
            lines += table(["  implementation", "result", "passed", "failed", "refused", "n/a"], body, left=2)
        for o in rows:
            lines += [
                line for text in o.failed[:SHOWN_FAILURES] for line in wrap(f"FAIL {short(o.implementation)}: {text}")
            ]
        lines += _reasons(rows)
        lines.append("")
    lines += wrap(absent)
    lines += out_of_selection(out)
    lines.append(_sum(outcomes))
    return lines


def _numbers(outcome: Outcome) -> tuple[int, int, int, int]:
    return outcome.passed, len(outcome.failed), outcome.refused.total(), outcome.not_applicable.total()


def _reasons(rows: Sequence[Outcome]) -> list[str]:
    """Why something was refused or not applicable; one line a reason, with all implementations that it concerns."""
    lines = []
    for what, name in (("refused", "refused, as it must be"), ("not_applicable", "not applicable")):
        counts: Counter[str] = Counter()
        whose: dict[str, list[str]] = {}
        for row in rows:
            for reason, count in getattr(row, what).items():
                counts[reason] += count
                if row.implementation != "-":
                    whose.setdefault(reason, []).append(short(row.implementation))
        for reason, count in counts.items():
            drivers = f" ({', '.join(whose[reason])})" if reason in whose else ""
            lines += wrap(f"{count} {name}: {reason}{drivers}")
    return lines


def _sum(outcomes: Sequence[Outcome]) -> str:
    passed, failed, refused, not_applicable = (sum(n) for n in zip(*map(_numbers, outcomes), strict=True))
    word = "FAIL" if failed else "pass"
    return (
        f"{word}: {passed} passed, {failed} failed, {refused} refused as they must be, {not_applicable} not applicable"
    )


def as_json(outcomes: Sequence[Outcome], out: list[str]) -> dict[str, Any]:
    """Schema gwbench-selftest/1: ``rows[]`` of {file, implementation, result, passed, failed, ...}."""
    passed, failed, refused, not_applicable = (sum(n) for n in zip(*map(_numbers, outcomes), strict=True))
    return {
        "schema": "gwbench-selftest/1",
        "result": "fail" if failed else "pass",
        "passed": passed,
        "failed": failed,
        "refused": refused,
        "not_applicable": not_applicable,
        "out_of_selection": out,
        "rows": [outcome.as_dict() for outcome in outcomes],
    }
