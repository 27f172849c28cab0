"""Starts and asks ``gwbench-xfrm-reader``: the small C program that alone sees the kernel's answers, keys included."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.errors import MeasurementError, UnusableError

NAME = "gwbench-xfrm-reader"
VARIABLE = "GWBENCH_XFRM_READER"
"""Path of the program, where it was installed elsewhere (with file capabilities, say)."""
TIMEOUT_S = 10.0


@dataclass(slots=True)
class XfrmDump:
    """The kernel's SAs at one moment: fields by name, see csrc/exporter/sa_text.c."""

    sas: list[dict[str, str]] = field(default_factory=list)
    gone: list[dict[str, str]] = field(default_factory=list)
    """Removed since the dump before, with what they had counted."""
    lost: int = 0
    """Events that could not be kept."""


def find() -> Path:
    """The program: as the environment says, beside the dataplane's library, or in PATH."""
    import dataplane

    beside = Path(dataplane.__file__).with_name(NAME)
    for path in (os.environ.get(VARIABLE), str(beside) if beside.is_file() else None, shutil.which(NAME)):
        if path:
            return Path(path)
    raise UnusableError(f"{NAME} is not there", "make build makes it", "no-reader")


class XfrmReader:
    """One running reader; it is started again when it has died."""

    def __init__(self, argv: Sequence[str] = (), pass_fds: Sequence[int] = ()) -> None:
        """``argv``: the command line (default: :func:`find`)."""
        self._argv = list(argv)
        self._pass_fds = tuple(pass_fds)
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""

    def start(self) -> None:
        """Before privileges are dropped: the reader keeps CAP_NET_ADMIN. UnusableError when it cannot be started."""
        try:
            self._process = subprocess.Popen(
                self._argv or [str(find())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=self._pass_fds,
                start_new_session=True,
            )
        except OSError as error:
            raise UnusableError(f"cannot start {NAME}: {error.strerror}") from None
        self._buffer = b""

    def dump(self) -> XfrmDump:
        """Every SA now. MeasurementError when the kernel or the reader failed."""
        if self._process is None:
            self.start()
        process = self._process
        assert process is not None and process.stdin is not None
        try:
            process.stdin.write(b"dump\n")
            process.stdin.flush()
        except OSError:
            raise self._died() from None
        found = XfrmDump()
        for line in self._lines():
            kind, *pairs = line.split(" ")
            if kind in ("sa", "gone"):
                fields = dict(pair.split("=", 1) for pair in pairs)
                (found.sas if kind == "sa" else found.gone).append(fields)
            elif kind == "lost":
                found.lost = int(pairs[0])
            elif kind == "error":
                raise MeasurementError(f"the kernel's SAs cannot be read: {line[6:]}", code="kernel-lacks")
        return found

    def _lines(self) -> list[str]:
        """Up to the line "end"; those of an answer before that failed are read to their end, too."""
        process = self._process
        assert process is not None and process.stdout is not None
        deadline = time.monotonic() + TIMEOUT_S
        while not self._buffer.endswith(b"end\n"):
            left = max(0.0, deadline - time.monotonic())
            if not select.select([process.stdout], [], [], left)[0]:
                self.close()
                raise MeasurementError(f"{NAME} does not answer", code="timeout")
            chunk = os.read(process.stdout.fileno(), 1 << 18)
            if not chunk:
                raise self._died()
            self._buffer += chunk
        lines = self._buffer.decode("ascii", "replace").split("\n")
        self._buffer = b""
        return lines[: lines.index("end")]

    def _died(self) -> MeasurementError:
        said = ""
        if self._process is not None and self._process.stderr is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._process.wait(1.0)
                said = self._process.stderr.read(4096).decode("utf-8", "replace").strip().split("\n")[-1]
        self.close()
        return MeasurementError(f"{NAME} has ended{': ' + said if said else ''}", code="dead")

    def close(self) -> None:
        """Ends it; safe twice."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        try:
            process.wait(1.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()
