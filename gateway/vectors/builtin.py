"""The known answers that are compiled in: what decides whether an implementation may be selected."""

from __future__ import annotations

import dataplane
from gateway.vectors.outcome import Outcome
from gateway.vectors.question import lacking

NAME = "built in"


def run() -> list[Outcome]:
    """One outcome for each implementation."""
    outcomes = []
    for implementation in dataplane.implementations():
        outcome = Outcome(NAME, implementation.driver)
        outcomes.append(outcome)
        if not implementation.runnable:
            outcome.not_applicable[lacking(implementation)] += 1
        elif implementation.checked == "failed":
            outcome.failed.append("wrong known answer: out of selection")
        else:
            try:
                dataplane.selftest(implementation.driver)
            except dataplane.DataplaneError as error:
                outcome.failed.append(error.message)
            else:
                outcome.passed += 1
    return outcomes
