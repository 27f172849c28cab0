"""Errors that reach a person: one clear line that says what is wrong, and what to do."""

from __future__ import annotations

import sys

EXIT_OK = 0
EXIT_FAILED = 1
"""Measured, but failed or invalid."""
EXIT_UNUSABLE = 2
"""Unusable input or environment."""
EXIT_INTERRUPTED = 130


def install_hint(packages: str) -> str:
    """How to install Python's ``packages`` for the interpreter that runs; gwbench itself is on no index."""
    return f"{sys.executable or 'python3'} -m pip install {packages}"


class GwbenchError(Exception):
    """Base: ``message`` is the one line; ``hint`` is what to do; ``exit_status`` is the command's."""

    exit_status = EXIT_UNUSABLE

    def __init__(self, message: str, hint: str = "", code: str = "error") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UnusableError(GwbenchError):
    """Bad input, or the machine lacks something: exit status 2."""


class MeasurementError(GwbenchError):
    """The measurement ran and failed: exit status 1."""

    exit_status = EXIT_FAILED
