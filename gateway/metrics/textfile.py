"""For node_exporter's textfile collector: whole files only, and no time stamps in them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gateway.errors import UnusableError


def write(path: Path, text: str) -> None:
    """Replaces ``path`` by a rename within its directory. UnusableError when that is impossible."""
    if path.suffix != ".prom":
        raise UnusableError(f"{path}: node_exporter reads only files that end in .prom")
    try:
        # A name that node_exporter does not read while it is being written.
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                file.write(text)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise UnusableError(f"cannot write {path}: {error.strerror}") from None
