"""What the ESP tests share: fresh SA pairs, packets of any length, and which implementations run here."""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import struct
from dataclasses import dataclass, replace
from typing import Any

import dataplane as dp

SPI = 0x1001


def key_bytes(label: str, n: int) -> bytes:
    """Reproducible key material: a failing test fails again."""
    return hashlib.shake_128(label.encode()).digest(n)


def sa_params(suite: str, direction: str, **changes: Any) -> dp.SaParams:
    s = dp.find_suite(suite)
    params = dp.SaParams(
        spi=SPI,
        suite=suite,
        direction=direction,
        enc_key=key_bytes("enc", s.enc_key_bytes),
        auth_key=key_bytes("auth", s.auth_key_bytes),
        salt=key_bytes("salt", s.salt_bytes),
        esn=False,
    )
    return replace(params, **changes)


@dataclass
class Pair:
    """Sender and receiver with the same keys."""

    out: dp.Sa
    into: dp.Sa


def pair(suite: str, *, out: dict[str, Any] | None = None, into: dict[str, Any] | None = None, **both: Any) -> Pair:
    return Pair(
        dp.Sa(sa_params(suite, "out", **both, **(out or {}))), dp.Sa(sa_params(suite, "in", **both, **(into or {})))
    )


@functools.cache
def runnable_suites() -> tuple[str, ...]:
    """Suites that this build and machine can run, bench-only ones left out."""
    found = []
    for suite in dp.suites():
        if suite.bench_only:
            continue
        try:
            dp.resolve(suite.name)
        except dp.DataplaneError:
            continue
        found.append(suite.name)
    return tuple(found)


@functools.cache
def wishes(suite: str) -> tuple[str, ...]:
    """Every tag under which this suite runs here: one for each family of implementations."""
    s = dp.find_suite(suite)
    algs = {s.enc_alg, s.auth_alg, f"authenc({s.auth_alg},{s.enc_alg})"}
    tags = dict.fromkeys(i.tag for i in dp.implementations() if i.alg in algs)
    found = []
    for tag in tags:
        try:
            dp.resolve(suite, tag)
        except dp.DataplaneError:
            continue
        found.append(tag)
    return tuple(found)


def suite_and_wish() -> list[tuple[str, str]]:
    return [(suite, wish) for suite in runnable_suites() for wish in wishes(suite)]


def checksum(data: bytes) -> int:
    """RFC 1071, straight from its text."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def payload(n: int, seed: int = 0) -> bytes:
    return hashlib.shake_128(f"payload {seed}".encode()).digest(n) if n else b""


def ipv4(
    data: bytes, *, src: str = "10.1.0.1", dst: str = "10.2.0.1", proto: int = 253, tos: int = 0, flags: int = 0
) -> bytes:
    """An IPv4 packet with right length and header checksum; 253 is for experiments (RFC 3692)."""
    head = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        tos,
        20 + len(data),
        1,
        flags,
        64,
        proto,
        0,
        ipaddress.ip_address(src).packed,
        ipaddress.ip_address(dst).packed,
    )
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + data


def ipv6(data: bytes, *, src: str = "fd00:1::1", dst: str = "fd00:2::1", proto: int = 253, tos: int = 0) -> bytes:
    head = struct.pack("!IHBB", 6 << 28 | tos << 20, len(data), proto, 64)
    return head + ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + data


def ip(version: int, data: bytes, **fields: Any) -> bytes:
    return ipv4(data, **fields) if version == 4 else ipv6(data, **fields)


def udp(sport: int, dport: int, data: bytes = b"x") -> bytes:
    """A UDP datagram without checksum."""
    return struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data


def statuses(results: list[dp.Opened] | list[dp.Sealed]) -> list[str]:
    return [r.status for r in results]


def seal_one(sa: dp.Sa, packet: bytes, **how: Any) -> bytes:
    (sealed,) = sa.seal([packet], **how)
    assert sealed.status == "ok", sealed.status
    return sealed.esp


def open_one(sa: dp.Sa, esp: bytes, **how: Any) -> dp.Opened:
    return sa.open([esp], **how)[0]


def flip(data: bytes, at: int, bit: int = 1) -> bytes:
    changed = bytearray(data)
    changed[at] ^= bit
    return bytes(changed)
