"""The kernel's side of NETLINK_XFRM, by hand (linux/xfrm.h, 64-bit little-endian): what an SA dump and its events look
like, keys included. A test plays the kernel on one end of a socket pair; the reader has the other."""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading
from dataclasses import dataclass, field

NEWSA, DELSA, GETSA, EXPIRE = 0x10, 0x11, 0x12, 0x18
NLMSG_ERROR, NLMSG_DONE, NLM_F_MULTI = 2, 3, 2
ALG_AUTH, ALG_CRYPT, ENCAP, REPLAY_VAL, SA, AEAD, AUTH_TRUNC, REPLAY_ESN, IF_ID, SA_DIR = (
    1,
    2,
    4,
    10,
    6,
    18,
    20,
    23,
    31,
    33,
)
ENC_KEY, AUTH_KEY = b"ENCRYPTIONKEY-32-BYTES-LONG-....", b"AUTHENTICATIONKEY-32-BYTES-LONG."
FOREVER = (1 << 64) - 1


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


@dataclass
class FakeSa:
    """One SA of the fake kernel."""

    spi: int
    src: str
    dst: str
    direction: int = 0
    """XFRMA_SA_DIR: 1 in, 2 out, 0 not told."""
    reqid: int = 1
    packets: int = 0
    bytes: int = 0
    below_window: int = 0
    replayed: int = 0
    failed: int = 0
    add_s: int = 1_000_000
    hard_s: int = 0
    oseq: int = 0
    seq: int = 0
    esn: bool = True
    aead: bool = False
    keys: tuple[bytes, bytes] = field(default=(ENC_KEY, AUTH_KEY))

    def info(self) -> bytes:
        """struct xfrm_usersa_info."""
        family = socket.AF_INET6 if ":" in self.dst else socket.AF_INET
        dst, src = (ipaddress.ip_address(a).packed.ljust(16, b"\0") for a in (self.dst, self.src))
        limits = struct.pack("=8Q", FOREVER, FOREVER, FOREVER, FOREVER, 0, self.hard_s, 0, 0)
        current = struct.pack("=4Q", self.bytes, self.packets, self.add_s, 0)
        stats = struct.pack("=3I", self.below_window, self.replayed, self.failed)
        rest = struct.pack("=IIHBBB7x", 0, self.reqid, family, 1, 0, 128 if self.esn else 0)
        made = bytes(56) + dst + struct.pack("!IB3x", self.spi, 50) + src + limits + current + stats + rest
        assert len(made) == 224
        return made

    def attributes(self) -> bytes:
        enc, auth = self.keys
        if self.aead:
            made = attribute(
                AEAD, b"rfc4106(gcm(aes))".ljust(64, b"\0") + struct.pack("=II", len(enc[:20]) * 8, 128) + enc[:20]
            )
        else:
            made = attribute(ALG_CRYPT, b"cbc(aes)".ljust(64, b"\0") + struct.pack("=I", len(enc) * 8) + enc)
            name = b"hmac(sha256)".ljust(64, b"\0")
            made += attribute(ALG_AUTH, name + struct.pack("=I", len(auth) * 8) + auth)
            made += attribute(AUTH_TRUNC, name + struct.pack("=II", len(auth) * 8, 128) + auth)
        if self.esn:
            low = 0xFFFFFFFF
            esn = (2, self.oseq & low, self.seq & low, self.oseq >> 32, self.seq >> 32, 64)
            made += attribute(REPLAY_ESN, struct.pack("=6I", *esn) + bytes(8))
        else:
            made += attribute(REPLAY_VAL, struct.pack("=3I", self.oseq, self.seq, 0))
        if self.direction:
            made += attribute(SA_DIR, bytes([self.direction]))
        return made + attribute(99, b"an attribute of a future kernel: " + enc)


def message(kind: int, flags: int, sequence: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, flags, sequence, 0) + body + bytes(-len(body) % 4)


class FakeKernel:
    """Answers dumps on a socket pair; sends events when SAs are removed."""

    def __init__(self) -> None:
        self.ours, self.readers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sas: list[FakeSa] = []
        self.refuse = 0
        """An errno: dumps are refused with it."""
        self._lock = threading.Lock()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while data := self.ours.recv(4096):
            _, kind, _, sequence, _ = struct.unpack_from("=IHHII", data)
            assert kind == GETSA
            if self.refuse:
                self.ours.send(message(NLMSG_ERROR, 0, sequence, struct.pack("=i", -self.refuse) + data))
                continue
            with self._lock:
                parts = [message(NEWSA, NLM_F_MULTI, sequence, sa.info() + sa.attributes()) for sa in self.sas]
            for first in range(0, len(parts), 8):
                self.ours.send(b"".join(parts[first : first + 8]))
            self.ours.send(message(NLMSG_DONE, NLM_F_MULTI, sequence, bytes(4)))

    def remove(self, sa: FakeSa, *, expired: bool = False) -> None:
        """As ``ip xfrm state delete``, or a hard limit, does: with the SA's last counters."""
        with self._lock:
            self.sas.remove(sa)
        if expired:
            self.ours.send(message(EXPIRE, 0, 0, sa.info() + struct.pack("=B7x", 1) + sa.attributes()))
            return
        family = socket.AF_INET6 if ":" in sa.dst else socket.AF_INET
        identity = ipaddress.ip_address(sa.dst).packed.ljust(16, b"\0")
        identity += struct.pack("!I", sa.spi) + struct.pack("=HBx", family, 50)
        self.ours.send(message(DELSA, 0, 0, identity + attribute(SA, sa.info()) + sa.attributes()))

    def close(self) -> None:
        self.ours.close()
        self.readers.close()
