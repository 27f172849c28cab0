"""How good the estimate is here: predicted from ``gwbench esp`` and a run without cryptography, then measured.

A packet's cost end to end is what the data path takes without cryptography (suite ``null``, end to end) and what
sealing or opening takes more than ``null`` does in memory. Nothing of the suite that is predicted is measured end to
end before. Both are CPU time of the gateway's loop a packet, under a load that keeps it busy; its rate follows from it.
"""

from __future__ import annotations

import contextlib
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dataplane
from gateway.errors import MeasurementError
from gateway.lab.tester import Tester, TesterConfig
from gateway.lab.topology import Laboratory
from gateway.measure import ndr
from gateway.measure.trial import Trials
from gateway.rounds import NULL_SUITE

SUITES = ("aes128gcm16", "aes256-sha256", "chacha20poly1305")
FRAMES = (64, 512, 1408)
ROUNDS = 5
TRIAL_S = 0.3
SLICE_S = 0.02
BATCH = 64
"""Packets at a time in memory, as a loaded data path has them."""
LIMITS = {64: 0.15}
LIMIT = 0.10
_OVERLOAD_PER_S = 5e5
"""More than a loop of one core opens or seals, so that it never sleeps."""


@dataclass(frozen=True, slots=True)
class Row:
    """One suite and frame size; ns of the loop's CPU time a packet, medians of the rounds."""

    suite: str
    implementation: str
    frame: int
    op: str
    null_ns: float
    crypto_ns: float
    """In memory, over what null takes there."""
    measured_ns: float

    @property
    def predicted_ns(self) -> float:
        return self.null_ns + self.crypto_ns

    @property
    def residual(self) -> float:
        """Of the rate: positive where more was predicted than measured."""
        return self.measured_ns / self.predicted_ns - 1

    @property
    def limit(self) -> float:
        return LIMITS.get(self.frame, LIMIT)

    def mbit_per_s(self, ns: float) -> float:
        """Of frames that a loop of one core makes at this cost."""
        return self.frame * 8e3 / ns

    def as_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "implementation": self.implementation,
            "op": self.op,
            "frame_bytes": self.frame,
            "null_ns_per_packet": self.null_ns,
            "crypto_ns_per_packet": self.crypto_ns,
            "predicted_ns_per_packet": self.predicted_ns,
            "measured_ns_per_packet": self.measured_ns,
            "predicted_mbit_per_s": self.mbit_per_s(self.predicted_ns),
            "measured_mbit_per_s": self.mbit_per_s(self.measured_ns),
            "residual": self.residual,
            "limit": self.limit,
            "within": abs(self.residual) <= self.limit,
        }


def measure(
    suites: Sequence[str],
    frames: Sequence[int],
    op: str,
    cleanup: contextlib.ExitStack,
    progress: Callable[[str], None],
) -> list[Row]:
    """Rounds of: null end to end, each suite in memory, each suite end to end; a gateway for each suite."""
    testers: dict[str, Tester] = {}
    cores = os.sched_getaffinity(0)
    for suite in (NULL_SUITE, *suites):
        lab = Laboratory("client")
        cleanup.callback(lab.close)
        os.sched_setaffinity(0, cores)  # the last tester kept this process off the gateways' core
        testers[suite] = Tester(lab, TesterConfig(suite))
        cleanup.callback(testers[suite].close)
    trials = {suite: Trials(tester) for suite, tester in testers.items()}
    rows = []
    for frame in frames:
        size = ndr.frame(str(frame), min(t.inner_mtu for t in testers.values())).sizes[0]
        end_to_end: dict[str, list[float]] = {suite: [] for suite in testers}
        in_memory: dict[str, list[float]] = {suite: [] for suite in testers}
        for number in range(ROUNDS):
            progress(f"{frame}-byte frames, round {number + 1}/{ROUNDS}")
            for suite in testers:
                end_to_end[suite].append(_loop_ns(trials[suite], op, size))
                in_memory[suite].append(_memory_ns(suite, op, size))
        for suite in suites:
            # Within a round both sides met the same machine.
            extra = [a - b for a, b in zip(in_memory[suite], in_memory[NULL_SUITE], strict=True)]
            rows.append(
                Row(
                    suite,
                    testers[suite].implementation,
                    frame,
                    op,
                    statistics.median(end_to_end[NULL_SUITE]),
                    statistics.median(extra),
                    statistics.median(end_to_end[suite]),
                )
            )
    return rows


def _loop_ns(trials: Trials, op: str, size: int) -> float:
    """CPU time of the gateway's loop a packet, under overload."""
    tester = trials.tester
    before = tester.read().node
    trial = trials.run(op, (size,), _OVERLOAD_PER_S, seconds=TRIAL_S)
    after = tester.read().node
    if trial.reasons:
        raise MeasurementError(trial.reasons[0], code="invalid")
    if not trial.forwarded:
        raise MeasurementError("nothing came through the gateway")
    return (after.loop["cpu_ns"] - before.loop["cpu_ns"]) / trial.forwarded


def _memory_ns(suite: str, op: str, size: int) -> float:
    sample = dataplane.bench_esp(
        suite, "auto", opening=op == "open", inner_len=size, batch=BATCH, sas=1, min_ns=round(SLICE_S * 1e9)
    )
    return sample.ns / sample.ops


def render(rows: Sequence[Row]) -> list[str]:
    """Lines for people."""
    from gateway.output.plain import table

    body = [
        [
            row.suite,
            row.op,
            str(row.frame),
            f"{row.null_ns:,.0f}",
            f"{row.crypto_ns:,.0f}",
            f"{row.predicted_ns:,.0f}",
            f"{row.measured_ns:,.0f}",
            f"{row.mbit_per_s(row.predicted_ns):,.0f}",
            f"{row.mbit_per_s(row.measured_ns):,.0f}",
            f"{row.residual:+.1%}" + ("" if abs(row.residual) <= row.limit else " !"),
        ]
        for row in rows
    ]
    head = [
        "suite",
        "op",
        "frame",
        "null",
        "crypto",
        "predicted",
        "measured ns",
        "Mbit/s predicted",
        "measured",
        "residual",
    ]
    within = sum(abs(row.residual) <= row.limit for row in rows)
    return [
        *table(head, body, left=2),
        "",
        "ns of the gateway's loop a packet: without cryptography end to end, what that adds in memory, their sum.",
        f"{within} of {len(rows)} within {LIMIT:.0%} ({LIMITS[64]:.0%} at 64 bytes) of what was measured end to end.",
    ]
