"""Runs iperf3 between two namespaces: server and client as child processes, live lines for a person meanwhile.

The server is a one-off (``-s -1``) in the server's namespace; the client's JSON is the result. Versions before 3.17
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
from typing import IO, Any

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


def run(
    load: Load,
    client: NetworkNamespace,
    server: NetworkNamespace,
    *,
    interface: str = "lan",
    on_interval: Callable[[Interval], None] | None = None,
    watch: Callable[[], None] | None = None,
) -> LoadReport:
    """Runs one test to its end.

    interface: the server's, watched for live lines where iperf3 has none. watch: called some 20 times a second, raises
    to end the test. Raises Iperf3Error (measured but failed), UnusableError (cannot start). Leaves no process.
    """
    binary = find_iperf3()
    command = client_command(load, binary, udp_window_bytes())
    processes: list[subprocess.Popen[Any]] = []
    cpu_before_ns = _children_cpu_ns()
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+") as complaints:
        with tempfile.TemporaryFile("w+", errors="replace") as server_output:
            with server.entered():
                if _is_listening(load.port, Path("/proc/thread-self/net")):
                    raise _port_taken(load.port)
            try:
                listener = server.popen(
                    [binary.path, "-s", "-1", "-p", str(load.port)], stdout=server_output, stderr=server_output
                )
                processes.append(listener)
                _wait_until_listening(listener, load.port, server_output)
                sender = client.popen(command, stdout=output, stderr=complaints)
                processes.append(sender)
                live = _follow(load, binary, sender, listener, output, interface, on_interval, watch)
                status = sender.wait()
                listener_status = _wait_for_end(listener)
            finally:
                for process in processes:
                    _end(process)
            cpu_ns = _children_cpu_ns() - cpu_before_ns
            text, words = _contents(output), _contents(complaints)
            if status < 0:
                raise Iperf3Error(f"iperf3 was killed by signal {-status}", code="iperf3-killed")
            try:
                result = parse(text if "{" in text else text + words, direction=load.directions()[0])
            except Iperf3Error as error:
                if listener_status is not None and listener_status < 0:
                    raise Iperf3Error(
                        f"iperf3's server was killed by signal {-listener_status}", code="iperf3-killed"
                    ) from error
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
    listener: subprocess.Popen[Any],
    output: IO[str],
    interface: str,
    on_interval: Callable[[Interval], None] | None,
    watch: Callable[[], None] | None,
) -> list[Interval]:
    """Until the client ends. Reports intervals, calls watch, enforces the deadline."""
    begun = time.monotonic()
    deadline = begun + load.omit + load.seconds + _PATIENCE_S
    live: list[Interval] = []
    direction = load.directions()[0]
    position, last_at, last_bytes = 0, begun, _interface_bytes(listener.pid, interface, direction)
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
            size = _interface_bytes(listener.pid, interface, direction)
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


def _interface_bytes(pid: int, interface: str, direction: str) -> int | None:
    """Bytes that crossed the server's interface, seen from the process ``pid`` in its namespace."""
    try:
        text = Path(f"/proc/{pid}/net/dev").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == interface:
            return int(numbers.split()[0 if direction == FORWARD else 8])
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
