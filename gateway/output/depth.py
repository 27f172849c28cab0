"""``gwbench crypto --provider af_alg --depth``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gateway.measure.depth import Report
from gateway.output.plain import short, table, wrap


def render(report: Report) -> list[str]:
    """A table for each driver and direction."""
    lines = wrap("Kernel drivers by AF_ALG, system calls and copies included. CPU: of the thread that asks, and of the "
                 "whole machine, in cores. us: from asking to having the answer.")  # fmt: skip
    for driver, op in dict.fromkeys((r.driver, r.op) for r in report.rows):
        some = [r for r in report.rows if (r.driver, r.op) == (driver, op)]
        bits = f", {some[0].key_bits} bit" if some[0].key_bits else ""
        lines += ["", f"{some[0].algorithm} {op}{bits}: {driver}"]
        head = ["bytes", "depth", "MB/s", "p50 us", "p99 us", "max", "CPU", "machine", "ours MB/s"]
        body = []
        for r in some:
            ours = report.ours.get((r.algorithm, r.op, r.key_bits, r.bytes))
            latency = r.latency_us
            body.append(
                [
                    str(r.bytes),
                    str(r.depth),
                    f"{r.mb_per_s.median:.1f}",
                    f"{latency['p50']:.1f}",
                    f"{latency['p99']:.1f}",
                    f"{latency['max']:.0f}",
                    f"{r.cpu_share:.2f}",
                    f"{r.machine_share:.2f}",
                    f"{ours[1]:.1f}" if ours else "-",
                ]
            )
        lines += table(head, body, left=0)
    lines += ["", "Crossover against gwbench's fastest implementation, one request at a time:"]
    for c in report.crossovers:
        where = f"faster from {c.from_bytes} bytes" if c.from_bytes is not None else "faster at no size measured"
        lines += wrap(f"{c.driver} {c.op}, depth {c.depth}: {where} than {short(c.ours)}")
    lines += [line for one in report.trouble for line in wrap(f"left out: {one}")]
    return lines


def as_dict(report: Report) -> dict[str, Any]:
    """For ``--json``."""
    rows = []
    for r in report.rows:
        ours = report.ours.get((r.algorithm, r.op, r.key_bits, r.bytes))
        rows.append(
            {
                **{k: v for k, v in asdict(r).items() if k not in ("mb_per_s", "latency_us")},
                "mb_per_s": r.mb_per_s.as_dict(),
                "latency_us": dict(r.latency_us),
                "ours": {"implementation": ours[0], "mb_per_s": ours[1]} if ours else None,
            }
        )
    return {"rows": rows, "crossovers": [asdict(c) for c in report.crossovers], "trouble": report.trouble}
