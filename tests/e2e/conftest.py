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


@dataclass(frozen=True)
class View:
    """The code and its interpreter where every user can read them; the tests' own may lie in root's home."""

    prefix: tuple[str, ...]
    """Before a command line: in a mount namespace of its own, with PYTHONPATH set."""
    python: str


@pytest.fixture(scope="session")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """Bound, not copied, below /tmp: the interpreter that a virtual environment is of, and every folder of packages."""
    with tempfile.TemporaryDirectory(prefix="gwbench-view-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        bound = {"gateway": ROOT / "gateway", "dataplane": ROOT / "dataplane", "python": Path(sys.base_prefix)}
        packages = [folder]
        for number, path in enumerate(site.getsitepackages()):
            if os.path.isdir(path):
                bound[f"packages{number}"] = Path(path)
                packages.append(f"{folder}/packages{number}")
        for name in bound:
            Path(folder, name).mkdir()
        mounts = [f"mount --bind '{there}' {folder}/{name}" for name, there in bound.items()]
        # Where libpython is a library, its run path may lead into root's home.
        paths = f"export PYTHONPATH={':'.join(packages)} LD_LIBRARY_PATH={folder}/python/lib"
        script = "; ".join(["set -e", *mounts, paths, 'exec "$@"'])
        executable = f"bin/python{sys.version_info.major}.{sys.version_info.minor}"
        made = View(("unshare", "-m", "sh", "-c", script, "sh"), f"{folder}/python/{executable}")
        # It must be able to start itself again, as the command does: setpriv's child still has root's capabilities.
        imports = "'import dataplane, gateway.cli, pyroute2, ssl'"
        again = f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {imports}])"
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        probe = [*made.prefix, *nobody, made.python, "-c", again]
        done = subprocess.run(probe, cwd="/", capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"user nobody cannot run {sys.executable} with what is in {ROOT}: {done.stderr.strip()}")
        yield made


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


@pytest.fixture(scope="session")
def user_namespaces() -> None:
    """What needs them cannot run everywhere."""
    done = subprocess.run(["unshare", "--user", "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs user namespaces, which a chroot and some containers refuse: {done.stderr.strip()}")


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
