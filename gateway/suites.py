"""What a person may write after ``--suite`` and ``--impl``, checked against the C tables before anything starts."""

from __future__ import annotations

from collections.abc import Sequence

from dataplane import DataplaneError, Suite, find_suite, implementations, resolve, suites
from gateway.errors import UnusableError

WISHES = ("auto", "accelerated", "generic")
"""Words for ``--impl`` besides tags and driver names."""


def suite_names(*, bench_only: bool = False) -> tuple[str, ...]:
    """Names in the table's order; with ``bench_only`` those too that are refused outside the laboratory."""
    return tuple(suite.name for suite in suites() if bench_only or not suite.bench_only)


def parse_suites(text: str, *, lab: bool = True) -> tuple[Suite, ...]:
    """A comma list of suites, without repetition. UnusableError lists what exists."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UnusableError("no suite is named", f"there are: {', '.join(suite_names(bench_only=lab))}", "no-suite")
    chosen = []
    for name in dict.fromkeys(names):
        try:
            suite = find_suite(name)
        except DataplaneError:
            raise UnusableError(
                f"no suite is called '{name}'", f"there are: {', '.join(suite_names(bench_only=lab))}", "no-suite"
            ) from None
        if suite.bench_only and not lab:
            raise UnusableError(
                f"suite '{name}' does not encrypt", "it is for the laboratory (--lab) only", "bench-only"
            )
        chosen.append(suite)
    return tuple(chosen)


def implementation_tags() -> tuple[str, ...]:
    """Tags of the implementations that this CPU can run, in the table's order."""
    return tuple(dict.fromkeys(impl.tag for impl in implementations() if impl.runnable))


def check_implementation(suites: Sequence[Suite], wish: str) -> dict[str, str]:
    """What would run for each suite, ``driver + driver`` by suite name. UnusableError lists what exists."""
    found = {}
    for suite in suites:
        try:
            found[suite.name] = resolve(suite.name, wish)
        except DataplaneError as error:
            raise UnusableError(
                error.message,
                f"there are: {', '.join([*WISHES, *implementation_tags()])}; `gwbench crypto` lists drivers",
                "no-implementation",
            ) from None
    return found
