"""``gwbench engine``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gateway.compare.series import Comparison
from gateway.measure.engine import Result
from gateway.output import compare
from gateway.output.plain import short, table, wrap


def render(results: Sequence[Result], comparison: Comparison | None) -> list[str]:
    """A table for each suite, then before and after."""
    first = results[0]
    lines = wrap(
        f"Jobs of {first.batch} packet{'s' if first.batch > 1 else ''}, {first.depth} under way, sealed by another "
        "thread (inline: by the same). CPU in cores: of the thread that hands over, of the one that seals."
    )
    for suite in dict.fromkeys(r.suite for r in results):
        some = [r for r in results if r.suite == suite]
        lines += ["", f"{suite}: {short(some[0].implementation)}"]
        head = ["strategy", "bytes", "MB/s", "min-max", "CPU", "seals", "ns/packet", "p50 us", "p99 us"]
        body = [
            [
                r.strategy,
                str(r.bytes),
                f"{r.mb_per_s.median:.1f}",
                f"{r.mb_per_s.min:.0f}-{r.mb_per_s.max:.0f}",
                f"{r.submitter_cpu:.2f}",
                f"{r.worker_cpu:.2f}",
                f"{r.cpu_ns_per_packet:.0f}",
                f"{r.latency_us['p50']:.1f}",
                f"{r.latency_us['p99']:.1f}",
            ]
            for r in some
        ]
        lines += table(head, body)
    if comparison is not None:
        lines += ["", f"{comparison.before.name} -> {comparison.after.name}", *compare.cryptsetup(comparison)]
    return lines


def as_dict(results: Sequence[Result], comparison: Comparison | None) -> dict[str, Any]:
    """For ``--json``."""
    rows = [{**asdict(r), "mb_per_s": r.mb_per_s.as_dict()} for r in results]
    return {"rows": rows, "comparison": compare.as_dict(comparison) if comparison else None}
