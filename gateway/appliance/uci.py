"""OpenWrt's configuration format, as /etc/config/gwbench: sections with options and lists, all of them words.

    config peer 'branch'
            option ssh 'root@192.0.2.2'
            list addresses '10.2.0.1/32'

The same tables as TOML come out; types follow the fields that they are for. Sections of other types belong to others.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, fields
from typing import Any

from gateway.errors import UnusableError

_TRUE, _FALSE = ("1", "on", "true", "yes", "enabled"), ("0", "off", "false", "no", "disabled")
_SINGLE, _NAMED = ("gateway", "rekey", "metrics"), ("peer", "tunnel")
_LISTS = {"tunnel": ("local", "remote")}
"""What is a list in no dataclass."""


@dataclass(slots=True)
class Section:
    """One ``config`` with what stands below it."""

    kind: str
    name: str
    line: int
    values: dict[str, str | list[str]] = field(default_factory=dict)


def is_uci(text: str) -> bool:
    """Whether the first line that says something begins a section or a package, which no TOML does."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return re.match(r"(config|package)\s+[^=\s]", first) is not None


def sections(text: str) -> list[Section]:
    """UnusableError names the line."""
    found: list[Section] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            raise UnusableError(f"line {number}: a quotation mark is not closed") from None
        if not words or words[0] == "package":
            continue
        what, *rest = words
        if what == "config" and len(rest) in (1, 2):
            name = rest[1] if len(rest) == 2 else ""
            if name and any(one.name == name for one in found):
                raise UnusableError(f"line {number}: two sections are called '{name}'", "uci would take them for one")
            found.append(Section(rest[0], name, number))
        elif what in ("option", "list") and len(rest) == 2 and found:
            values, (word, value) = found[-1].values, rest
            if what == "option":
                values[word] = value
            elif isinstance(before := values.setdefault(word, []), list):
                before.append(value)
            else:
                raise UnusableError(f"line {number}: '{word}' is an option already")
        else:
            raise UnusableError(f"line {number}: no line of UCI: {line.strip()}", "config TYPE [NAME], option, list")
    return found


def tables(text: str, kinds: dict[str, Any]) -> dict[str, Any]:
    """As tomllib would give them. ``kinds``: the dataclass of each type of section. UnusableError."""
    content: dict[str, Any] = {}
    for section in sections(text):
        if section.kind not in (*_SINGLE, *_NAMED):
            continue
        enabled = section.values.pop("enabled", "1")
        if isinstance(enabled, list) or enabled not in _TRUE:
            if section.kind == "gateway":
                raise UnusableError(
                    "the gateway is not enabled", "uci set gwbench.gateway.enabled=1; uci commit gwbench"
                )
            continue
        table = _typed(section, kinds[section.kind])
        if section.kind in _SINGLE:
            if section.kind in content:
                raise UnusableError(f"line {section.line}: a second 'config {section.kind}'")
            content[section.kind] = table
        elif not section.name:
            raise UnusableError(f"line {section.line}: 'config {section.kind}' needs a name")
        else:
            content.setdefault(section.kind, {})[section.name] = table
    return content


def _typed(section: Section, kind: Any) -> dict[str, Any]:
    types = {one.name: str(one.type) for one in fields(kind)}
    return {
        word: _value(f"{section.kind} {word}", value, types.get(word, "str"), word in _LISTS.get(section.kind, ()))
        for word, value in section.values.items()
    }


def _value(where: str, value: str | list[str], wanted: str, many: bool) -> Any:
    if many or wanted == "tuple[str, ...]":
        return value.split() if isinstance(value, str) else value  # as uci's own scripts read either
    if isinstance(value, list):
        raise UnusableError(f"{where} is an option, not a list")
    if wanted == "bool":
        if value not in (*_TRUE, *_FALSE):
            raise UnusableError(f"{where} '{value}' is neither 1 nor 0")
        return value in _TRUE
    if wanted in ("int", "float"):
        try:
            return int(value) if wanted == "int" else float(value)
        except ValueError:
            if wanted == "int" and re.fullmatch(r"\d+[KMGT]", value):
                return value  # sizes are read where TOML's are
            raise UnusableError(f"{where} '{value}' is no number") from None
    return value
