"""Runs iperf3 between two machines or namespaces: server and client as child processes, and live lines meanwhile.

The server is a one-off (``-s -1``) where :class:`Server` says; the client's JSON is the result. Versions before 3.17
print it at the end only: then the live lines are read from the server's interface and are marked as such.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from gateway.errors import UnusableError
from gateway.lab.namespaces import NetworkNamespace
from gateway.load.iperf3_parse import (
    FORWARD,
    REVERSE,
    Interval,
    Iperf3Error,
    Iperf3Result,
    interval_of_event,
    parse,
)

PORT = 5201
_TICK_S = 0.05
_UDP_WINDOW_BYTES = 4 << 20
"""iperf3's own default loses 1 to 3 % even over a plain line."""
_PATIENCE_S = 10.0
"""After its time is over iperf3 still exchanges results; a line that lost everything must not hang us."""


@dataclass(frozen=True, slots=True)
class Load:
    """What to send; names follow iperf3's options."""

    server: str
    client: str
    """Inner addresses; the client binds to its own."""
    seconds: int = 5
    interval_s: float = 1.0
    parallel: int = 1
    reverse: bool = False
    bidir: bool = False
    udp: bool = False
    bitrate: str = ""
    """As iperf3 takes it (``100M``); empty = unlimited for TCP, 1 Mbit/s is iperf3's own for UDP."""
    length: int = 0
    """Bytes of a write or datagram; 0 = iperf3's default."""
    omit: int = 0
    congestion: str = ""
    mss: int = 0
    window_bytes: int = 0
    """Socket buffers of both ends, TCP; 0 = as the kernel chooses."""
    port: int = PORT

    def directions(self) -> tuple[str, ...]:
        if self.bidir:
            return (FORWARD, REVERSE)
        return (REVERSE,) if self.reverse else (FORWARD,)


@dataclass(frozen=True, slots=True)
class Iperf3Binary:
    """The iperf3 of this machine."""

    path: str
    version: str
    json_stream: bool


@dataclass(slots=True)
class LoadReport:
    """What a run gave, besides what iperf3 says."""

    result: Iperf3Result
    command: tuple[str, ...]
    cpu_ns: int
    """CPU time of iperf3's own two processes."""
    live: list[Interval] = field(default_factory=list)


