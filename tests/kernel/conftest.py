"""One boot for the whole tier, and its cells as a table at the end."""

from __future__ import annotations

import os

import pytest

from tests.kernel import table
from tests.kernel.machine import BUILD, Boot, boot

FULL = os.environ.get("FULL", "") not in ("", "0")
booted: list[Boot] = []


@pytest.fixture(scope="session")
def machine() -> Boot:
    """Every case has run in it."""
    if not booted:
        booted.append(boot(FULL))
    return booted[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not booted:
        return
    found = booted[0]
    if not found.finished:
        terminalreporter.section("the virtual machine's console, its last lines")
        terminalreporter.write_line(found.tail or "(nothing)")
    terminalreporter.section("the kernel's ESP and ours")
    for line in table.lines(found):
        terminalreporter.write_line(line)
    if found.finished:
        (BUILD / "matrix.md").write_text(table.markdown(found))
