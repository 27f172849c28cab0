"""NETLINK_XFRM as far as these tests read it: SAs' counters and flushing, without starting a process for it.

Layouts: linux/xfrm.h, 64-bit little-endian (the virtual machine's).
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator

from gateway.lab.namespaces import NetworkNamespace

NETLINK_XFRM = 6
GETSA, FLUSHSA, FLUSHPOLICY = 0x12, 0x1C, 0x1D
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 0x1, 0x4, 0x300
HEADER = struct.Struct("=IHHII")
# struct xfrm_usersa_info: selector 56, id (destination 16, SPI), source 16, limits 64, current, statistics.
SPI_AT = 16 + HEADER.size + 56
CURRENT_AT = HEADER.size + 56 + 24 + 16 + 64
CURRENT = struct.Struct("=QQQQIII")


class XfrmSocket:
    """A socket of one namespace."""

    def __init__(self, space: NetworkNamespace) -> None:
        with space.entered():
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_XFRM)
        self._socket.settimeout(60)
        self._sequence = 0

    def close(self) -> None:
        self._socket.close()

    def _answers(self, kind: int, flags: int, body: bytes = b"") -> Iterator[bytes]:
        """Messages up to the acknowledgement or the end of the dump; OSError for a refusal."""
        self._sequence += 1
        self._socket.send(HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | flags, self._sequence, 0) + body)
        while True:
            data = self._socket.recv(1 << 17)
            while len(data) >= HEADER.size:
                length, kind, _, sequence, _ = HEADER.unpack_from(data)
                message, data = data[:length], data[(length + 3) & ~3 :]
                if sequence != self._sequence:
                    continue
                if kind == NLMSG_DONE:
                    return
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", message, HEADER.size)[0]
                    if code:
                        raise OSError(code, errno.errorcode.get(code, "netlink"))
                    return
                yield message

    def flush(self) -> None:
        """Removes every SA and policy."""
        for kind, body in ((FLUSHSA, bytes(4)), (FLUSHPOLICY, b"")):
            for _ in self._answers(kind, NLM_F_ACK, body):
                pass

    def sa_counters(self) -> dict[int, dict[str, int]]:
        """By SPI. ``bytes`` are inner bytes, as ours are."""
        found = {}
        for message in self._answers(GETSA, NLM_F_DUMP):
            size, packets, _, _, window, replayed, failed = CURRENT.unpack_from(message, CURRENT_AT)
            found[struct.unpack_from("!I", message, SPI_AT)[0]] = {
                "packets": packets,
                "bytes": size,
                "outside_window": window,
                "replayed": replayed,
                "failed": failed,
            }
        return found