@cache
def find_iperf3() -> Iperf3Binary:
    """UnusableError, with the package's name, when there is none."""
    path = shutil.which("iperf3")
    if path is None:
        raise UnusableError(
            "iperf3 is not installed", "apt install iperf3 / dnf install iperf3 / opkg install iperf3", "no-iperf3"
        )
    try:
        text = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False, errors="replace"
        ).stdout
        usage = subprocess.run(
            [path, "--help"], capture_output=True, text=True, timeout=10, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnusableError(f"{path} does not run: {error}", "reinstall iperf3", "no-iperf3") from error
    found = re.search(r"iperf (3\.\S+)", text)
    if found is None:
        raise UnusableError(f"{path} is not iperf3", "install the package iperf3", "no-iperf3")
    return Iperf3Binary(path, found.group(1), "--json-stream" in usage.stdout + usage.stderr)


def client_command(load: Load, binary: Iperf3Binary, window_bytes: int = _UDP_WINDOW_BYTES) -> list[str]:
    """The client's argument list."""
    command = [binary.path, "-c", load.server, "-B", load.client, "-p", str(load.port), "-t", str(load.seconds)]
    command += ["-i", f"{load.interval_s:g}", "--json-stream" if binary.json_stream else "--json"]
    if ":" in load.server:
        command.append("-6")
    if load.parallel != 1:
        command += ["-P", str(load.parallel)]
    if load.bidir:
        command.append("--bidir")
    elif load.reverse:
        command.append("-R")
    if load.udp:
        command += ["-u", "-w", str(window_bytes)]
    elif load.congestion:
        command += ["-C", load.congestion]
    if load.window_bytes and not load.udp:
        command += ["-w", str(load.window_bytes)]
    if load.bitrate:
        command += ["-b", load.bitrate]
    if load.length:
        command += ["-l", str(load.length)]
    if load.omit:
        command += ["-O", str(load.omit)]
    if load.mss and not load.udp:
        command += ["-M", str(load.mss)]
    return command


def udp_window_bytes(root: Path = Path("/proc/sys/net/core")) -> int:
    """4 MiB, or what the kernel grants: iperf3 gives up when it gets less than it asked for."""
    window = _UDP_WINDOW_BYTES
    for name in ("rmem_max", "wmem_max"):
        try:
            window = min(window, int((root / name).read_text()))
        except (OSError, ValueError):
            continue
    return window


class Server(Protocol):
    """The far end of one test: a one-off, ``iperf3 -s -1``."""

    def start(self, load: Load, binary: Iperf3Binary) -> None:
        """It listens when this returns. UnusableError with the reason when it does not."""
        ...

    def moved_bytes(self, direction: str) -> int | None:
        """What crossed the line so far, in the data's direction, for live lines; None: not known."""
        ...

    def finish(self) -> int | None:
        """Lets it end; its status, or None when it was we who ended it."""
        ...

    def kill(self) -> None:
        """Safe at any time, and twice."""
        ...


class NamespaceServer:
    """In a namespace of this machine."""

    def __init__(self, namespace: NetworkNamespace, interface: str = "lan", bind: str = "") -> None:
        """interface: watched for live lines. bind: the address to listen at; empty = all."""
        self._namespace = namespace
        self._interface = interface
        self._bind = bind
        self._process: subprocess.Popen[Any] | None = None
        self._output: IO[str] | None = None

    def start(self, load: Load, binary: Iperf3Binary) -> None:
        with self._namespace.entered():
            if _is_listening(load.port, Path("/proc/thread-self/net")):
                raise _port_taken(load.port)
        self._output = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed by kill
        command = [binary.path, "-s", "-1", "-p", str(load.port), *(["-B", self._bind] if self._bind else [])]
        self._process = self._namespace.popen(command, stdout=self._output, stderr=self._output)
        _wait_until_listening(self._process, load.port, self._output)

    def moved_bytes(self, direction: str) -> int | None:
        return None if self._process is None else interface_bytes(self._process.pid, self._interface, direction)

    def finish(self) -> int | None:
        return None if self._process is None else _wait_for_end(self._process)

    def kill(self) -> None:
        if self._process is not None:
            _end(self._process)
        if self._output is not None:
            self._output.close()


def run(
    load: Load,
    client: NetworkNamespace,
    server: Server,
    *,
    on_interval: Callable[[Interval], None] | None = None,
    watch: Callable[[], None] | None = None,
) -> LoadReport:
    """Runs one test to its end.

    watch: called some 20 times a second, raises to end the test. Raises Iperf3Error (measured but failed),
    UnusableError (cannot start). Leaves no process.
    """
    binary = find_iperf3()
    command = client_command(load, binary, udp_window_bytes())
    sender: subprocess.Popen[Any] | None = None
    cpu_before_ns = _children_cpu_ns()
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+") as complaints:
        try:
            server.start(load, binary)
            sender = client.popen(command, stdout=output, stderr=complaints)
            live = _follow(load, binary, sender, server, output, on_interval, watch)
            status = sender.wait()
            server_status = server.finish()
        finally:
            if sender is not None:
                _end(sender)
            server.kill()
        cpu_ns = _children_cpu_ns() - cpu_before_ns
        text, words = _contents(output), _contents(complaints)
    if status < 0:
        raise Iperf3Error(f"iperf3 was killed by signal {-status}", code="iperf3-killed")
    try:
        result = parse(text if "{" in text else text + words, direction=load.directions()[0])
    except Iperf3Error as error:
        if server_status is not None and server_status < 0:
            raise Iperf3Error(f"iperf3's server was killed by signal {-server_status}", code="iperf3-killed") from error
        refused = re.search(r"parameter error - ([^\n\"]+)", text + words)
        if refused is not None:
            raise UnusableError(f"iperf3 refuses its options: {refused.group(1)}", code="iperf3") from error
        raise
    if on_interval is not None:
        for interval in result.intervals[len(live) :]:
            on_interval(interval)
    return LoadReport(result, tuple(command), cpu_ns, live)


def _follow(
    load: Load,
    binary: Iperf3Binary,
    sender: subprocess.Popen[Any],
    server: Server,
    output: IO[str],
    on_interval: Callable[[Interval], None] | None,
    watch: Callable[[], None] | None,
) -> list[Interval]:
    """Until the client ends. Reports intervals, calls watch, enforces the deadline."""
    begun = time.monotonic()
    deadline = begun + load.omit + load.seconds + _PATIENCE_S
    live: list[Interval] = []
    direction = load.directions()[0]
    position, last_at, last_bytes = 0, begun, server.moved_bytes(direction)
    while sender.poll() is None:
        now = time.monotonic()
        if watch is not None:
            watch()
        if now > deadline:
            raise Iperf3Error(
                f"iperf3 did not end {_PATIENCE_S:.0f} s after its time: the line carries nothing", code="iperf3-stuck"
            )
        fresh: list[Interval] = []
        if binary.json_stream:
            # Read through a descriptor of its own position: the child appends at the end.
            text = _read_from(output, position)
            complete = text.rfind("\n") + 1
            for line in text[:complete].splitlines():
                fresh += interval_of_event(line, direction)
            position += len(text[:complete].encode())
        elif now - last_at >= load.interval_s:
            size = server.moved_bytes(direction)
            if size is not None and last_bytes is not None and now - begun <= load.omit + load.seconds + 0.5:
                fresh.append(
                    Interval(
                        start_s=last_at - begun,
                        end_s=now - begun,
                        mbit_per_s=(size - last_bytes) * 8e-6 / (now - last_at),
                        bytes=size - last_bytes,
                        retransmits=None,
                        omitted=last_at - begun < load.omit,
                        direction=direction,
                    )
                )
            last_at, last_bytes = now, size
        live += fresh
        if on_interval is not None:
            for interval in fresh:
                on_interval(interval)
        time.sleep(_TICK_S)
    return live


def interface_bytes(pid: int, interface: str, direction: str) -> int | None:
    """Bytes that a server's interface received (FORWARD) or sent, seen from the process ``pid`` in its namespace."""
    return device_bytes(Path(f"/proc/{pid}/net/dev"), interface, sent=direction != FORWARD)


def device_bytes(table: Path, device: str, *, sent: bool) -> int | None:
    """Of a /proc/net/dev: what the device sent, or received; None: it is not there."""
    try:
        text = table.read_text()
    except OSError:
        return None
    for line in text.splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == device:
            return int(numbers.split()[8 if sent else 0])
    return None


def _is_listening(port: int, net: Path) -> bool:
    """By the namespace's own table of sockets, not by what iperf3 prints: that differs between versions."""
    for table in ("tcp", "tcp6"):
        try:
            lines = (net / table).read_text().splitlines()[1:]
        except OSError:
            continue
        # number, local address:port, remote, state (0A = LISTEN)
        if any(f[1].endswith(f":{port:04X}") and f[3] == "0A" for f in map(str.split, lines)):
            return True
    return False


def _port_taken(port: int) -> UnusableError:
    return UnusableError(f"port {port} is taken in the laboratory", "choose another with -p", "port-taken")


def _wait_until_listening(listener: subprocess.Popen[Any], port: int, output: IO[str]) -> None:
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        if listener.poll() is not None:
            words = " ".join(_contents(output).split())
            if "in use" in words:
                raise _port_taken(port)
            raise UnusableError(f"iperf3's server did not start: {words[:200]}", code="iperf3")
        if _is_listening(port, Path(f"/proc/{listener.pid}/net")):
            return
        time.sleep(0.01)
    raise UnusableError("iperf3's server did not listen within 5 s", code="iperf3")


def _wait_for_end(listener: subprocess.Popen[Any]) -> int | None:
    """Lets the one-off server finish; its status, or None when it is we who end it."""
    try:
        return listener.wait(timeout=2.0)
    except subprocess.TimeoutExpired:
        listener.terminate()
        return None


def _children_cpu_ns() -> int:
    """CPU time of all children that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()


def _contents(file: IO[str]) -> str:
    return _read_from(file, 0)


def _read_from(file: IO[str], position: int) -> str:
    """pread: the child shares the file's offset and writes at it."""
    chunks = []
    while chunk := os.pread(file.fileno(), 1 << 20, position):
        chunks.append(chunk)
        position += len(chunk)
    return b"".join(chunks).decode(errors="replace")
