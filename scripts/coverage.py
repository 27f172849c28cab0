#!/usr/bin/env python3
"""Writes docs/coverage.md: which test of ours covers each data-plane case of other projects, or why none does.

    scripts/coverage.py coverage_cases.json > docs/coverage.md

The cases come in schema coverage-v1; docs/coverage_map.json has the rules. Exit status 1: a case has no rule.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

RULES = Path(__file__).resolve().parents[1] / "docs" / "coverage_map.json"


def load_rules() -> list[dict[str, str]]:
    rules: list[dict[str, str]] = json.loads(RULES.read_text())["rules"]
    return rules


def rule_of(rules: list[dict[str, str]], suite: str, case: str) -> dict[str, str] | None:
    """The first that matches."""
    for rule in rules:
        if re.fullmatch(rule["suite"], suite) and re.search(rule["match"], case):
            return rule
    return None


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def page(document: dict[str, Any], rules: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    """The page's lines, and the cases without a rule."""
    lines, missing = [], []
    for suite, content in document["suites"].items():
        rows, counts = [], Counter[str]()
        for case in content["cases"]:
            rule = rule_of(rules, suite, case["case"])
            if rule is None:
                missing.append(f"{suite}: {case['case']}")
                continue
            covered = "test" in rule
            counts["covered" if covered else "not"] += 1
            answer = f"`{rule['test']}`" if covered else f"not: {rule['why']}"
            rows.append(f"| {cell(case['case'])} | {cell(answer)} |")
        summary = f"{len(rows)} cases, {counts['covered']} covered, {counts['not']} not."
        lines += ["", f"## {suite}", "", f"{content['repo']}, {content['commit'][:12]}: {summary}"]
        lines += ["", "| case | ours |", "| --- | --- |", *rows]
    return lines, missing


def main() -> int:
    document = json.loads(Path(sys.argv[1]).read_text())
    lines, missing = page(document, load_rules())
    if missing:
        print("no rule for:", *missing, sep="\n", file=sys.stderr)
        return 1
    print("# What others test of a data plane, and where we do\n")
    print("Made by `scripts/coverage.py` from docs/coverage_map.json; names of cases are their projects'.")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
