"""IPv4 fragmentation before sealing: exact arithmetic, against a receiver written from RFC 791, and on the wire."""

from __future__ import annotations

import os
import random
import socket

import pytest

import dataplane as dp
from dataplane._native import ffi, lib
from tests.loop_support import INNER, OUTER, OUTER6, SPIS, echo, set_mtu, transfer, tunnel
from tests.packet_support import ipv4

EINVAL, ENOSPC = -22, -28
MORE, OFFSETS = 0x2000, 0x1FFF
RECORD_ROUTE, SECURITY = b"\x07\x07\x04\0\0\0\0", b"\x82\x0b" + bytes(range(9))
"""Options: copied into the first fragment only, and into all (RFC 791 3.1)."""


def cut(packet: bytes, mtu: int, room: int = 600_000, most: int = 9000) -> list[bytes] | int:
    out, lens = ffi.new("uint8_t[]", room), ffi.new("uint32_t[]", most)
    n = int(lib.gw_fragment_flat(packet, len(packet), mtu, out, room, lens, most))
    if n < 0:
        return n
    data, at, found = ffi.buffer(out), 0, []
    for i in range(n):
        found.append(data[at : at + lens[i]])
        at += lens[i]
    return found


def checksum(header: bytes) -> int:
    return int(lib.gw_checksum(header, len(header), 0))


def joined(fragments: list[bytes]) -> tuple[bytes, int, int]:
    """(payload, offset of its beginning, MF at its end); every rule for a fragment is asserted on the way."""
    payload, begin, field = b"", 0, 0
    for i, fragment in enumerate(fragments):
        ihl = (fragment[0] & 15) * 4
        field = int.from_bytes(fragment[6:8], "big")
        assert int.from_bytes(fragment[2:4], "big") == len(fragment)
        assert checksum(fragment[:ihl]) in (0, 0xFFFF)
        begin = begin if i else field & OFFSETS
        assert (field & OFFSETS) == begin + len(payload) // 8
        if i + 1 < len(fragments):
            assert field & MORE and (len(fragment) - ihl) % 8 == 0
        payload += fragment[ihl:]
    return payload, begin, field & MORE


def with_options(packet: bytes, options: bytes) -> bytes:
    options += bytes(-len(options) % 4)
    header = bytearray(packet[:20] + options)
    header[0] = 0x40 | len(header) // 4
    header[2:4] = (len(packet) + len(options)).to_bytes(2, "big")
    header[10:12] = b"\0\0"
    return bytes(header) + packet[20:]


