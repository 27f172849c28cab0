"""The published known answers that are kept here, as the questions of ``gateway.vectors.kat``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.vectors import document
from gateway.vectors.kat import questions as questions_of
from gateway.vectors.question import AEAD, Layout, Question, runnable, table_algorithm

__all__ = ["AEAD", "DATA", "FILES", "Layout", "Question", "load", "questions", "runnable", "table_algorithm"]

DATA = Path(__file__).resolve().parent / "data"
FILES = sorted(DATA.glob("kat_*.json"))


def load(path: Path) -> list[dict[str, Any]]:
    """The cases of one file."""
    read = document.read(path)
    assert read.schema == "crypto-kat-v1"
    return [dict(case) for case in read.cases]


def questions(case: dict[str, Any]) -> Iterator[Question]:
    """One case, in each direction that it speaks about; nothing for Monte Carlo cases."""
    return questions_of(document.Fields(DATA, 0, case))
