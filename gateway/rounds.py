"""Interleaved rounds: plain, null, generic, accelerated, and again. Pure: the measuring is handed in.

A machine drifts - clock, neighbours, caches - so the candidates take turns instead of one after the other, and every
ratio is taken within a round. A measurement that met a disturbed machine is repeated, a bounded number of times in all;
when the machine stays disturbed, the last one is kept and marked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

ROLES = ("line", "plain", "null", "integrity", "cipher", "generic", "accelerated", "kernel")
NULL_SUITE = "null"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate of every round."""

    role: str
    """One of ROLES."""
    suite: str = ""
    """Empty for plain."""
    implementation: str = ""
    """The wish handed to the data path: ``generic``, ``accelerated``, a tag or driver names; empty for plain."""

    dataplane: str = "user"
    """``user`` (ours), or ``kernel`` (XFRM)."""
    driver: str = ""
    """Of the kernel's crypto, which comes first meanwhile; empty = as the machine is."""

    @property
    def label(self) -> str:
        if self.dataplane == "kernel":
            return f"{self.suite} in the kernel{f' with {self.driver}' if self.driver else ''}"
        return self.role if self.role in ("line", "plain", "null") else f"{self.suite} {self.implementation}"


@dataclass(frozen=True, slots=True)
class Taken(Generic[T]):
    """One measurement that was kept."""

    round: int
    """From 0."""
    value: T
    dirty: str
    """Why the machine was not quiet; empty when it was."""
    attempts: int


@dataclass(slots=True)
class Repeats:
    """How often a whole run may repeat: a third of its measurements, at least 2."""

    left: int
    per_measurement: int = 2
    used: int = field(default=0)

    @classmethod
    def for_run(cls, cases: int, rounds: int) -> Repeats:
        return cls(left=max(2, cases * rounds // 3))

    def take(self) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        self.used += 1
        return True


def plan(
    suites: Sequence[str],
    implementations: Sequence[str],
    *,
    null: bool = True,
    dataplanes: Sequence[str] = ("user",),
    drivers: Sequence[str] = (),
) -> tuple[Case, ...]:
    """The candidates in the order in which every round takes them.

    implementations: wishes; ``generic`` takes the role generic, everything else the role accelerated. Empty = generic
    and accelerated. dataplanes: ``user``, ``kernel``. drivers: of the kernel's, each a candidate of every suite.
    """
    wishes = tuple(implementations) or ("generic", "accelerated")
    cases = [Case("plain")]
    if null or NULL_SUITE in suites:
        cases += [Case("null", NULL_SUITE, "auto", dataplane) for dataplane in dataplanes]
    for suite in dict.fromkeys(suites):
        if suite == NULL_SUITE:
            continue
        if "user" in dataplanes:
            cases += [Case("generic" if w == "generic" else "accelerated", suite, w) for w in dict.fromkeys(wishes)]
        if "kernel" in dataplanes:
            cases += [Case("kernel", suite, "auto", "kernel", driver) for driver in dict.fromkeys(drivers or ("",))]
    return tuple(cases)


def run(
    cases: Sequence[Case],
    rounds: int,
    measure: Callable[[Case, int], T],
    dirty: Callable[[T], str],
    repeats: Repeats,
    on_repeat: Callable[[Case, int, str], None] = lambda case, number, why: None,
) -> dict[Case, list[Taken[T]]]:
    """Measures every case once a round. dirty: why a measurement's machine was disturbed, or empty."""
    taken: dict[Case, list[Taken[T]]] = {case: [] for case in cases}
    for number in range(rounds):
        for case in cases:
            attempts = 0
            while True:
                value = measure(case, number)
                attempts += 1
                why = dirty(value)
                if not why or attempts > repeats.per_measurement or not repeats.take():
                    break
                on_repeat(case, number, why)
            taken[case].append(Taken(number, value, why, attempts))
    return taken
