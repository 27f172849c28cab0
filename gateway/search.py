"""The search for a rate without loss, by MLRsearch (RFC 2544's throughput, and PDR by the same trials). Pure.

Trials are injected, so that tests simulate a device. What MLRsearch calls load is packets a second here, of one
direction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.errors import UnusableError, install_hint


@dataclass(frozen=True, slots=True)
class Goal:
    """What is searched for."""

    name: str
    """``ndr`` or ``pdr``."""
    loss_ratio: float
    """At most so much of what was sent is lost."""
    width: float
    """The found rate and the least rate that fails are this close, relative to the latter."""


GOALS = (Goal("ndr", 0.0, 0.05), Goal("pdr", 0.005, 0.02))


@dataclass(frozen=True, slots=True)
class Effort:
    """How long trials are, and when the search gives up. Seconds."""

    first_s: float = 0.3
    """Trials that only look where to search."""
    last_s: float = 1.0
    """Those that decide."""
    sum_s: float = 4.0
    """A load is judged by so much of them; more than half of it must be good."""
    warmup_s: float = 0.5
    limit_s: float = 38.0


@dataclass(frozen=True, slots=True)
class Counts:
    """One trial's, all directions together. Packets."""

    intended: int
    offered: int
    forwarded: int
    seconds: float
    """That the generator took."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search says of one goal."""

    goal: Goal
    lower_per_s: float | None
    """The highest rate that meets the goal; None: not even the least one that was tried does."""
    upper_per_s: float | None
    """The least rate above it that does not; None: the generator makes no more."""
    forwarded_per_s: float | None
    """What comes through at the lower rate (MLRsearch's conditional throughput)."""
    judged: bool = True
    """False: the time was up before trials enough were made; the rates are those of the few there were."""

    @property
    def width(self) -> float | None:
        """That was reached."""
        if self.lower_per_s is None or self.upper_per_s is None:
            return None
        return 1 - self.lower_per_s / self.upper_per_s

    @property
    def narrow(self) -> bool:
        """As close as the goal asks."""
        return self.judged and self.width is not None and self.width <= self.goal.width * 1.001


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one search."""

    found: tuple[Found, ...]
    complete: bool
    """False: the time was up before every width was reached."""
    seconds: float
    trials: int


Measure = Callable[[float, float], Counts]
"""(seconds, packets a second) -> what happened."""


def search(
    measure: Measure,
    *,
    min_per_s: float,
    max_per_s: float,
    goals: tuple[Goal, ...] = GOALS,
    effort: Effort | None = None,
) -> Outcome:
    """UnusableError without MLRsearch, or when max_per_s leaves no room. What measure raises goes through."""
    library = _library()
    effort = effort or Effort()
    if not 0 < min_per_s < max_per_s:
        raise UnusableError(f"no rates to search between {min_per_s:.0f} and {max_per_s:.0f} packets a second")
    wanted = {
        goal: library.SearchGoal(
            loss_ratio=goal.loss_ratio,
            relative_width=goal.width,
            initial_trial_duration=effort.first_s,
            final_trial_duration=effort.last_s,
            duration_sum=max(effort.sum_s, effort.last_s),
            fail_fast=False,
        )
        for goal in goals
    }
    config = library.Config(
        goals=wanted.values(),
        min_load=min_per_s,
        max_load=max_per_s,
        search_duration_max=effort.limit_s,
        warmup_duration=effort.warmup_s,
    )
    measurer = _measurer(library, measure, min(effort.first_s, effort.last_s))
    begun = time.monotonic()
    machine = library.MultipleLossRatioSearch(config=config)
    complete = True
    try:
        results = machine.search(measurer=measurer, debug=lambda text: None)
    except RuntimeError as error:
        if "too long" not in str(error):
            raise
        complete = False
        bounds = {
            one: machine.database.get_relevant_bounds(target=machine.scaling.goal_to_final_target[one])
            for one in wanted.values()
        }
        results = {one: library.GoalResult.from_bounds(bounds=bound) for one, bound in bounds.items()}
    found = tuple(_found(goal, results[one]) for goal, one in wanted.items())
    if not complete:
        found = tuple(_of_few(one, measurer.seen) for one in found)
    return Outcome(found, complete, time.monotonic() - begun, measurer.trials)


def _found(goal: Goal, result: Any) -> Found:
    lower, upper, through = result.relevant_lower_bound, result.relevant_upper_bound, result.conditional_throughput
    return Found(
        goal,
        None if lower is None else float(lower),
        None if upper is None else float(upper),
        None if through is None else float(through),
    )


def _of_few(found: Found, seen: list[tuple[float, float]]) -> Found:
    """Bounds that were not reached in time, by what most trials of a load said: the least load that failed, and the
    highest below it that did not."""
    if found.lower_per_s is not None and found.upper_per_s is not None:
        return found
    verdicts: dict[float, list[bool]] = {}
    for load, loss in seen:
        verdicts.setdefault(load, []).append(loss <= found.goal.loss_ratio)
    least = found.lower_per_s or 0.0
    failed = [load for load, good in verdicts.items() if 2 * sum(good) <= len(good) and load > least]
    upper = min(failed, default=None)
    passed = [load for load, good in verdicts.items() if 2 * sum(good) > len(good) and (upper is None or load < upper)]
    lower = found.lower_per_s or max(passed, default=None)
    through = found.forwarded_per_s
    if through is None and lower is not None:
        through = lower * (1 - found.goal.loss_ratio)
    return Found(found.goal, lower, upper, through, judged=False)


class _Library:
    """The names of MLRsearch that are used."""

    def __init__(self) -> None:
        try:
            import MLRsearch
            from MLRsearch.goal_result import GoalResult
        except ImportError:
            raise UnusableError("the search needs MLRsearch", install_hint("MLRsearch"), "no-mlrsearch") from None
        self.AbstractMeasurer = MLRsearch.AbstractMeasurer
        self.Config = MLRsearch.Config
        self.GoalResult = GoalResult
        self.MeasurementResult = MLRsearch.MeasurementResult
        self.MultipleLossRatioSearch = MLRsearch.MultipleLossRatioSearch
        self.SearchGoal = MLRsearch.SearchGoal


def _library() -> Any:
    return _Library()


def check_library() -> None:
    """UnusableError when MLRsearch is not installed."""
    _library()


def _measurer(library: Any, measure: Measure, shortest: float) -> Any:
    class Measurer(library.AbstractMeasurer):  # type: ignore[misc]
        def __init__(self) -> None:
            self.trials = 0
            self.seen: list[tuple[float, float]] = []

        def measure(self, intended_duration: float, intended_load: float) -> Any:
            counts = measure(intended_duration, intended_load)
            self.trials += 1
            result = library.MeasurementResult(
                intended_duration=intended_duration,
                intended_load=intended_load,
                offered_count=counts.offered,
                forwarding_count=counts.forwarded,
                intended_count=max(counts.intended, counts.offered),
                offered_duration=counts.seconds,
            )
            if intended_duration >= shortest:
                self.seen.append((intended_load, result.loss_ratio))
            return result

    return Measurer()
