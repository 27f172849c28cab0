"""The gateway's state as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.output.plain import table


def status_lines(status: Mapping[str, Any]) -> list[str]:
    """Peers that are away, then a table of tunnels."""
    lines = [f"gateway {status['name']}, gwbench {status['version']}, up {_time(status['up_s'])}"]
    lines += [f"peer {peer['name']}: {peer['problem']}" for peer in status["peers"] if not peer["connected"]]
    rows = []
    for one in status["tunnels"]:
        carried = {way: sum(sa["bytes"] for sa in one["sas"] if sa["direction"] == way) for way in ("out", "in")}
        rows.append(
            [
                one["child"],
                one["peer"],
                f"{one['local']} = {one['remote']}",
                one["suite"],
                one["state"],
                "-" if one["rekey_in_s"] is None else _time(one["rekey_in_s"]),
                str(one["rekeys"]),
                _bytes(carried["out"]),
                _bytes(carried["in"]),
            ]
        )
    lines += table(["tunnel", "peer", "prefixes", "suite", "state", "rekey in", "rekeys", "out", "in"], rows)
    lines += [f"{one['child']}: {one['problem']}" for one in status["tunnels"] if one["problem"]]
    return lines


def sa_lines(sas: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table of SAs."""
    rows = [
        [
            sa["spi"],
            sa["child"],
            sa["direction"],
            sa["suite"],
            "going" if sa["going"] else sa["state"],
            str(sa["packets"]),
            _bytes(sa["bytes"]),
            ", ".join(f"{count} {reason}" for reason, count in sa["drops"].items()) or "-",
        ]
        for sa in sas
    ]
    return list(table(["spi", "tunnel", "dir", "suite", "state", "packets", "bytes", "drops"], rows))


def _time(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
