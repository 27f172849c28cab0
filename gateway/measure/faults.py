"""The test hook GWBENCH_INJECT_FAULT, and the lines of progress that the in-memory commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import dataplane
from gateway.errors import UnusableError

VARIABLE = "GWBENCH_INJECT_FAULT"


def load_providers() -> str:
    """Adds other libraries' and the kernel's implementations to the table; a line about those that are not here."""
    return dataplane.load_providers().absent


def _named() -> list[str]:
    return [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]


def inject_from_environment() -> list[str]:
    """Makes the named implementations fail their known answers. Returns the drivers that are out of selection by it, or
    because they failed by themselves. UnusableError for a name that no implementation has."""
    for driver in _named():
        try:
            dataplane.inject_fault(driver)
        except dataplane.DataplaneError as error:
            raise UnusableError(
                f"{VARIABLE}: {error.message}", "a driver's name, as gwbench selftest lists them"
            ) from None
    return [i.driver for i in dataplane.implementations() if i.checked == "failed"]


def out_of_selection(drivers: list[str]) -> list[str]:
    """One line each, for people: what the test hook did is not said to be a bug."""
    injected = _named()
    return [
        f"{driver} is out of selection: "
        + (f"{VARIABLE} makes its known answers count as wrong" if driver in injected else "it gave a wrong answer")
        for driver in drivers
    ]


def progress() -> Callable[[str], None]:
    """Prints where it stands on stderr: over itself on a terminal, nothing where stderr is a file or a pipe."""
    if not sys.stderr.isatty():
        return lambda _: None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text[:78]}")
        sys.stderr.flush()

    return show


def end_progress() -> None:
    """Clears the line."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
