"""The tier's results for people: lines for a terminal, a page for docs/."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.kernel.machine import Boot
from tests.kernel.verdict import cell_faults

HEAD = ("suite", "ICV", "mode", "inside", "outside", "encap", "seq", "packets out", "in", "bytes out", "in", "result")


def cell_row(record: dict[str, Any]) -> tuple[str, ...]:
    result = record.get("result")
    if result is None:
        return (record["name"], *[""] * (len(HEAD) - 2), "FAILED")
    sas = result["ours"]["sa"]
    return (
        result["suite"],
        str(result["icv_bytes"]),
        result["mode"],
        f"IPv{result['inner']}",
        f"IPv{result['outer']}",
        result["encap"],
        "ESN" if result["esn"] else "32 bit",
        *(str(sas[way][what]) for what in ("packets", "bytes") for way in ("out", "in")),
        "FAILED" if cell_faults(result) else "equal",
    )


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _of(boot: Boot, kind: str) -> list[dict[str, Any]]:
    return [record for (k, _), record in boot.records.items() if k == kind]


def _gbytes(record: dict[str, Any]) -> tuple[str, ...]:
    result = record.get("result")
    if result is None:
        return (record["name"], "FAILED", "")
    return (record["name"], *(f"{result[way]['received_bytes'] / 1e6:.1f} MB" for way in ("to_kernel", "to_us")))


def _netem_rows(record: dict[str, Any]) -> list[tuple[str, ...]]:
    result = record.get("result")
    if result is None:
        return [(record["name"], "FAILED", "", "", "", "")]
    rows = []
    for family, one in result.items():
        for way, side in (("to_kernel", "kernel"), ("to_us", "ours")):
            counts = one[way]
            if side == "ours":
                drops = {**one["ours"]["sa"]["in"]["drops"], **one["ours"]["drops"]}
            else:
                drops = {k: v for k, v in one["kernel"]["in"].items() if k not in ("packets", "bytes") and v}
            text = ", ".join(f"{name} {n}" for name, n in drops.items()) or "none"
            rows.append(
                (
                    record["name"],
                    family,
                    way,
                    f"{counts['distinct']} of {counts['sent']}",
                    str(counts["netem_drops"]),
                    text,
                )
            )
    return rows


def sections(boot: Boot) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Title and rows, the head first."""
    netem = [row for record in _of(boot, "netem") for row in _netem_rows(record)]
    return [
        ("Matrix", [HEAD, *map(cell_row, _of(boot, "cell"))]),
        ("iperf3, one TCP stream", [("cell", "to the kernel", "to us"), *map(_gbytes, _of(boot, "iperf3"))]),
        ("netem", [("disturbance", "IP", "way", "delivered", "netem dropped", "the receiver dropped"), *netem]),
    ]


def lines(boot: Boot) -> list[str]:
    """For a terminal."""
    machine = boot.records.get(("machine", "machine"), {}).get("result", {})
    boots = "one boot" if boot.boots == 1 else f"{boot.boots} boots"
    out = [f"Linux {machine.get('release', '?')}, {boots}, {boot.seconds / 60:.1f} minutes"]
    for title, rows in sections(boot):
        out += ["", title, *_aligned(rows)]
    return out


def markdown(boot: Boot) -> str:
    """For docs/kernel-matrix.md."""
    row: Callable[[tuple[str, ...]], str] = lambda cells: f"| {' | '.join(cells)} |"  # noqa: E731
    machine = boot.records.get(("machine", "machine"), {}).get("result", {})
    out = [f"Linux {machine.get('release', '?')} ({machine.get('version', '?')}), one row a pair of SAs."]
    for title, rows in sections(boot):
        out += ["", f"## {title}", "", row(rows[0]), row(("---",) * len(rows[0])), *map(row, rows[1:])]
    return "\n".join(out) + "\n"
