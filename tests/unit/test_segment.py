"""TUN reads -> wire packets, against a segmenter in plain Python and against hostile headers."""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataplane import DataplaneError
from dataplane.packets import segment
from tests.packet_support import (
    ACK,
    CWR,
    ECE,
    FIN,
    GSO_ECN,
    GSO_TCPV4,
    GSO_TCPV6,
    GSO_UDP_L4,
    NEEDS_CSUM,
    PSH,
    TCP,
    UDP,
    Tcp,
    checksums_right,
    complete,
    ipv4,
    ipv6,
    partial,
    segment_by_the_book,
    vnet,
)

OPTIONS = st.integers(0, 10).map(lambda n: bytes(range(1, 1 + 4 * n)))


def super_packet(packet: Tcp, size: int, hdr_len: int = 0, ecn: bool = False) -> bytes:
    built = partial(packet.build(), TCP, 16)
    start = 40 if packet.v6 else 20
    kind = (GSO_TCPV6 if packet.v6 else GSO_TCPV4) | (GSO_ECN if ecn else 0)
    return vnet(NEEDS_CSUM, kind, hdr_len, size, start, 16) + built


@given(
    st.booleans(),
    st.integers(1, 9000),
    st.integers(1, 2000),
    st.sampled_from([ACK, ACK | PSH, ACK | FIN, ACK | FIN | PSH, ACK | CWR, ACK | CWR | PSH | ECE]),
    OPTIONS,
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 0xFFFF),
    st.integers(0, 200),
    st.booleans(),
)
def test_tcp(
    v6: bool, payload: int, size: int, flags: int, options: bytes, seq: int, ident: int, hint: int, df: bool
) -> None:
    data = bytes(i * 7 & 0xFF for i in range(payload))
    packet = Tcp(v6=v6, payload=data, flags=flags, options=options, seq=seq, ident=ident, df=df, tos=3, flow=0xABCDE)
    write = super_packet(packet, size, hint, bool(flags & CWR))
    got = segment(write)
    assert got == segment_by_the_book(write)
    assert all(checksums_right(p) for p in got)


def test_65536_bytes_of_the_smallest_segments() -> None:
    packet = Tcp(payload=bytes(8000), options=b"")
    assert len(segment(super_packet(packet, 1))) == 8000


@given(st.booleans(), st.binary(min_size=1, max_size=4000), st.integers(1, 1500))
def test_udp(v6: bool, payload: bytes, size: int) -> None:
    body = struct.pack(">HHHH", 1000, 2000, 8 + len(payload), 0) + payload
    packet = ipv6(UDP, body) if v6 else ipv4(UDP, body, ident=9)
    start = 40 if v6 else 20
    got = segment(vnet(NEEDS_CSUM, GSO_UDP_L4, 0, size, start, 6) + partial(packet, UDP, 6))
    assert b"".join(p[start + 8 :] for p in got) == payload
    assert all(len(p) == start + 8 + size for p in got[:-1])
    for i, p in enumerate(got):
        assert int.from_bytes(p[start + 4 : start + 6], "big") == len(p) - start
        assert p[start + 6 : start + 8] != b"\0\0"
        assert checksums_right(p)
        if not v6:
            assert int.from_bytes(p[4:6], "big") == 9 + i


@given(st.binary(min_size=1, max_size=300), st.sampled_from([0, 1, 6, 17, 47, 50, 132]))
def test_what_needs_nothing_passes_untouched(body: bytes, proto: int) -> None:
    for packet in (ipv4(proto, body), ipv6(proto, body), ipv4(proto, body, fragment=0x2001), body):
        assert segment(vnet() + packet) == [packet]


@given(st.booleans(), st.binary(max_size=1500), st.sampled_from([(TCP, 16), (UDP, 6)]))
def test_partial_checksums_are_completed(v6: bool, payload: bytes, kind: tuple[int, int]) -> None:
    proto, field = kind
    if proto == TCP:
        whole = Tcp(v6=v6, payload=payload).build()
    else:
        body = struct.pack(">HHHH", 1000, 2000, 8 + len(payload), 0) + payload
        whole = complete(ipv6(UDP, body) if v6 else ipv4(UDP, body), UDP, 6)
    got = segment(vnet(NEEDS_CSUM, 0, 0, 0, 40 if v6 else 20, field) + partial(whole, proto, field))
    assert len(got) == 1
    assert checksums_right(got[0])
    assert got[0] == whole or proto == TCP  # zero has two forms; UDP sends only one


