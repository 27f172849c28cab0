"""ICMP and ICMPv6 "too big": form checked by scapy, and the packets that are never answered (RFC 1122, RFC 4443)."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from esp_internals import load
from esp_support import checksum, ipv4, ipv6, payload, udp

ffi, lib = load()
inet = pytest.importorskip("scapy.layers.inet")
inet6 = pytest.importorskip("scapy.layers.inet6")


def too_big(packet: bytes, mtu: int = 1400, sender: str = "", cap: int = 2000) -> bytes:
    address = ffi.new("gw_addr *")
    if sender:
        parsed = ipaddress.ip_address(sender)
        address.family = parsed.version
        ffi.memmove(address.bytes, parsed.packed, len(parsed.packed))
    out = ffi.new("uint8_t[]", b"\xa5" * (cap + 16))
    length = lib.gw_icmp_too_big(packet, len(packet), mtu, address if sender else ffi.NULL, out, cap)
    assert bytes(ffi.buffer(out + length, 16)) == b"\xa5" * 16
    return bytes(ffi.buffer(out, length))


@pytest.mark.parametrize("n", [0, 1, 8, 527, 528, 529, 1460])
def test_v4(n: int) -> None:
    packet = ipv4(payload(n), proto=17)
    answer = too_big(packet, 1399, "192.0.2.9")
    parsed = inet.IP(answer)
    assert (parsed.src, parsed.dst, parsed.proto, parsed.len) == ("192.0.2.9", "10.1.0.1", 1, len(answer))
    assert (parsed[inet.ICMP].type, parsed[inet.ICMP].code, parsed[inet.ICMP].nexthopmtu) == (3, 4, 1399)
    assert answer[28:] == packet[: 576 - 28]
    assert checksum(answer[:20]) == 0 and checksum(answer[20:]) == 0


@pytest.mark.parametrize("n", [0, 1, 8, 1191, 1192, 1193, 1440])
def test_v6(n: int) -> None:
    packet = ipv6(payload(n), proto=17)
    answer = too_big(packet, 1399, "fd00:9::9")
    parsed = inet6.IPv6(answer)
    assert (parsed.src, parsed.dst, parsed.nh, parsed.plen) == ("fd00:9::9", "fd00:1::1", 58, len(answer) - 40)
    assert (parsed[inet6.ICMPv6PacketTooBig].code, parsed[inet6.ICMPv6PacketTooBig].mtu) == (0, 1399)
    assert answer[48:] == packet[: 1280 - 48]
    pseudo = answer[8:40] + (len(answer) - 40).to_bytes(4, "big") + bytes([0, 0, 0, 58])
    assert checksum(pseudo + answer[40:]) == 0


def test_without_an_address_of_its_own_it_speaks_for_the_destination() -> None:
    assert inet.IP(too_big(ipv4(b"x"))).src == "10.2.0.1"
    assert inet6.IPv6(too_big(ipv6(b"x"))).src == "fd00:2::1"
    assert inet6.IPv6(too_big(ipv6(b"x"), sender="192.0.2.1")).src == "fd00:2::1"


def icmp(kind: int) -> bytes:
    return bytes([kind, 0]) + bytes(6)


V6_EXTENSION = bytes([58, 0]) + bytes(6)
SILENT: list[Any] = [
    b"",
    b"\x45" + bytes(10),
    b"\x60" + bytes(38),
    ipv4(b"x", src="0.0.0.0"),
    ipv4(b"x", src="224.0.0.1"),
    ipv4(b"x", src="127.0.0.1"),
    ipv4(b"x", dst="239.1.1.1"),
    ipv4(b"x", dst="255.255.255.255"),
    ipv4(b"x" * 20, flags=3),  # a later fragment
    *(ipv4(icmp(kind), proto=1) for kind in (3, 4, 5, 11, 12)),
    ipv4(b"", proto=1),
    ipv6(b"x", src="::"),
    ipv6(b"x", src="ff02::1"),
    ipv6(b"x", dst="ff02::1"),  # no unicast address to answer from
    *(ipv6(icmp(kind), proto=58) for kind in (1, 2, 3, 4)),
    ipv6(V6_EXTENSION + icmp(2), proto=0),
    ipv6(b"", proto=58),
]


@pytest.mark.parametrize("packet", SILENT, ids=range(len(SILENT)))
def test_never_answered(packet: bytes) -> None:
    assert too_big(packet) == b""


@pytest.mark.parametrize(
    "packet",
    [
        ipv4(icmp(8), proto=1),
        ipv4(icmp(0), proto=1),
        ipv6(icmp(128), proto=58),
        ipv6(V6_EXTENSION + icmp(129), proto=0),
        ipv4(udp(1, 2), proto=17, flags=0x2000),  # a first fragment
    ],
)
def test_answered(packet: bytes) -> None:
    assert too_big(packet)


def test_multicast_v6_is_answered_from_our_own_address() -> None:
    assert inet6.IPv6(too_big(ipv6(b"x", dst="ff0e::1"), sender="fd00:9::9")).src == "fd00:9::9"


def test_no_room() -> None:
    assert too_big(ipv4(payload(100)), cap=100) == b""
    assert too_big(ipv6(payload(100)), cap=100) == b""
