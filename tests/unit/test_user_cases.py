"""docs/user-cases.md names tests that exist, at least one a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (ROOT / "docs" / "user-cases.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| report")
]


def test_the_tables_are_read() -> None:
    assert len(ROWS) == 35


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_row_names_tests_that_exist(row: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[2])
    assert named
    for path, function in named:
        assert re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE), f"{path}::{function}"
