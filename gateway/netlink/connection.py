"""A synchronous netlink socket for one thread: requests, dumps, events. Buffers that may hold keys are wiped."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import Any

NLM_F_REQUEST, NLM_F_ACK = 0x1, 0x4
NLM_F_DUMP = 0x300
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP = 270, 1


class Connection:
    """``messages``: class by message type, to decode answers with. OSError when the kernel has no such family."""

    def __init__(self, family: int, messages: Mapping[int, Any], timeout_s: float = 15.0) -> None:
        self._messages = messages
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, family)
        self._socket.bind((0, 0))  # events reach bound sockets only
        self._socket.settimeout(timeout_s)
        self._sequence = 0
        self._buffer = bytearray(1 << 17)

    def close(self) -> None:
        """Safe twice."""
        self._socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def join(self, group: int) -> None:
        """Events of the multicast group arrive from now on: see :meth:`event`."""
        self._socket.setsockopt(_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP, group)

    def request(self, message: Any, kind: int, flags: int = NLM_F_ACK) -> list[Any]:
        """Sends, and returns decoded answers up to the acknowledgement or the end of a dump. OSError: refused."""
        return list(self._answers(message, kind, flags))

    def _answers(self, message: Any, kind: int, flags: int) -> Iterator[Any]:
        self._sequence = (self._sequence + 1) & 0xFFFFFFFF
        message["header"] |= {"type": kind, "flags": NLM_F_REQUEST | flags, "sequence_number": self._sequence}
        message.encode()
        try:
            self._socket.send(message.data)
        finally:
            message.data[:] = bytes(len(message.data))
        while True:
            for one_kind, data in self._receive(self._sequence):
                if one_kind == _NLMSG_DONE:
                    return
                if one_kind == _NLMSG_ERROR:
                    number = -struct.unpack_from("=i", data, _HEADER.size)[0]
                    if number:
                        raise OSError(number, os.strerror(number))
                    return
                yield self._decode(one_kind, data)
                if not flags & (NLM_F_ACK | NLM_F_DUMP):
                    return

    def event(self) -> tuple[int, Any] | None:
        """The next event: its type and message; None when none came within the timeout."""
        try:
            for kind, data in self._receive(None):
                return kind, self._decode(kind, data)
        except (TimeoutError, BlockingIOError):
            return None
        return None

    def _receive(self, sequence: int | None) -> Iterator[tuple[int, bytearray]]:
        n = self._socket.recv_into(self._buffer)
        at = 0
        try:
            while n - at >= _HEADER.size:
                length, kind, _, number, _ = _HEADER.unpack_from(self._buffer, at)
                if length < _HEADER.size or at + length > n:
                    raise OSError(0, "the kernel's answer is cut off")
                if sequence is None or number == sequence:
                    yield kind, self._buffer[at : at + length]
                at += (length + 3) & ~3
        finally:
            self._buffer[:n] = bytes(n)

    def _decode(self, kind: int, data: bytearray) -> Any:
        message = self._messages[kind](data)
        message.decode()
        return message
