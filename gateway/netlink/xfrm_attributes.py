"""Attributes of NETLINK_XFRM (linux/xfrm.h), each a pyroute2 ``nla``.

Keys go into a message and never come out again: a decoded algorithm has its name and lengths, and the key's bytes in
the buffer that was received are overwritten with zeros. Set :attr:`algorithm.keep_keys` where they are wanted.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pyroute2.netlink import nla

ADDRESS = "16s"
"""xfrm_address_t: four bytes of an IPv4 address and twelve of nothing, or an IPv6 address."""


def pack_address(value: str | bytes | None) -> bytes:
    """``"192.0.2.1"`` or ``"2001:db8::1"`` as xfrm_address_t; nothing is the unspecified address of either family."""
    if not value:
        return bytes(16)
    if isinstance(value, bytes):
        return value.ljust(16, b"\0")
    family = socket.AF_INET6 if ":" in value else socket.AF_INET
    return socket.inet_pton(family, value).ljust(16, b"\0")


def unpack_address(value: bytes, family: int) -> str:
    """The text of an xfrm_address_t. A family of 0 (any) is told from the bytes: twelve zeros end an IPv4 address."""
    if family == socket.AF_INET6 or (family == 0 and any(value[4:])):
        return socket.inet_ntop(socket.AF_INET6, value)
    return socket.inet_ntop(socket.AF_INET, value[:4])


def alignment_padding(size: int) -> int:
    """Bytes that the compiler adds to a struct of ``size`` bytes with a 64-bit member: up to 8, on i386 up to 4."""
    align = struct.calcsize("@BQ") - struct.calcsize("@Q")
    return -size % align


class algorithm(nla):
    """struct xfrm_algo: ``alg_name``, ``alg_key`` (bytes-like; its length in bits is ``alg_key_len``)."""

    keep_keys: ClassVar[bool] = False
    lengths: ClassVar[tuple[str, ...]] = ("alg_key_len",)

    def encode(self) -> None:
        value: Mapping[str, Any] = self.value if isinstance(self.value, Mapping) else self
        key = memoryview(value["alg_key"])
        head = value["alg_name"].encode("ascii").ljust(64, b"\0")
        numbers = {"alg_key_len": 8 * len(key), **{n: value[n] for n in self.lengths[1:]}}
        self.length = 4 + 64 + 4 * len(self.lengths) + len(key)
        self["header"]["length"] = self.length
        # Straight into the message: a field of pyroute2's would leave copies that nobody can wipe.
        self.data += struct.pack("HH", self.length, self["header"]["type"]) + head
        self.data += struct.pack(f"={len(self.lengths)}I", *(numbers[n] for n in self.lengths))
        self.data += key
        self.data += bytes(-self.length % 4)

    def decode(self) -> None:
        offset = self.offset + 4
        self.length = struct.unpack_from("=H", self.data, self.offset)[0]
        name = bytes(self.data[offset : offset + 64]).split(b"\0")[0].decode("ascii", "replace")
        numbers = struct.unpack_from(f"={len(self.lengths)}I", self.data, offset + 64)
        at, end = offset + 64 + 4 * len(self.lengths), self.offset + self.length
        value: dict[str, Any] = {"alg_name": name, **dict(zip(self.lengths, numbers, strict=True))}
        if self.keep_keys:
            value["alg_key"] = bytes(self.data[at : min(end, at + (numbers[0] + 7) // 8)])
        elif isinstance(self.data, bytearray):
            self.data[at:end] = bytes(end - at)
        self.setvalue(value)
        del self["header"], self["attrs"]
        self.decoded = True


class algorithm_auth(algorithm):
    """struct xfrm_algo_auth: with ``alg_trunc_len``, the ICV in bits. The kernel's own default for HMAC-SHA-256 is
    96 (a draft's), not RFC 4868's 128: always send it."""

    lengths = ("alg_key_len", "alg_trunc_len")


class algorithm_aead(algorithm):
    """struct xfrm_algo_aead: with ``alg_icv_len`` in bits. The key ends with the salt (RFC 4106, 7634)."""

    lengths = ("alg_key_len", "alg_icv_len")


class encap_tmpl(nla):
    """struct xfrm_encap_tmpl. ``encap_type`` 2 is ESP in UDP (RFC 3948), 7 ESP in TCP (RFC 8229)."""

    fields = (
        ("encap_type", "H"),
        ("encap_sport", ">H"),
        ("encap_dport", ">H"),
        ("__pad", "2x"),
        ("encap_oa", ADDRESS),
    )

    def encode(self) -> None:
        self["encap_oa"] = pack_address(self.get("encap_oa"))
        nla.encode(self)

    def decode(self) -> None:
        nla.decode(self)
        self["encap_oa"] = unpack_address(self["encap_oa"], 0)


class user_tmpl(nla):
    """One or more struct xfrm_user_tmpl in a row, a list of dicts: what a policy asks of the SAs."""

    layout = struct.Struct("=16sIB3xH2x16sIBBBxIII")
    ALL = 0xFFFFFFFF

    def encode(self) -> None:
        value: Sequence[Mapping[str, Any]] = self.value if isinstance(self.value, (list, tuple)) else ()
        self.length = 4 + self.layout.size * len(value)
        self["header"]["length"] = self.length
        self.data += struct.pack("HH", self.length, self["header"]["type"])
        for one in value:
            family = one.get("family") or (socket.AF_INET6 if ":" in str(one.get("daddr")) else socket.AF_INET)
            self.data += self.layout.pack(
                pack_address(one.get("daddr")),
                # A SPI is big-endian in the kernel's struct.
                int.from_bytes(struct.pack("!I", one.get("spi", 0)), _ORDER),
                one.get("proto", socket.IPPROTO_ESP),
                family,
                pack_address(one.get("saddr")),
                one.get("reqid", 0),
                one.get("mode", 1),
                one.get("share", 0),
                one.get("optional", 0),
                *(one.get(name, self.ALL) for name in ("aalgos", "ealgos", "calgos")),
            )

    def decode(self) -> None:
        self.length = struct.unpack_from("=H", self.data, self.offset)[0]
        found = []
        for at in range(self.offset + 4, self.offset + self.length - self.layout.size + 1, self.layout.size):
            daddr, spi, proto, family, saddr, reqid, mode, share, optional, aalgos, ealgos, calgos = (
                self.layout.unpack_from(self.data, at)
            )
            found.append(
                {
                    "daddr": unpack_address(daddr, family),
                    "saddr": unpack_address(saddr, family),
                    "spi": int.from_bytes(spi.to_bytes(4, _ORDER), "big"),
                    "proto": proto,
                    "family": family,
                    "reqid": reqid,
                    "mode": mode,
                    "share": share,
                    "optional": optional,
                    "aalgos": aalgos,
                    "ealgos": ealgos,
                    "calgos": calgos,
                }
            )
        self.setvalue(found)
        self.decoded = True


class lifetime_cur(nla):
    """struct xfrm_lifetime_cur."""

    fields = (("bytes", "Q"), ("packets", "Q"), ("add_time", "Q"), ("use_time", "Q"))


class replay_state(nla):
    """struct xfrm_replay_state: 32-bit sequence numbers, a window of 32 packets."""

    fields = (("oseq", "I"), ("seq", "I"), ("bitmap", "I"))


class replay_state_esn(nla):
    """struct xfrm_replay_state_esn: 64-bit sequence numbers, or a window above 32 packets (at most 4096).

    ``bmp`` is the window's bitmap, a list of 32-bit words; it may be left out, ``bmp_len`` says how many there would be
    (by default what ``replay_window`` needs) and the kernel begins with an empty window.
    """

    layout = struct.Struct("=6I")
    names = ("oseq", "seq", "oseq_hi", "seq_hi", "replay_window")

    def encode(self) -> None:
        value: Mapping[str, Any] = self.value if isinstance(self.value, Mapping) else self
        bmp = value.get("bmp") or []
        words = len(bmp) or value.get("bmp_len") or (value.get("replay_window", 0) + 31) // 32
        self.length = 4 + self.layout.size + 4 * len(bmp)
        self["header"]["length"] = self.length
        self.data += struct.pack("HH", self.length, self["header"]["type"])
        self.data += self.layout.pack(words, *(value.get(name, 0) for name in self.names))
        self.data += struct.pack(f"={len(bmp)}I", *bmp)

    def decode(self) -> None:
        self.length = struct.unpack_from("=H", self.data, self.offset)[0]
        words, *numbers = self.layout.unpack_from(self.data, self.offset + 4)
        there = min(words, (self.length - 4 - self.layout.size) // 4)
        bmp = struct.unpack_from(f"={there}I", self.data, self.offset + 4 + self.layout.size)
        self.setvalue({**dict(zip(self.names, numbers, strict=True)), "bmp_len": words, "bmp": list(bmp)})
        del self["header"], self["attrs"]
        self.decoded = True


class mark(nla):
    """struct xfrm_mark: value and mask."""

    fields = (("v", "I"), ("m", "I"))


class policy_type(nla):
    """struct xfrm_userpolicy_type: 0 main, 1 sub."""

    fields = (("type", "B"), ("__pad", "5x"))


class user_offload(nla):
    """struct xfrm_user_offload. Flags: 1 IPv6, 2 inbound, 4 packet (whole ESP in the card) instead of crypto only."""

    fields = (("ifindex", "i"), ("flags", "B"), ("__pad", "3x"))


class address(nla):
    """xfrm_address_t by itself."""

    fields = (("value", ADDRESS),)

    def encode(self) -> None:
        self.setvalue(pack_address(self.getvalue()))
        nla.encode(self)

    def decode(self) -> None:
        nla.decode(self)
        self.setvalue(unpack_address(self.getvalue(), 0))


class address_filter(nla):
    """struct xfrm_address_filter: which SAs a dump lists."""

    fields = (("saddr", ADDRESS), ("daddr", ADDRESS), ("family", "H"), ("splen", "B"), ("dplen", "B"))

    def encode(self) -> None:
        for name in ("saddr", "daddr"):
            self[name] = pack_address(self.get(name))
        nla.encode(self)


_ORDER: Any = "little" if struct.pack("=H", 1)[0] else "big"
