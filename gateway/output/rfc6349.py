"""What RFC 6349's figures look like under the table of ``gwbench iperf``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.output.plain import table


def name(row: Mapping[str, Any]) -> str:
    """Of a candidate."""
    words = [row["suite"] or row["role"]]
    if row["dataplane"] == "kernel" or row["role"] == "generic":
        words.append(row["role"])
    return " ".join(words)


def window(transfer: Mapping[str, Any]) -> str:
    """``100 % of BDP``, or that the kernel chose."""
    share = transfer["share_of_bdp"]
    return "kernel's" if share is None else f"{share:.0%}"


def render(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Two tables: the paths, and the transfers."""
    paths = table(
        ["RFC 6349 path", "MTU", "RTT us (median)", "bottleneck Mbit/s", "optimal window"],
        [
            [
                name(row),
                str(row["path_mtu_bytes"]),
                f"{row['baseline_rtt_us']:,.0f} ({row['median_rtt_us']:,.0f})",
                f"{row['bottleneck_mbit_per_s']:,.0f}",
                f"{row['optimal_window_bytes']:,}",
            ]
            for row in found
        ],
    )
    body = []
    for row in found:
        for one in row["transfers"]:
            body.append(
                [
                    name(row),
                    window(one),
                    f"{one['window_bytes']:,}" if one["window_bytes"] else "-",
                    f"{one['expected_mbit_per_s']:,.0f}",
                    f"{one['mbit_per_s']:,.0f}",
                    f"{one['transfer_time_ratio']:.2f}",
                    "-" if one["tcp_efficiency"] is None else f"{one['tcp_efficiency']:.2%}",
                    "-" if one["mean_rtt_us"] is None else f"{one['mean_rtt_us']:,.0f}",
                    "-" if one["buffer_delay"] is None else f"{one['buffer_delay']:.0%}",
                ]
            )
    head = ["transfer", "window", "bytes", "expected", "Mbit/s", "time x", "efficiency", "RTT us", "buffer delay"]
    lines = [*paths, "", *table(head, body, left=2), ""]
    lines.append("Window: of the bandwidth-delay product. Time x: transfer time over the ideal one at the bottleneck.")
    lines.append("Efficiency: bytes not sent again. Buffer delay: what load adds to the round trip.")
    return lines
