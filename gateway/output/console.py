"""Where human output goes, and whether it may have colour."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO


class Console:
    """Prints lines; without colour and in ASCII unless the stream is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.colour = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.live = stream.isatty()

    def print(self, line: str = "") -> None:
        """One line. A reader that went away (``| head``) must not end a measurement."""
        text = line if self.live else line.encode("ascii", "replace").decode()
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stream.write(text + "\n")
            self._stream.flush()

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def faint(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.colour else text

    def bad(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self.colour else text


def human(json_to_stdout: bool) -> Console:
    """stdout; stderr when stdout carries JSON."""
    return Console(sys.stderr if json_to_stdout else sys.stdout)
