"""One thing that `gwbench doctor` found, on this machine or on a router. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

OK, INFO, WARN, FAIL = "ok", "info", "WARN", "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: str
    """``ok``, ``info``, ``WARN`` (measuring works, with less) or ``FAIL`` (something does not work)."""
    what: str
    consequence: str = ""
    command: str = ""
    """What changes it; empty when nothing need be done."""

    def line(self) -> str:
        """For a person."""
        tail = f": {self.consequence}" if self.consequence else ""
        return f"{self.level:<4}  {self.what}{tail}" + (f"  [{self.command}]" if self.command else "")


def as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """For ``--json``."""
    return [asdict(finding) for finding in findings]
