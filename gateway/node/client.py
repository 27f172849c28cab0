"""The control plane's side of the protocol: one process, two pipes, requests answered in order."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from gateway.errors import GwbenchError, MeasurementError, UnusableError
from gateway.node.base import Hello, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.codec import decode_line, encode_line, from_dict, to_arguments, wipe
from gateway.node.process import cpu_s
from gateway.node.protocol import KEY_FIELDS, MAX_LINE_BYTES, PROTOCOL_VERSION

HELLO_TIMEOUT_S = 60.0
"""Start of the interpreter and every implementation's known answers, on a slow and busy machine."""
HELLO_PATIENCES = 10
"""So often that time is granted to a process that computes meanwhile: an emulated machine takes minutes."""
WORKING = 0.02
"""Share of one core that tells a process which computes from one that hangs."""
TIMEOUT_S = 15.0
CLOSE_TIMEOUT_S = 5.0
STDERR_TAIL_BYTES = 4096


class NodeClient:
    """A :class:`gateway.node.base.Node` over the pipes of a process. Not for several threads at once, but safe."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], stderr: IO[bytes] | None = None) -> None:
        """``process`` has pipes at stdin and stdout; ``stderr`` is the file that holds what it says, if any."""
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process needs pipes")
        self.name = name
        self.timeout_s = TIMEOUT_S
        """Patience for one answer."""
        self._process = process
        self._stderr = stderr
        self._to = process.stdin.fileno()
        self._from = process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._buffer = bytearray()
        self._next_id = 1
        self._cpu_s, self._patiences = 0.0, 0
        self._greeted = False
        self._closed = False
        self._lost: GwbenchError | None = None
        """Why nothing is asked of it any more: set, and looked at, while the lock is held."""
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """Of the process that carries the data path."""
        return self._process.pid

    def hello(self) -> Hello:
        """Who answers there; UnusableError when it speaks another protocol version."""
        result = self._call("hello", {"protocol": PROTOCOL_VERSION}, timeout_s=HELLO_TIMEOUT_S)
        hello = from_dict(Hello, result)
        if hello.protocol != PROTOCOL_VERSION:
            raise UnusableError(
                f"{self.name} speaks protocol {hello.protocol}, this gwbench {PROTOCOL_VERSION}",
                "install the same version on both sides",
                "bad-protocol",
            )
        self._greeted = True
        return hello

    def open_path(self, config: PathConfig) -> PathInfo:
        """Opens TUN and socket and starts the loops."""
        return from_dict(PathInfo, self._call("open_path", to_arguments(config)))

    def add_sa(self, config: SaConfig) -> str:
        """Installs an SA; returns what runs it."""
        keys = {name: getattr(config, name) for name in KEY_FIELDS}
        return str(self._call("add_sa", to_arguments(config), keys).get("implementation", ""))

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """Removes and wipes an SA; returns its last counters."""
        return from_dict(SaCounters, self._call("delete_sa", {"spi": spi, "direction": direction}).get("last"))

    def set_policy(self, spi: int, src: str = "", dst: str = "") -> None:
        """Inner packets src -> dst leave under the outbound SA ``spi``."""
        self._call("set_policy", {"spi": spi, "src": src, "dst": dst})

    def counters(self, sas: bool = True) -> NodeCounters:
        """All counters now; more SAs than a line holds are fetched one line after another."""
        if not sas:
            return from_dict(NodeCounters, self._call("counters", {"sas": False}))
        counters = from_dict(NodeCounters, self._call("counters", {}))
        while len(counters.sas) < counters.sas_there:
            more = from_dict(NodeCounters, self._call("counters", {"first": len(counters.sas)}))
            if not more.sas:
                break
            counters = replace(counters, sas=counters.sas + more.sas)
        return counters

    def health(self) -> None:
        """MeasurementError when the data path has ended by itself, or the process is gone."""
        self._call("health", {})

    def close(self) -> None:
        """Asks, then ends the process; safe twice, never raises."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            process = self._process
            with contextlib.suppress(OSError):
                os.write(self._to, b'{"id":0,"op":"close"}\n')
            with contextlib.suppress(OSError):
                if process.stdin:
                    process.stdin.close()  # end of file is close, too
            for number in (0, signal.SIGTERM, signal.SIGKILL):  # 0: end of file is enough as a rule
                with contextlib.suppress(OSError):
                    process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(CLOSE_TIMEOUT_S)
                    break
            for stream in (process.stdout, self._stderr):
                with contextlib.suppress(OSError):
                    if stream:
                        stream.close()

    def _call(
        self,
        op: str,
        arguments: Mapping[str, object],
        keys: Mapping[str, bytes | bytearray] | None = None,
        timeout_s: float = 0.0,
    ) -> dict[str, Any]:
        with self._lock:
            if self._closed:
                raise MeasurementError(f"{self.name} was closed", code="dead")
            if self._lost is not None:
                raise self._lost
            number = self._next_id
            self._next_id += 1
            deadline = time.monotonic() + (timeout_s or self.timeout_s)
            line = encode_line({**arguments, "id": number, "op": op}, keys)
            try:
                answer = self._exchange(line, op, number, deadline, bool(keys))
            except GwbenchError as error:
                self._failed(error)
                raise
        if answer.get("ok") is True and isinstance(answer.get("result"), dict):
            result: dict[str, Any] = answer["result"]
            return result
        raise self._error(answer.get("error"))

    def _exchange(self, line: bytearray, op: str, number: int, deadline: float, secret: bool) -> dict[str, Any]:
        try:
            self._write(line, op, deadline)
        finally:
            if secret:
                wipe(line)
        while True:
            answer, _ = decode_line(self._read_line(op, deadline))
            # An answer that came after its request had timed out is of no use any more.
            if answer.get("id") == number:
                return answer

    def _failed(self, error: GwbenchError) -> None:
        """A request got no answer; the lock is held."""

    def _error(self, error: object) -> GwbenchError:
        if not isinstance(error, dict):
            return UnusableError(f"{self.name}: an answer without result and error", code="bad-request")
        code = str(error.get("code", "error"))
        kind = MeasurementError if code == "path-ended" else UnusableError
        return kind(f"{self.name}: {error.get('message', 'failed')}", str(error.get("hint", "")), code)

    def _write(self, line: bytearray, op: str, deadline: float) -> None:
        view = memoryview(line)
        try:
            while view:
                if not select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))[1]:
                    raise self._timed_out(op)
                try:
                    sent = os.write(self._to, view)
                except BlockingIOError:
                    continue
                except OSError:
                    raise self._dead(op) from None
                view = view[sent:]
        finally:
            view.release()

    def _read_line(self, op: str, deadline: float) -> bytearray:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE_BYTES:
                raise UnusableError(f"{self.name} sent a line longer than {MAX_LINE_BYTES} bytes", code="bad-request")
            if not select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))[0]:
                if op != "hello" or not self._still_starting():
                    raise self._timed_out(op)
                deadline = time.monotonic() + HELLO_TIMEOUT_S
                continue
            try:
                chunk = os.read(self._from, 1 << 16)
            except BlockingIOError:
                continue
            except OSError:
                chunk = b""
            if not chunk:
                raise self._dead(op)
            self._buffer += chunk
        line = self._buffer[:end]
        del self._buffer[: end + 1]
        return line

    def _still_starting(self) -> bool:
        """Whether the process has computed since this was last asked, which is allowed so many times."""
        before, self._cpu_s = self._cpu_s, cpu_s(self.pid)
        self._patiences += 1
        return self._patiences < HELLO_PATIENCES and self._cpu_s - before > WORKING * HELLO_TIMEOUT_S

    def _timed_out(self, op: str) -> GwbenchError:
        return MeasurementError(f"{self.name} does not answer '{op}'", code="timeout")

    def _dead(self, op: str) -> GwbenchError:
        """The process is gone: how it ended, and the last thing that it said."""
        try:
            status: int | None = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            status = None
        if status is None:
            how = "closed its pipe"
        elif status < 0:
            how = f"was killed by signal {-status}"
        else:
            how = f"exited with status {status}"
        said = self._last_words()
        message = f"{self.name}: the data path's process {how} during '{op}'" + (f": {said}" if said else "")
        kind = MeasurementError if self._greeted else UnusableError
        return kind(message, code="dead")

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        try:
            size = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, size - STDERR_TAIL_BYTES))
            lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        except (OSError, ValueError):
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")[:300]
