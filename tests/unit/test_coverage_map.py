"""docs/coverage_map.json names tests that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = json.loads((ROOT / "docs" / "coverage_map.json").read_text())["rules"]
NAMED = sorted({name for rule in RULES for name in re.findall(r"tests/[\w/]+\.py::\w+", json.dumps(rule))})


def test_a_rule_says_one_thing() -> None:
    for rule in RULES:
        assert ("test" in rule) != ("why" in rule), rule
        assert rule.get("test", NAMED[0]) in NAMED, rule


@pytest.mark.parametrize("name", NAMED)
def test_named_test_exists(name: str) -> None:
    path, function = name.split("::")
    assert re.search(rf"^def {function}\(", (ROOT / path).read_text(), re.MULTILINE)
