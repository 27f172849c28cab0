"""What ``gwbench esp`` prints: a table for each suite and direction, then the model; ASCII, 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from gateway import costmodel
from gateway.measure.esp import Row, inner_bytes
from gateway.output.plain import short, table, wrap


def render(rows: Sequence[Row], file: costmodel.CostFile) -> list[str]:
    """Packets per second and Gbit/s of inner packets, by frame and batch size."""
    lines = ["Gbit/s counts inner IP packets (frame - 18 bytes); one core, no packet I/O.", ""]
    for suite, op, implementation in dict.fromkeys((r.case.suite, r.case.op, r.case.implementation) for r in rows):
        some = [r for r in rows if (r.case.suite, r.case.op, r.case.implementation) == (suite, op, implementation)]
        batches = sorted({r.case.batch for r in some})
        lines += wrap(f"{suite} {op}: {short(implementation)}; Mpps (Gbit/s)")
        head = ["frame", *(f"batch {b}" for b in batches)]
        by_place = {(r.case.frame, r.case.batch): r for r in some}
        frames = sorted({r.case.frame for r in some})
        body = [[str(f), *(_speed(by_place.get((f, b))) for b in batches)] for f in frames]
        if {frame for frame, _ in costmodel.IMIX} <= set(frames):
            body.append(["IMIX", *(_imix(by_place, b) for b in batches)])
        lines += [f"  {line}" for line in table(head, body, left=0)]
        lines.append("")
    return lines + model(file)


def _speed(row: Row | None) -> str:
    return "-" if row is None else f"{row.packets_per_s / 1e6:.3f} ({row.gbit_per_s:.2f})"


def _imix(rows: dict[tuple[int, int], Row], batch: int) -> str:
    got = {frame: rows.get((frame, batch)) for frame, _ in costmodel.IMIX}
    if any(row is None for row in got.values()):
        return "-"
    ns, frame = costmodel.imix({size: row.ns.median for size, row in got.items() if row})
    return f"{1e3 / ns:.3f} ({inner_bytes(round(frame)) * 8 / ns:.2f})"


def model(file: costmodel.CostFile) -> list[str]:
    """The fit: one line a row."""
    if not file.rows:
        return []
    head = [f"{file.unit} =", "a per packet", "b per byte", "residual", "worst", "batch"]
    body = [
        [
            f"{row.suite} {row.op}",
            f"{row.fit.per_packet:.0f}",
            f"{row.fit.per_byte:.3f}",
            f"{row.fit.residual:.0%}",
            f"{row.fit.worst:.0%}",
            str(row.batch),
        ]
        for row in file.rows
    ]
    lines = [*table(head, body), ""]
    lines += wrap(f"clock {file.clock_hz / 1e6:.0f} MHz; residual: root mean square of the relative errors.")
    return lines + wrap(
        "IMIX is 7:4:1 frames of 64, 594 and 1518 bytes, computed from their times; batches are uniform."
    )
