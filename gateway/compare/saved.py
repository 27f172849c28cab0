"""Results that were saved, found by name and date: ``iperf``, ``iperf@2026-11-30``, ``20261130T132612Z-iperf``."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.errors import UnusableError

_STAMP = re.compile(r"^(\d{8}T\d{6}Z)-(.+)\.json$")


def find(word: str, directory: Path, *, before: Path | None = None) -> Path:
    """The newest saved result whose name (and date, behind ``@``) begins so; a path that exists is itself.

    before: not this one nor a newer. UnusableError lists what there is.
    """
    if (path := Path(word)).is_file():
        return path
    name, _, date = word.partition("@")
    if not name and not date:
        raise UnusableError("a result's name is empty", "a file, or a saved result: iperf, iperf@2026-11-30")
    digits = re.sub(r"[-:]", "", date)
    found = []
    for path in sorted(directory.glob("*.json")) if directory.is_dir() else []:
        match = _STAMP.match(path.name)
        if not match:
            continue
        if before is not None and path.name >= before.name:
            continue
        stamp, kind = match.groups()
        whole = path.name.removesuffix(".json")
        if (whole == name and not date) or (kind.startswith(name) and stamp.startswith(digits)):
            found.append(path)
    if found:
        return found[-1]
    known = sorted(p.name.removesuffix(".json") for p in directory.glob("*.json"))[-5:] if directory.is_dir() else []
    there = f"the newest are: {', '.join(known)}" if known else f"nothing is saved in {directory}"
    raise UnusableError(f"no file and no saved result is called '{word}'", there)
