"""What RFC 6349's figures look like in a report. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.output.rfc6349 import name, window
from gateway.report.model import Bar, Cell, Plot, Table


def plots(found: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Throughput by window, and what load adds to the round trip."""
    speed, delay = [], []
    for row in found:
        for one in row["transfers"]:
            label = f"{name(row)}, {window(one)}"
            speed.append(Bar(label, one["mbit_per_s"], one["mbit_per_s"], one["expected_mbit_per_s"], name(row)))
            if one["buffer_delay"] is not None:
                value = max(0.0, 100 * one["buffer_delay"])
                delay.append(Bar(label, value, value, value, name(row)))
    return [
        Plot("RFC 6349: throughput by window, and what the window allows", "Mbit/s", bars=tuple(speed)),
        Plot("RFC 6349: buffer delay by window", "% over the round trip without load", bars=tuple(delay)),
    ]


def tables(found: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Paths, transfers."""
    body: list[tuple[Cell, ...]] = []
    for row in found:
        for one in row["transfers"]:
            efficiency, delay = one["tcp_efficiency"], one["buffer_delay"]
            body.append(
                (
                    name(row),
                    window(one),
                    one["window_bytes"],
                    one["expected_mbit_per_s"],
                    one["mbit_per_s"],
                    one["transfer_time_ratio"],
                    None if efficiency is None else 100 * efficiency,
                    one["mean_rtt_us"],
                    None if delay is None else 100 * delay,
                )
            )
    ways: list[tuple[Cell, ...]] = [
        (
            name(row),
            row["path_mtu_bytes"],
            row["baseline_rtt_us"],
            row["median_rtt_us"],
            row["bottleneck_mbit_per_s"],
            row["optimal_window_bytes"],
        )
        for row in found
    ]
    path_head = ("row", "MTU", "RTT us", "median", "bottleneck Mbit/s", "optimal window, bytes")
    head = ("row", "window", "bytes", "expected Mbit/s", "Mbit/s", "transfer time ratio", "TCP efficiency %")
    head_end = ("RTT us under load", "buffer delay %")
    return [
        Table("RFC 6349: paths", path_head, tuple(ways)),
        Table("RFC 6349: transfers", (*head, *head_end), tuple(body), 2),
    ]
