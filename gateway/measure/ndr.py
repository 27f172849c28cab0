"""Non-drop rate: what the generator makes, the search, back-to-back frames, latency; by frame size and way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway import costmodel, search
from gateway.errors import UnusableError
from gateway.lab.tester import Tester
from gateway.measure import backtoback
from gateway.measure.latency import Latency
from gateway.measure.latency import measure as latency_under_load
from gateway.measure.trial import Trial, Trials, ways
from gateway.search import Counts, Effort, Found, Outcome

IMIX = "imix"
SMALLEST_FRAME = 64
CAPACITY_S = 0.4
"""How long the generator shows what it makes."""
HEADROOM = 0.9
"""Of what it makes alone, the highest rate that is asked of it."""
_LEAST_PER_S = 200.0
_REPEATS = 12
"""Trials of one search that may be repeated because the machine was disturbed."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame size, or a mix."""

    name: str
    """``64``, ``imix``."""
    sizes: tuple[int, ...]
    """IP packets in bytes, in turns."""
    note: str = ""

    @property
    def mean_frame_bytes(self) -> float:
        """Ethernet, with FCS."""
        return sum(self.sizes) / len(self.sizes) + costmodel.ETHERNET_BYTES

    @property
    def mean_packet_bytes(self) -> float:
        return sum(self.sizes) / len(self.sizes)


def frame(word: str, inner_mtu: int) -> Frame:
    """UnusableError says why a word is no frame here."""
    most = inner_mtu + costmodel.ETHERNET_BYTES
    if word == IMIX:
        sizes = [min(size, most) - costmodel.ETHERNET_BYTES for size, share in costmodel.IMIX for _ in range(share)]
        largest = max(size for size, _ in costmodel.IMIX)
        note = (
            f"IMIX's frames of {largest} bytes are {most} here, which is what the tunnel takes"
            if largest > most
            else ""
        )
        return Frame(IMIX, tuple(sizes), note)
    if not word.isdecimal():
        raise UnusableError(f"'{word}' is no frame size", "numbers from 64, or imix: --frames 64,512,1408,imix")
    size = int(word)
    if not SMALLEST_FRAME <= size <= most:
        raise UnusableError(
            f"frames have {SMALLEST_FRAME} to {most} bytes here, not {size}",
            f"a packet of {most - costmodel.ETHERNET_BYTES} bytes is what the tunnel takes without fragments",
        )
    return Frame(str(size), (size - costmodel.ETHERNET_BYTES,))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done for each frame size and direction."""

    effort: Effort
    goals: tuple[search.Goal, ...] = search.GOALS
    rounds: int = 1
    back_to_back: bool = True
    latency: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One frame size and direction."""

    frame: Frame
    direction: str
    capacity: dict[str, float]
    """Packets a second that the generator of each way makes when nothing is measured."""
    rounds: tuple[tuple[Outcome, tuple[Trial, ...]], ...]
    back_to_back: backtoback.Result | None
    latency: tuple[Latency, ...]
    seconds: float

    @property
    def trials(self) -> list[Trial]:
        """Of all searches."""
        return [trial for _, trials in self.rounds for trial in trials]

    @property
    def reasons(self) -> list[str]:
        """Why its numbers do not add up."""
        return list(dict.fromkeys(reason for trial in self.trials for reason in trial.reasons))

    def found(self, goal: str) -> list[Found]:
        """Of every round."""
        return [f for outcome, _ in self.rounds for f in outcome.found if f.goal.name == goal]

    def generator_bound(self, goal: str) -> bool:
        """No rate that fails was found, or those just above failed because the generator was late."""
        if any(f.lower_per_s is not None and f.upper_per_s is None for f in self.found(goal)):
            return True
        for (_, trials), one in zip(self.rounds, self.found(goal), strict=True):
            upper = one.upper_per_s or 0.0
            failed = [t for t in trials if abs(t.packets_per_s - upper) < 1e-6 * upper]
            if failed and all(t.late and t.loss_ratio <= one.goal.loss_ratio for t in failed):
                return True
        return False


def capacity(trials: Trials, way: str, sizes: Sequence[int], seconds: float = CAPACITY_S) -> float:
    """Packets a second that arrive at the far end of the generator's cable, with nothing to do there."""
    sock, sink = trials.tester.line(way)
    try:
        number = trials.next_number()
        sink.begin(number, check_every=1 << 30)
        with trials.start(way, sizes, packets_per_s=0, count=1 << 40, max_s=seconds, fd=sock.fileno()) as generator:
            while not generator.done:
                time.sleep(0.01)
            made = generator.finish()
        time.sleep(0.05)
        return min(made.sent, sink.read().packets) / made.seconds
    finally:
        sink.close()
        sock.close()


class Progress:
    """Who is told what happens; the default says nothing."""

    def row(self, frame: Frame, direction: str) -> None: ...

    def trial(self, trial: Trial, seconds: float) -> None: ...

    def stage(self, text: str) -> None: ...


@dataclass(slots=True)
class _Measurer:
    """Trials for one search."""

    trials: Trials
    direction: str
    sizes: Sequence[int]
    progress: Progress
    repeats: int = _REPEATS
    kept: list[Trial] = field(default_factory=list)

    def __call__(self, seconds: float, packets_per_s: float) -> Counts:
        trial = self.trials.run_undisturbed(
            self.direction, self.sizes, packets_per_s, seconds=seconds, repeats=min(2, self.repeats)
        )
        self.repeats -= trial.repeats
        self.kept.append(trial)
        self.progress.trial(trial, seconds)
        return Counts(trial.intended, trial.offered, trial.forwarded, trial.seconds)


def measure(tester: Tester, one: Frame, direction: str, plan: Plan, progress: Progress, *, train: int = 64) -> Row:
    """Everything about one frame size and direction."""
    begun = time.monotonic()
    progress.row(one, direction)
    trials = Trials(tester, train=train)
    makes = {way: capacity(trials, way, one.sizes) for way in ways(direction)}
    for way, rate in makes.items():
        progress.stage(f"the generator makes {rate:,.0f} packets/s to {way}")
    most = HEADROOM * min(makes.values()) / (1 if len(makes) == 1 else 2)
    rounds = []
    for number in range(plan.rounds):
        if plan.rounds > 1:
            progress.stage(f"round {number + 1}/{plan.rounds}")
        measurer = _Measurer(trials, direction, one.sizes, progress)
        outcome = search.search(
            measurer, min_per_s=min(_LEAST_PER_S, most / 10), max_per_s=most, goals=plan.goals, effort=plan.effort
        )
        rounds.append((outcome, tuple(measurer.kept)))
    row = Row(one, direction, makes, tuple(rounds), None, (), 0.0)
    burst = None
    if plan.back_to_back:
        progress.stage("back-to-back frames")
        burst = backtoback.measure(trials, direction, one.sizes, _lower(row, "ndr"))
    latencies: tuple[Latency, ...] = ()
    pdr = _lower(row, "pdr")
    if plan.latency and pdr:
        progress.stage("latency at 0, 10, 50 and 90 % of PDR")
        latencies = latency_under_load(trials, direction, one.sizes, pdr, 2 * plan.effort.last_s)
    return Row(one, direction, makes, tuple(rounds), burst, latencies, time.monotonic() - begun)


def _lower(row: Row, goal: str) -> float:
    known = sorted(f.lower_per_s for f in row.found(goal) if f.lower_per_s)
    return known[len(known) // 2] if known else 0.0
