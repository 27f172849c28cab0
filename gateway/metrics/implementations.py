"""Which implementation of each algorithm a new SA gets here: a fall back to generic C must be seen."""

from __future__ import annotations

from gateway.metrics.exposition import Families


class Implementations:
    """The collector: what runs on this CPU does not change, so it is looked up once."""

    name = "implementations"

    def __init__(self) -> None:
        self._families: Families | None = None

    def collect(self, families: Families) -> None:
        """ImportError where the dataplane is not built."""
        if self._families is None:
            self._families = _look_up()
        families.update(self._families)


def _look_up() -> Families:
    from dataplane import implementations, preferred
    from gateway.selection import select

    select()
    families = Families()
    runnable = [i for i in implementations() if i.runnable and i.checked == "passed"]
    for algorithm in sorted({i.alg for i in runnable}):
        of_it = [i for i in runnable if i.alg == algorithm]
        best = max(of_it, key=lambda i: (i.constant_time, i.priority))
        chosen = preferred(algorithm) or best.driver
        for one in of_it:
            values = (algorithm, one.driver, one.isa, "yes" if one.constant_time else "no")
            families.add("gwbench_implementation_selected", values, int(one.driver == chosen))
    return families
