"""What the tests need to know of PromQL: which series an expression asks for. Prometheus itself parses the rest."""

from __future__ import annotations

import re

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"\b(gwbench_\w+|\w+:gwbench_\w+(?::\w+)?|up)\s*(\{[^}]*\})?")


def selectors(expr: str) -> list[tuple[str, dict[str, str]]]:
    """Series names with their matchers' labels and values. Strings are kept, as matchers have them."""
    found = []
    for match in _SELECTOR.finditer(expr):
        matchers = dict(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"', match[2] or ""))
        found.append((match[1], matchers))
    return found


def selector_texts(expr: str) -> list[str]:
    """The same as they stand there."""
    return [match[0] for match in _SELECTOR.finditer(expr)]


def grouped_labels(expr: str) -> set[str]:
    """Labels of by, without and on clauses."""
    found: set[str] = set()
    for clause in re.findall(
        r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", _STRING.sub('""', expr)
    ):
        found |= {word.strip() for word in clause.split(",") if word.strip()}
    return found
