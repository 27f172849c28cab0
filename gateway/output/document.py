"""JSON to a file, or to stdout where the file is ``-``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError


def write(to: str, document: Mapping[str, Any]) -> None:
    """UnusableError when the file cannot be written."""
    write_text(to, json.dumps(document, indent=1) + "\n")


def write_text(to: str, text: str) -> None:
    """The same for what is no JSON."""
    if to == "-":
        sys.stdout.write(text)
        return
    try:
        Path(to).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnusableError(f"cannot write {to}: {error.strerror}") from None


def check_writable(to: str | None) -> None:
    """The same, before minutes are spent on measuring. Leaves no empty file: what is measured may fail."""
    if to is None or to == "-":
        return
    new = not Path(to).exists()
    try:
        with open(to, "a", encoding="utf-8"):
            pass
        if new:
            Path(to).unlink()
    except OSError as error:
        raise UnusableError(f"cannot write {to}: {error.strerror}") from None
