"""The node's side of the protocol: reads requests, asks a backend, answers. One thread, no packet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gateway.errors import GwbenchError, UnusableError
from gateway.node.base import Hello, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.codec import bad_request, decode_line, encode_line, from_dict, to_dict, wipe
from gateway.node.process import Stop, enter_netns, harden, install_signals
from gateway.node.protocol import KEY_FIELDS, MAX_LINE_BYTES, PROTOCOL_VERSION, SAS_A_LINE


class Backend(Protocol):
    """What carries the packets: our dataplane or the kernel. Errors are GwbenchError."""

    def hello(self) -> Hello: ...
    def open_path(self, config: PathConfig) -> PathInfo: ...
    def add_sa(self, config: SaConfig) -> str: ...
    def delete_sa(self, spi: int, direction: str) -> SaCounters: ...
    def set_policy(self, spi: int, src: str, dst: str) -> None: ...
    def counters(self, first: int, most: int) -> NodeCounters: ...
    def health(self) -> None: ...
    def close(self) -> None: ...


ARGUMENTS = {
    "open_path": PathConfig.__dataclass_fields__.keys(),
    "add_sa": SaConfig.__dataclass_fields__.keys(),
    "delete_sa": {"spi", "direction"},
    "set_policy": {"spi", "src", "dst"},
    "counters": {"sas", "first", "max"},
    "health": set[str](),
    "close": set[str](),
}
"""What each operation takes. Not ``hello``: any version may ask it, and be told that versions differ."""


class Server:
    """Serves one client over two descriptors until ``close``, end of file, or :class:`Stop`."""

    def __init__(self, backend: Backend, read_fd: int = 0, write_fd: int = 1) -> None:
        self._backend = backend
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._closing = False

    def serve(self) -> None:
        """Answers in order; the backend is closed at the end, however that comes."""
        # Read into memory of our own: ``os.read`` would leave keys in immutable bytes.
        buffer, chunk = bytearray(), bytearray(1 << 16)
        try:
            while not self._closing:
                end = buffer.find(b"\n")
                if end >= 0:
                    line = buffer[:end]
                    self._forget(buffer, end + 1)
                    self._answer(line)
                    continue
                if len(buffer) > MAX_LINE_BYTES:
                    wipe(buffer)
                    self._write({"id": None, "ok": False, "error": _error(bad_request("a line is too long"))})
                    return
                n = os.readv(self._read_fd, [chunk])
                if not n:
                    return
                buffer += memoryview(chunk)[:n]
        except (Stop, BrokenPipeError):
            return
        finally:
            wipe(buffer)
            wipe(chunk)
            self._backend.close()

    @staticmethod
    def _forget(buffer: bytearray, n: int) -> None:
        """Drops the first ``n`` bytes; they may hold keys."""
        buffer[:n] = bytes(n)
        del buffer[:n]

    def _answer(self, line: bytearray) -> None:
        number: object = None
        keys: dict[str, bytearray] = {}
        try:
            message, keys = decode_line(line)
            number = message.get("id")
            result = self._dispatch(message, keys)
            answer: dict[str, object] = {"id": number, "ok": True, "result": result}
        except GwbenchError as error:
            answer = {"id": number, "ok": False, "error": _error(error)}
        except (Stop, BrokenPipeError):
            raise
        except Exception as error:  # a bug here must not look like silence there
            name = type(error).__name__
            print(f"{name}: {error}" if not keys else name, file=sys.stderr)
            answer = {"id": number, "ok": False, "error": {"code": "internal", "message": f"{name}: {error}"}}
            if keys:
                answer["error"] = {"code": "internal", "message": name}
        finally:
            for key in keys.values():
                wipe(key)
        self._write(answer)

    def _dispatch(self, message: dict[str, Any], keys: dict[str, bytearray]) -> dict[str, Any]:
        handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "hello": self._hello,
            "open_path": self._open_path,
            "add_sa": lambda arguments: self._add_sa(arguments, keys),
            "delete_sa": self._delete_sa,
            "set_policy": self._set_policy,
            "counters": self._counters,
            "health": self._health,
            "close": self._close,
        }
        op = message.get("op")
        if not isinstance(op, str) or op not in handlers:
            raise UnusableError(f"no operation is called '{op}'", f"there are: {', '.join(handlers)}", "unknown-op")
        if op in ARGUMENTS:
            unknown = message.keys() - ARGUMENTS[op] - {"id", "op"}
            if unknown:
                raise UnusableError(
                    f"'{op}' takes no argument '{min(unknown)}' here",
                    "install the same version on both sides",
                    "bad-request",
                )
        return handlers[op](message)

    def _hello(self, message: dict[str, Any]) -> dict[str, Any]:
        if message.get("protocol") != PROTOCOL_VERSION:
            raise UnusableError(
                f"protocol {message.get('protocol')} is not spoken here, {PROTOCOL_VERSION} is",
                "install the same version on both sides",
                "bad-protocol",
            )
        return to_dict(self._backend.hello())

    def _add_sa(self, message: dict[str, Any], keys: dict[str, bytearray]) -> dict[str, Any]:
        for name in KEY_FIELDS:
            if name not in keys:
                raise bad_request(f"SaConfig lacks '{name}' in hex")
        config = from_dict(SaConfig, {**message, **keys})
        if config.direction not in ("in", "out"):
            raise bad_request(f"a direction is 'in' or 'out', not '{config.direction}'")
        return {"implementation": self._backend.add_sa(config)}

    def _open_path(self, message: dict[str, Any]) -> dict[str, Any]:
        return to_dict(self._backend.open_path(from_dict(PathConfig, message)))

    def _delete_sa(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"last": to_dict(self._backend.delete_sa(_get(message, "spi", int), _get(message, "direction", str)))}

    def _set_policy(self, message: dict[str, Any]) -> dict[str, Any]:
        self._backend.set_policy(
            _get(message, "spi", int), _get(message, "src", str, ""), _get(message, "dst", str, "")
        )
        return {}

    def _counters(self, message: dict[str, Any]) -> dict[str, Any]:
        first, most = _get(message, "first", int, 0), _get(message, "max", int, SAS_A_LINE)
        if first < 0 or most < 0:
            raise bad_request("'first' and 'max' are counts")
        return to_dict(self._backend.counters(first, most if _get(message, "sas", bool, True) else 0))

    def _health(self, message: dict[str, Any]) -> dict[str, Any]:
        self._backend.health()
        return {}

    def _close(self, message: dict[str, Any]) -> dict[str, Any]:
        self._closing = True
        self._backend.close()
        return {}

    def _write(self, answer: dict[str, object]) -> None:
        view = memoryview(encode_line(answer))
        while view:
            view = view[os.write(self._write_fd, view) :]


def _get(message: dict[str, Any], name: str, kind: type, default: object = None) -> Any:
    value = message.get(name, default)
    if type(value) is not kind:
        raise bad_request(f"'{name}' is missing or has a wrong type")
    return value


def _error(error: GwbenchError) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def run_node(make_backend: Callable[[], Backend], description: str, argv: Sequence[str] | None = None) -> int:
    """``main`` of a node process: enters its namespace, makes the backend, serves. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--netns-fd", type=int, help="inherited descriptor of the network namespace to run in")
    parser.add_argument("--parent", type=int, default=0, help="end when this process has ended")
    arguments = parser.parse_args(argv)
    try:
        install_signals(arguments.parent)
        if arguments.netns_fd is not None:
            enter_netns(arguments.netns_fd)
        harden()
        Server(make_backend()).serve()
    except Stop:
        return 0
    except (OSError, GwbenchError) as error:
        print(error.strerror if isinstance(error, OSError) else error, file=sys.stderr)
        return 2
    return 0
