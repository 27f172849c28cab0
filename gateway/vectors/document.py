"""Files of vectors, read and checked before anything runs: what cannot be understood is said in one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError

LISTS = {
    "crypto-kat-v1": "cases",
    "esp-packet-v1": "cases",
    "replay-sequence-v1": "cases",
    "coverage-v1": "suites",
    "pcap-index-v1": "captures",
}
"""Where each schema has its content."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file; ``cases`` is what its schema lists."""

    path: Path
    schema: str
    cases: tuple[Mapping[str, Any], ...]
    legacy: bool = False
    """Run legacy suites too; without it they are refused."""


class MalformedError(UnusableError):
    """A file of vectors that is not what its schema says."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}", code="malformed-vectors")


def find(where: Path) -> list[Path]:
    """The file itself, or every .json file below a directory. UnusableError when there is none."""
    if where.is_dir():
        found = sorted(p for p in where.rglob("*.json") if p.is_file())
        if not found:
            raise UnusableError(f"{where}: no .json file of vectors in it")
        return found
    if not where.exists():
        raise UnusableError(f"{where}: no such file or directory")
    return [where]


def read(path: Path, legacy: bool = False) -> Document:
    """Reads one file. MalformedError for what is not JSON, has no or an unknown schema, or a wrong shape."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MalformedError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # JSON and UTF-8 alike
        raise MalformedError(path, f"is not JSON ({str(error)[:80]})") from None
    if not isinstance(content, dict):
        raise MalformedError(path, f"is not a JSON object but {_kind(content)}")
    if "schema" not in content:
        raise MalformedError(path, 'has no "schema"')
    schema = content["schema"]
    if not isinstance(schema, str):
        raise MalformedError(path, f'"schema" is not a string but {_kind(schema)}')
    if schema not in LISTS:
        raise MalformedError(path, f'unknown schema "{schema[:40]}"; known: {", ".join(LISTS)}')
    name = LISTS[schema]
    listed = content.get(name)
    if schema == "coverage-v1":
        listed = _coverage_cases(path, listed)
    if not isinstance(listed, list) or not all(isinstance(case, dict) for case in listed):
        raise MalformedError(path, f'{schema} without a list "{name}" of objects')
    count = content.get("count")
    if isinstance(count, int) and count != len(listed):
        raise MalformedError(path, f'"count" says {count}, but there are {len(listed)} {name}')
    return Document(path, schema, tuple(listed), legacy)


def _kind(value: Any) -> str:
    """In JSON's words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else "a number"


def _coverage_cases(path: Path, suites: Any) -> list[Any]:
    if not isinstance(suites, dict) or not all(isinstance(s, dict) for s in suites.values()):
        raise MalformedError(path, 'coverage-v1 without an object "suites"')
    lists = [suite.get("cases", []) for suite in suites.values()]
    if not all(isinstance(cases, list) for cases in lists):
        raise MalformedError(path, 'coverage-v1: "cases" is not a list')
    return [case for cases in lists for case in cases]


class Fields:
    """Typed access to one case; every complaint names the file, the case and the field."""

    def __init__(self, path: Path, number: int, case: Mapping[str, Any]) -> None:
        self._path = path
        self._case = case
        name = case.get("id", case.get("name", case.get("file")))
        self.name = str(name) if name not in (None, "") else f"case {number}"

    def complain(self, what: str) -> MalformedError:
        return MalformedError(self._path, f"{self.name}: {what}")

    def like(self, case: Mapping[str, Any]) -> Fields:
        """Another case of the same file."""
        return Fields(self._path, 0, case)

    def has(self, field: str) -> bool:
        """Is it there, and not null?"""
        return self._case.get(field) is not None

    def octets(self, field: str) -> bytes:
        """A hexadecimal string; empty where it is absent."""
        value = self._case.get(field)
        if value is None:
            return b""
        try:
            return bytes.fromhex(value)
        except (TypeError, ValueError):
            raise self.complain(f'"{field}" is not hexadecimal') from None

    def word(self, field: str, default: str, allowed: tuple[str, ...] = ()) -> str:
        """A string; with ``allowed`` one of these."""
        value = self._case.get(field)
        value = default if value is None else value
        if not isinstance(value, str) or (allowed and value not in allowed):
            wanted = f"one of {', '.join(allowed)}" if allowed else "a string"
            raise self.complain(f'"{field}" is not {wanted}')
        return value

    def number(self, field: str, default: int = 0, limit: int = 1 << 64) -> int:
        """A number that is not negative."""
        value = self._case.get(field)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < limit:
            raise self.complain(f'"{field}" is not a number from 0 to {limit - 1}')
        return value

    def flag(self, field: str, default: bool = False) -> bool:
        value = self._case.get(field)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise self.complain(f'"{field}" is neither true nor false')
        return value

    def items(self, field: str) -> list[Any]:
        """A list; empty where it is absent."""
        value = self._case.get(field)
        value = [] if value is None else value
        if not isinstance(value, list):
            raise self.complain(f'"{field}" is not a list')
        return value


def fields(document: Document) -> list[Fields]:
    """Every case of the document."""
    return [Fields(document.path, i, case) for i, case in enumerate(document.cases)]
