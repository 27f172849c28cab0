"""What every end-to-end test needs: the command as a child with a mark of its own, and a look for what it left."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MARK = "GWBENCH_TEST_MARK"
COMMAND = (sys.executable, "-m", "gateway.cli")


@pytest.fixture(scope="session", autouse=True)
def needs() -> None:
    """These tests need what the laboratory needs, and root to play the other users."""
    if shutil.which("iperf3") is None:
        pytest.skip("no iperf3")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("no writable /dev/net/tun")
    if os.geteuid() != 0:
        pytest.skip("not root")


@dataclass
class Finished:
    """A command that ended."""

    status: int
    stdout: str
    stderr: str
    result: dict[str, Any] = field(default_factory=dict)

    def rows(self, role: str) -> list[dict[str, Any]]:
        return [row for row in self.result["results"] if row["role"] == role]


def environment(**more: str) -> dict[str, str]:
    path = [str(ROOT), *site.getsitepackages()]
    return {**os.environ, "PYTHONPATH": ":".join(path), "PYTHONDONTWRITEBYTECODE": "1", **more}


def processes_with(mark: str) -> list[int]:
    """Processes that inherited the mark."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def interfaces() -> set[str]:
    """Of this namespace, where the laboratory must never leave any."""
    return {name for name in os.listdir("/sys/class/net") if name.startswith(("esp", "wan", "lan", "tun"))}


class Run:
    """A gwbench command in the background."""

    def __init__(self, arguments: list[str], prefix: tuple[str, ...] = (), command: tuple[str, ...] = COMMAND) -> None:
        self.mark = uuid.uuid4().hex
        self.out = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by cleanup
        self.err = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*prefix, *command, *arguments],
            stdout=self.out,
            stderr=self.err,
            stdin=subprocess.DEVNULL,
            cwd="/",
            env=environment(**{MARK: self.mark}),
        )

    def wait(self, timeout_s: float = 120) -> Finished:
        try:
            status = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        return Finished(status, self._text(self.out), self._text(self.err))

    def wait_for_line(self, needle: str, timeout_s: float = 60) -> None:
        deadline = time.monotonic() + timeout_s
        while needle not in self._text(self.out):
            assert self.process.poll() is None, f"ended before {needle!r}: {self._text(self.err)}"
            assert time.monotonic() < deadline, f"no {needle!r} within {timeout_s} s"
            time.sleep(0.05)

    def text(self) -> str:
        """What it printed so far."""
        return self._text(self.out)

    def children(self, needle: str) -> list[int]:
        """Its processes whose command line contains ``needle``."""
        found = []
        for pid in processes_with(self.mark):
            with contextlib.suppress(OSError):
                if needle.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "):
                    found.append(pid)
        return found

    def assert_nothing_left(self, within_s: float = 5.0) -> None:
        deadline = time.monotonic() + within_s
        while left := processes_with(self.mark):
            assert time.monotonic() < deadline, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
            time.sleep(0.05)

    def cleanup(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in processes_with(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.out.close()
        self.err.close()

    @staticmethod
    def _text(file: Any) -> str:
        file.flush()
        return os.pread(file.fileno(), 1 << 24, 0).decode(errors="replace")


@pytest.fixture
def start() -> Iterator[Callable[..., Run]]:
    """Starts commands; afterwards none of their processes and no interface may be left.

    The laboratory's namespaces have no name and no mount: no process of it means no namespace and no TUN of it.
    """
    runs: list[Run] = []
    before = interfaces()

    def make(*arguments: str, prefix: tuple[str, ...] = (), command: tuple[str, ...] = COMMAND) -> Run:
        runs.append(Run(list(arguments), prefix, command))
        return runs[-1]

    try:
        yield make
        for run in runs:
            assert run.process.poll() is not None, "the test must wait for its command"
            run.assert_nothing_left()
        assert interfaces() <= before
    finally:
        for run in runs:
            run.cleanup()


@pytest.fixture
def gwbench(start: Callable[..., Run], tmp_path: Path) -> Callable[..., Finished]:
    """Runs ``gwbench iperf --lab`` to its end and reads its result file."""

    def run(*arguments: str, timeout_s: float = 120) -> Finished:
        path = tmp_path / "result.json"
        finished = start("iperf", "--lab", "--no-save", "--json", str(path), *arguments).wait(timeout_s)
        if path.exists():
            finished.result = json.loads(path.read_text())
        return finished

    return run
