"""What every module here starts from: the extension, errors, initialisation, strings and addresses."""

from __future__ import annotations

import functools
import ipaddress
import os
from typing import Any

try:
    from dataplane._gwdp import ffi as ffi
    from dataplane._gwdp import lib as lib
except ImportError as error:  # pragma: no cover - says what to do instead of a traceback's last line
    raise ImportError(f"the C extension dataplane._gwdp is not built ({error}); run `make build`") from error

Buffer = bytes | bytearray | memoryview


class DataplaneError(Exception):
    """One line from the dataplane; ``errno`` is positive, 0 when the C side gave none."""

    def __init__(self, message: str, errno: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.errno = errno


def new_err() -> Any:
    """An empty gw_err."""
    return ffi.new("gw_err *")


def fail(err: Any, result: int, what: str) -> DataplaneError:
    """The exception for a negative ``result``; the line in ``err`` wins over ``what`` with errno's text."""
    line = text(err.text) if err is not None else ""
    number = -result if result < 0 else 0
    if not line:
        line = f"{what}: {os.strerror(number)}" if number else what
    return DataplaneError(line, number)


def check(result: int, err: Any, what: str) -> int:
    """Returns ``result`` when it is not negative, raises otherwise."""
    if result < 0:
        raise fail(err, result, what)
    return result


def text(pointer: Any) -> str:
    """A C string; empty for NULL."""
    if pointer == ffi.NULL:
        return ""
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def buffer(data: Buffer) -> Any:
    """A ``uint8_t *`` into ``data`` itself: nothing is copied, so nothing but the caller's object needs wiping."""
    return ffi.from_buffer("uint8_t[]", data)


@functools.cache
def init() -> int:
    """Detects the CPU and runs every implementation's known answers, once a process.

    Returns how many implementations failed and were taken out of selection (0 is good).
    ``GWBENCH_CPU_DISABLE`` (comma list of feature names) hides features of this CPU.
    """
    err = new_err()
    return check(int(lib.gw_init(err)), err, "the dataplane cannot start")


def version() -> str:
    """Version of the C dataplane."""
    return text(lib.gw_version())


def cpu_features() -> tuple[str, ...]:
    """CPU features in force, e.g. ``("aesni", "pclmul", ...)``."""
    init()
    return tuple(text(lib.gw_cpu_features()).split())


def set_addr(target: Any, address: str, port: int = 0, prefix: int | None = None) -> None:
    """Writes an address (IPv4 or IPv6, optionally ``/prefix``) into a gw_addr; the empty string unsets it."""
    target.family = 0
    target.prefix = 0
    target.port = port
    ffi.memmove(target.bytes, bytes(16), 16)
    if not address:
        return
    interface = ipaddress.ip_interface(address)
    target.family = interface.version
    target.prefix = interface.network.prefixlen if prefix is None else prefix
    packed = interface.ip.packed
    ffi.memmove(target.bytes, packed, len(packed))


def get_addr(source: Any) -> tuple[str, int]:
    """``(address, port)`` of a gw_addr; the address is empty when unset."""
    family = int(source.family)
    if family == 0:
        return "", int(source.port)
    raw = bytes(ffi.buffer(source.bytes, 4 if family == 4 else 16))
    return str(ipaddress.ip_address(raw)), int(source.port)
