"""What a person may write after ``--suite`` and ``--impl``, checked against the C tables before anything starts."""

from __future__ import annotations

from collections.abc import Sequence

from dataplane import DataplaneError, Suite, find_suite, implementations, init, resolve, suites
from gateway.errors import UnusableError
from gateway.words import words

WISHES = ("auto", "accelerated")
"""Words for ``--impl`` besides tags (``generic`` is one) and driver names."""


def suite_names(*, bench_only: bool = False, legacy: bool = False) -> tuple[str, ...]:
    """Names in the table's order; with ``bench_only`` those too that are refused outside the laboratory, with
    ``legacy`` those that nobody should choose any more."""
    return tuple(s.name for s in suites() if (bench_only or not s.bench_only) and (legacy or not s.legacy))


def parse_suites(text: str, *, lab: bool = True, legacy: bool = False) -> tuple[Suite, ...]:
    """A comma list of suites, without repetition. UnusableError lists what exists."""
    choices = f"there are: {', '.join(suite_names(bench_only=lab, legacy=legacy))}"
    chosen = []
    for name in words(text, "suite", choices):
        try:
            suite = find_suite(name)
        except DataplaneError:
            raise UnusableError(f"no suite is called '{name}'", choices, "no-suite") from None
        if suite.legacy and not legacy:
            raise UnusableError(
                f"suite '{name}' is legacy: SHA-1 is for old peers only", "--legacy takes it all the same", "legacy"
            )
        if suite.bench_only and not lab:
            raise UnusableError(
                f"suite '{name}' does not encrypt", "it is for the laboratory (--lab) only", "bench-only"
            )
        chosen.append(suite)
    return tuple(chosen)


def implementation_tags() -> tuple[str, ...]:
    """Tags of the implementations that this CPU can run, in the table's order."""
    return tuple(dict.fromkeys(impl.tag for impl in implementations() if impl.runnable))


def check_cpu_mask() -> None:
    """UnusableError when GWBENCH_CPU_DISABLE holds a name that no CPU feature has; lists what there is."""
    try:
        init()
    except DataplaneError as error:
        raise UnusableError(error.message, code="cpu-mask") from None


def implementation_choices() -> str:
    """What ``--impl`` takes."""
    return f"there are: {', '.join([*WISHES, *implementation_tags()])}; `gwbench crypto` lists drivers"


def check_implementation(suites: Sequence[Suite], wish: str) -> dict[str, str]:
    """What would run for each suite, ``driver + driver`` by suite name. UnusableError lists what exists."""
    found = {}
    for suite in suites:
        try:
            found[suite.name] = resolve(suite.name, wish)
        except DataplaneError as error:
            # The dataplane lists what this suite could have: more to the point than all that there is.
            hint = "`gwbench crypto` lists drivers" if "there are:" in error.message else implementation_choices()
            raise UnusableError(error.message, hint, "no-implementation") from None
    return found
