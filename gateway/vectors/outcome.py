"""What a file of vectors said about one implementation. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Outcome:
    """Counts of one file and one implementation; every case of the file that concerns it is in exactly one of them."""

    file: str
    implementation: str
    """Driver, drivers joined by +, or "-" where no implementation is concerned."""
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    """What was wrong, one text a case."""
    refused: Counter[str] = field(default_factory=Counter)
    """Cases that had to be refused, and were: by reason."""
    not_applicable: Counter[str] = field(default_factory=Counter)
    """By reason."""

    @property
    def result(self) -> str:
        """``fail``, ``pass`` or ``not applicable``."""
        if self.failed:
            return "fail"
        return "pass" if self.passed or self.refused else "not applicable"

    def judge(self, wrong: str) -> None:
        """Counts one case: right where the text is empty."""
        if wrong:
            self.failed.append(wrong)
        else:
            self.passed += 1

    def as_dict(self) -> dict[str, Any]:
        """The form of ``gwbench selftest --json``."""
        return {
            "file": self.file,
            "implementation": self.implementation,
            "result": self.result,
            "passed": self.passed,
            "failed": len(self.failed),
            "failures": self.failed[:20],
            "refused": dict(self.refused),
            "not_applicable": dict(self.not_applicable),
        }


class Book:
    """The outcomes of one file, one for each implementation, in the order in which they were met."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._rows: dict[str, Outcome] = {}

    def __getitem__(self, implementation: str) -> Outcome:
        return self._rows.setdefault(implementation, Outcome(self.file, implementation))

    def rows(self) -> list[Outcome]:
        return list(self._rows.values())