def test_udp_checksum_of_zero_is_sent_as_ffff() -> None:
    base = struct.pack(">HHHH", 1000, 2000, 10, 0)
    for word in range(0x10000):
        packet = ipv4(UDP, base + struct.pack(">H", word))
        whole = complete(packet, UDP, 6)
        if whole[26:28] == b"\xff\xff":
            assert segment(vnet(NEEDS_CSUM, 0, 0, 0, 20, 6) + partial(packet, UDP, 6)) == [whole]
            return
    raise AssertionError("some word makes the sum zero")


def test_checksum_far_behind_extension_headers() -> None:
    chain = b"".join(bytes([60 if i < 3 else UDP, 11]) + bytes(94) for i in range(4))  # 4 x 96 bytes of options
    udp = struct.pack(">HHHH", 1, 2, 8 + 5, 0) + b"hello"
    packet = bytearray(ipv6(60, chain + udp))
    plain = ipv6(UDP, udp)
    at = len(packet) - len(udp) + 6
    packet[at : at + 2] = partial(plain, UDP, 6)[46:48]
    try:
        got = segment(vnet(NEEDS_CSUM, 0, 0, 0, at - 6, 6) + bytes(packet))
    except DataplaneError as error:
        assert error.errno == errno.EINVAL  # too far for the scratch that one segment has: refused, never wrong
    else:
        assert got[0][at : at + 2] == complete(plain, UDP, 6)[46:48]


GOOD = super_packet(Tcp(payload=bytes(3000), options=bytes(12)), 1000)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(b"", id="empty"),
        pytest.param(GOOD[:10], id="header only"),
        pytest.param(vnet(NEEDS_CSUM, 9, 0, 1000, 20, 16) + GOOD[10:], id="unknown type"),
        pytest.param(vnet(NEEDS_CSUM, 3, 0, 1000, 20, 16) + GOOD[10:], id="UFO was never offered"),
        pytest.param(vnet(NEEDS_CSUM, GSO_TCPV4, 0, 0, 20, 16) + GOOD[10:], id="segments of 0 bytes"),
        pytest.param(vnet(NEEDS_CSUM, GSO_TCPV6, 0, 1000, 20, 16) + GOOD[10:], id="type of the other family"),
        pytest.param(vnet(NEEDS_CSUM, GSO_TCPV4, 0, 1000, 24, 16) + GOOD[10:], id="checksum starts elsewhere"),
        pytest.param(vnet(NEEDS_CSUM, GSO_TCPV4, 0, 1000, 20, 6) + GOOD[10:], id="checksum lies elsewhere"),
        pytest.param(vnet(NEEDS_CSUM, GSO_UDP_L4, 0, 1000, 20, 6) + GOOD[10:], id="UDP type, TCP packet"),
        pytest.param(GOOD[:10] + GOOD[10:62], id="no payload"),
        pytest.param(GOOD[:10] + GOOD[10:45], id="TCP header cut"),
        pytest.param(GOOD[:10] + b"\x4f" + GOOD[11:30], id="IP header longer than packet"),
        pytest.param(GOOD[:42] + b"\x30" + GOOD[43:], id="TCP header of 12 bytes"),
        pytest.param(GOOD[:16] + b"\x20\x00" + GOOD[18:], id="fragment"),
        pytest.param(vnet(NEEDS_CSUM, 0, 0, 0, 20, 0xFFFF) + GOOD[10:], id="checksum behind the packet"),
        pytest.param(vnet(NEEDS_CSUM, 0, 0, 0, 4, 6) + GOOD[10:], id="checksum inside the IP header"),
    ],
)
def test_contradictions_are_refused(bad: bytes) -> None:
    with pytest.raises(DataplaneError) as caught:
        segment(bad)
    assert caught.value.errno == errno.EINVAL


@given(st.binary(min_size=10, max_size=10), st.binary(max_size=200), st.integers(0, 120))
@example(b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff", b"", 0)
def test_hostile_headers_never_crash(header: bytes, tail: bytes, cut: int) -> None:
    for packet in (tail, GOOD[10 : 10 + cut] + tail):
        try:
            got = segment(header + packet)
        except DataplaneError as error:
            assert error.errno in (errno.EINVAL, errno.ENOSPC)
        else:
            assert got
