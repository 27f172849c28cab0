"""Replay windows against reordering and loss: our injector sends ESP in another order, the gateway's drops are counted
and compared with what RFC 4303's window says, to the packet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateway import reorder
from gateway.cleanup import CleanupStack
from gateway.lab.tester import Tester, TesterConfig
from gateway.lab.topology import Laboratory
from gateway.measure.trial import Trials

COUNT = 4000
HOLD_EVERY, LOSE_EVERY = 8, 50
RATE_PER_S = 20_000.0
"""Far below what any gateway opens: nothing but the window drops."""
PATIENCE_S = 20.0
_SIZE_BYTES = 494


@dataclass(frozen=True, slots=True)
class Cell:
    """One window and detour. Packets."""

    window: int
    held_for: int
    sent: int
    lost: int
    """By the injector, on purpose."""
    held: int
    dropped: int
    """By the gateway, as replayed or too old."""
    expected: int
    reasons: tuple[str, ...]

    @property
    def valid(self) -> bool:
        return self.dropped == self.expected and not self.reasons

    def as_dict(self) -> dict[str, Any]:
        reasons = list(self.reasons)
        if self.dropped != self.expected:
            reasons.append(f"{self.dropped} packets dropped by the window, {self.expected} expected")
        return {
            "role": "reorder",
            "replay_window_packets": self.window,
            "held_for_packets": self.held_for,
            "sent": self.sent,
            "lost_on_purpose": self.lost,
            "held": self.held,
            "dropped": self.dropped,
            "expected": self.expected,
            "valid": self.valid,
            "reasons": reasons,
        }


def measure(
    suite: str,
    windows: Sequence[int],
    detours: Sequence[int],
    cleanup: CleanupStack,
    progress: Callable[[str], None],
) -> list[Cell]:
    """Every window with every detour, a gateway for each window."""
    cells = []
    for window in windows:
        lab = Laboratory("client")
        close_lab = cleanup.push(lab.close, "the laboratory")
        tester = Tester(lab, TesterConfig(suite, replay_window=window))
        close_tester = cleanup.push(tester.close, "the testers and the gateway")
        trials = Trials(tester)
        for detour in detours:
            cells.append(_cell(trials, window, detour))
            progress(f"window {window}, {detour} packets late: {cells[-1].dropped} of {cells[-1].held} dropped")
        for close in (close_tester, close_lab):
            close()
            cleanup.discard(close)
    return cells


def _cell(trials: Trials, window: int, detour: int) -> Cell:
    how: dict[str, Any] = {"hold_every": HOLD_EVERY, "hold_for": detour, "lose_every": LOSE_EVERY}
    # All packets are sent, however late on a busy machine: they are counted, not timed.
    trial = trials.run("open", (_SIZE_BYTES,), RATE_PER_S, count=COUNT, seconds=PATIENCE_S, **how)
    (stream,) = trial.streams
    reasons = list(trial.reasons)
    if stream.generator.numbered != COUNT:
        reasons.append(f"the generator made {stream.generator.numbered} of {COUNT} packets in time")
    return Cell(
        window,
        detour,
        stream.generator.sent,
        stream.generator.lost,
        stream.generator.held,
        # With ESN what is older than the window reads as one of the next 2^32, whose ICV is wrong (RFC 4303 A2.2).
        sum(stream.drops.get(f"gateway {reason}", 0) for reason in ("state_seq_error", "state_proto_error")),
        reorder.dropped(reorder.sending_order(COUNT, **how), window),
        tuple(reasons),
    )