@pytest.mark.parametrize("seed", range(12))
def test_what_was_cut_joins_again(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        payload = rng.randbytes(rng.choice([rng.randrange(1, 300), rng.randrange(1, 9000), 65515 - 40]))
        options = rng.choice([b"", b"", RECORD_ROUTE, SECURITY, RECORD_ROUTE + b"\x01" + SECURITY])
        packet = bytearray(with_options(ipv4(17, payload), options))
        packet[6:8] = rng.choice([0, 0, 64, MORE | 100]).to_bytes(2, "big")  # a fragment may be cut again
        if packet[6] & 0x20:
            packet = packet[: len(packet) - (len(payload) % 8)]
            packet[2:4] = len(packet).to_bytes(2, "big")
        ihl = (packet[0] & 15) * 4
        if len(packet) == ihl:
            continue
        field = int.from_bytes(packet[6:8], "big")
        mtu = rng.choice([ihl + 8, 68 + ihl, 576, 1280, 1438, rng.randrange(ihl + 8, 9000)])
        fragments = cut(bytes(packet), mtu)
        if isinstance(fragments, int):
            assert fragments == EINVAL and (field & OFFSETS) * 8 + len(packet) - ihl > 65535
            continue
        assert joined(fragments) == (bytes(packet[ihl:]), field & OFFSETS, field & MORE)
        assert all(len(f) <= mtu for f in fragments)
        # As few as there can be: each but the last is as long as whole eights of payload allow.
        later = (fragments[-1][0] & 15) * 4
        for f, head in [(fragments[0], ihl), *((f, later) for f in fragments[1:])][: len(fragments) - 1]:
            assert len(f) == head + (mtu - head) // 8 * 8
        assert all(f[1] == packet[1] and f[4:6] == packet[4:6] and f[8:10] == packet[8:10] for f in fragments)
        assert all(f[12:20] == packet[12:20] for f in fragments)
        if len(fragments) > 1 and options:
            assert (SECURITY in fragments[1][20:later]) == (SECURITY in options)
            assert RECORD_ROUTE not in fragments[1][20:later]


@pytest.mark.parametrize(
    ("packet", "mtu"),
    [(b"", 1500), (bytes(19), 1500), (b"\x60" + bytes(99), 50), (b"\x44" + bytes(99), 50), (ipv4(17, bytes(99)), 27)],
)
def test_what_cannot_be_cut(packet: bytes, mtu: int) -> None:
    assert cut(packet, mtu) == EINVAL


def test_room_is_kept_to() -> None:
    packet = ipv4(17, bytes(1000))
    assert cut(packet, 576, most=1) == ENOSPC
    assert cut(packet, 576, room=1019) == ENOSPC


def outer_packets(tap: socket.socket) -> list[bytes]:
    tap.settimeout(0.3)
    found = []
    try:
        while True:
            packet = tap.recv(70000)
            if packet[6] in (17, 44) if packet[0] >> 4 == 6 else packet[9] == 17:
                found.append(packet)
    except TimeoutError:
        return found


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)
@pytest.mark.parametrize("outer", [OUTER, OUTER6])
@pytest.mark.parametrize("fragment", ["before", "after"])
def test_on_the_wire(outer: tuple[str, str], fragment: str) -> None:
    """A TUN as wide as the line: what is cut before sealing leaves no fragment on the line, and fills it exactly."""
    v6 = outer is OUTER6
    # Without UDP offloads the tap sees every packet as it is.
    offload = ("tun-tso", "tun-coalesce")
    with tunnel(outer=outer, mtu=1500, fragment=fragment, offload=offload) as ends:
        with (
            ends[1].socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap,
            ends[0].socket(socket.AF_INET, socket.SOCK_DGRAM) as here,
            ends[1].socket(socket.AF_INET, socket.SOCK_DGRAM) as there,
        ):
            tap.bind(("wan", 0x86DD if v6 else 0x0800))
            here.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_PMTUDISC_DONT
            there.bind((INNER[1], 7))
            for size in (1472, 1420, 100):
                here.sendto(b"x" * size, (INNER[1], 7))
                assert there.recv(70000) == b"x" * size
            packets = outer_packets(tap)
        whole = [p for p in packets if (p[6] == 17 if v6 else int.from_bytes(p[6:8], "big") & 0x3FFF == 0)]
        room = dp.inner_mtu("aes128gcm16", 1500, outer_af=6 if v6 else 4)
        first = 20 + (room - 20) // 8 * 8
        lengths = [dp.wire_len("aes128gcm16", n, outer_af=6 if v6 else 4) for n in (first, 1500 - first + 20)]
        sealed = next(c for c in ends[0].path.sa_counters() if c.spi == SPIS[0])
        if fragment == "before":
            assert len(whole) == len(packets), "no fragment on the line"
            assert [len(p) for p in packets[:2]] == lengths and max(map(len, packets)) <= 1500
            assert sealed.packets == 5, "two packets of 1500 and 1448 bytes in two pieces each, and a small one"
        else:
            assert len(packets) > len(whole) and sealed.packets == 3
        assert sealed.drops == {}


@pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)
def test_a_line_that_narrows_and_super_packets_that_are_cut() -> None:
    """TCP without path MTU discovery: 64 KB at a time, every segment of it too long for the line."""
    with tunnel(mtu=1500, fragment="before", clamp_mss=False) as ends:
        for end in ends:
            end.namespace.write_sysctl("net/ipv4/ip_no_pmtu_disc", "1")
            set_mtu(end, "wan", 1400)
        transfer(ends, socket.AF_INET, random.Random(1).randbytes(300_000))
        out = next(c for c in ends[0].path.sa_counters() if c.spi == SPIS[0])
        assert out.drops == {} and out.packets > 2 * 300_000 // 1460
        assert ends[0].counters()["udp_send_too_big"] == 0
        assert ends[0].counters()["tun_read_gso"] > 0
        echo(ends, socket.AF_INET, bytes(1472))
