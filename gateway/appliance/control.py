"""The appliance's control socket: one request, one answer, a line of JSON each. Only its own user and root may connect.

No key is ever asked for or answered.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import select
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gateway.errors import EXIT_FAILED, GwbenchError, MeasurementError, UnusableError

_MOST_BYTES = 1 << 16
_TIMEOUT_S = 60.0
"""A rekey of many tunnels over a slow link."""
_CLIENT_S = 2.0
"""Patience with a client that connects and says nothing: the tunnels wait meanwhile."""


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """systemd's RuntimeDirectory=, /run/gwbench for root, else the user's."""
    if environ.get("RUNTIME_DIRECTORY"):
        return Path(environ["RUNTIME_DIRECTORY"].split(":")[0])
    if os.geteuid() == 0:
        return Path("/run/gwbench")
    return Path(environ.get("XDG_RUNTIME_DIR") or f"/tmp/gwbench-{os.getuid()}") / "gwbench"


def find(path: Path | None) -> Path:
    """The socket of the one gateway that runs here. UnusableError."""
    if path is not None:
        return path
    found = sorted({*directory().glob("*.sock"), *Path("/run/gwbench").glob("*.sock")})
    if not found:
        raise UnusableError("no gateway runs here", "gwbench up CONFIG", "no-gateway")
    if len(found) > 1:
        raise UnusableError(f"several gateways run here: {', '.join(p.stem for p in found)}", f"--socket {found[0]}")
    return found[0]


def ask(path: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """One request's answer. GwbenchError as the gateway raised it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(_TIMEOUT_S)
        try:
            sock.connect(str(path))
            sock.sendall(json.dumps(request).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n"):
                chunk = sock.recv(1 << 16)
                if not chunk:
                    break
                data += chunk
        except (FileNotFoundError, ConnectionRefusedError):
            raise UnusableError("no gateway runs here", "gwbench up CONFIG", "no-gateway") from None
        except OSError as error:
            raise UnusableError(f"the gateway at {path} does not answer: {error.strerror or error}") from None
    if not data:
        raise MeasurementError("the gateway ended while it was asked")
    answer = json.loads(data)
    if "error" in answer:
        kind = MeasurementError if answer.get("status") == EXIT_FAILED else UnusableError
        raise kind(answer["error"], answer.get("hint", ""))
    result: dict[str, Any] = answer["result"]
    return result


class ControlServer:
    """Listens at once."""

    def __init__(self, path: Path, user: str = "") -> None:
        """``user`` owns the socket. UnusableError when another gateway of this name runs."""
        self.path = path
        owner = pwd.getpwnam(user) if user else None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            if path.exists():
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                    if probe.connect_ex(str(path)) == 0:
                        raise UnusableError(f"the gateway '{path.stem}' runs already", "gwbench down", "runs")
                path.unlink()
            before = os.umask(0o177)
            try:
                self._socket.bind(str(path))
            finally:
                os.umask(before)
            if owner is not None and os.geteuid() == 0:
                os.chown(path, owner.pw_uid, owner.pw_gid)
            self._socket.listen(16)
        except OSError as error:
            self._socket.close()
            raise UnusableError(f"cannot make the control socket {path}: {error.strerror}") from None
        except BaseException:
            self._socket.close()
            raise

    def serve(self, until_monotonic_s: float, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answers requests until then, or one: it may have changed what is due."""
        left = max(0.0, until_monotonic_s - time.monotonic())
        if not select.select([self._socket], [], [], left)[0]:
            return
        client, _ = self._socket.accept()
        with client, contextlib.suppress(OSError):
            client.settimeout(_CLIENT_S)
            self._one(client, answer)

    @staticmethod
    def _one(client: socket.socket, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        data = b""
        while not data.endswith(b"\n") and len(data) < _MOST_BYTES:
            chunk = client.recv(4096)
            if not chunk:
                return
            data += chunk
        try:
            request = json.loads(data)
            if not isinstance(request, dict):
                raise ValueError
            reply: dict[str, Any] = {"result": answer(request)}
        except ValueError:
            reply = {"error": "a request is a line of JSON"}
        except GwbenchError as error:
            reply = {"error": error.message, "hint": error.hint, "status": error.exit_status}
        client.sendall(json.dumps(reply).encode() + b"\n")

    def close(self) -> None:
        """The file goes, too, where this user may remove it. Safe twice."""
        self._socket.close()
        with contextlib.suppress(OSError):
            self.path.unlink()
