"""Packets -> TUN writes. Whatever is joined must be cut by a kernel into the very packets that went in."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.packets import coalesce, segment
from tests.packet_support import (
    ACK,
    CWR,
    ECE,
    FIN,
    GSO_TCPV4,
    GSO_TCPV6,
    NEEDS_CSUM,
    PSH,
    RST,
    SYN,
    TCP,
    UDP,
    URG,
    Tcp,
    complete,
    ipv4,
    ipv6,
    ones_sum,
    pseudo_header,
    segment_by_the_book,
    upper_offset,
)

TIMESTAMPS = bytes.fromhex("0101080a0000000100000002")


def stream(n: int, size: int = 100, **fixed: object) -> list[Tcp]:
    """n full segments in order, IDs counting."""
    first = Tcp(**fixed)  # type: ignore[arg-type]
    return [
        replace(first, seq=first.seq + i * size, ident=(first.ident + i) & 0xFFFF, payload=bytes([i & 255]) * size)
        for i in range(n)
    ]


def joined(packets: list[Tcp]) -> list[int]:
    """Segments of each TUN write."""
    return [len(segment_by_the_book(write)) for write in coalesce([p.build() for p in packets])]


def without_id(packet: bytes) -> bytes:
    """With DF set the ID means nothing (RFC 6864) and is not kept."""
    if packet[0] >> 4 == 4 and packet[6] & 0x40:
        return packet[:4] + b"\0\0" + packet[6:10] + b"\0\0" + packet[12:]
    return packet


def flow_of(packet: bytes) -> bytes:
    if packet[0] >> 4 == 4:
        return packet[9:10] + packet[12:24]
    return packet[6:7] + packet[8:44]


@pytest.mark.parametrize("v6", [False, True])
@pytest.mark.parametrize("options", [b"", TIMESTAMPS])
def test_a_stream_becomes_one_write(v6: bool, options: bytes) -> None:
    packets = stream(40, 1348, v6=v6, options=options)
    [write] = coalesce([p.build() for p in packets])
    flags, kind, hdr_len, size, start, offset = struct.unpack("<BBHHHH", write[:10])
    header = (40 if v6 else 20) + 20 + len(options)
    assert (flags, kind) == (NEEDS_CSUM, GSO_TCPV6 if v6 else GSO_TCPV4)
    assert (hdr_len, size, start, offset) == (header, 1348, 40 if v6 else 20, 16)
    packet = write[10:]
    at = upper_offset(packet)
    assert int.from_bytes(packet[at + 16 : at + 18], "big") == ones_sum(pseudo_header(packet, TCP, len(packet) - at))
    assert segment_by_the_book(write) == [p.build() for p in packets]
    assert segment(write) == [p.build() for p in packets]


def test_a_write_stays_below_64_kib() -> None:
    counts = joined(stream(100, 1400))
    assert counts == [46, 46, 8]


def test_a_short_segment_ends_a_group() -> None:
    packets = stream(6)
    packets[2] = replace(packets[2], payload=b"short")
    packets[3:] = [replace(p, seq=p.seq - 95) for p in packets[3:]]
    assert joined(packets) == [3, 3]


@pytest.mark.parametrize("flag", [PSH, FIN, PSH | FIN])
def test_psh_and_fin_end_a_group_and_stay_on_the_last(flag: int) -> None:
    packets = stream(6)
    packets[2] = replace(packets[2], flags=ACK | flag)
    writes = coalesce([p.build() for p in packets])
    assert [p for w in writes for p in segment_by_the_book(w)] == [p.build() for p in packets]
    assert len(writes) == 2


@pytest.mark.parametrize("flag", [SYN, RST, URG, CWR])
def test_flags_that_never_join(flag: int) -> None:
    packets = stream(5)
    packets[2] = replace(packets[2], flags=ACK | flag)
    assert joined(packets) == [2, 1, 2]


def test_empty_segments_never_join() -> None:
    assert joined([Tcp(ident=i, ack=i) for i in range(4)]) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"tos": 1},
        {"ttl": 63},
        {"df": False},
        {"ack": 8},
        {"window": 513},
        {"flags": ACK | ECE},
        {"options": bytes.fromhex("0101080a0000000300000002")},
        {"options": b""},
        {"seq": 5},
        {"payload": b"x" * 101},
    ],
)
@pytest.mark.parametrize("v6", [False, True])
def test_what_differs_does_not_join(change: dict[str, object], v6: bool) -> None:
    if v6 and "df" in change:
        change = {"flow": 1}
    packets = stream(4, v6=v6, options=TIMESTAMPS)
    packets[2:] = [replace(p, **{**change, "payload": p.payload}) for p in packets[2:]]  # type: ignore[arg-type]
    if "payload" in change:
        packets[2] = replace(packets[2], payload=b"x" * 101)
    if "seq" in change:
        packets[2:] = stream(2, v6=v6, options=TIMESTAMPS, seq=5)
    counts = joined(packets)
    assert counts[0] == 2
    assert sum(counts) == 4


@pytest.mark.parametrize(("df", "counts"), [(True, [4]), (False, [2, 2])])
def test_ids_count_unless_df(df: bool, counts: list[int]) -> None:
    packets = stream(4, df=df)
    packets[2:] = [replace(p, ident=p.ident + 7) for p in packets[2:]]
    assert joined(packets) == counts


def test_a_wrong_checksum_passes_alone_and_untouched() -> None:
    packets = [p.build() for p in stream(5)]
    packets[2] = stream(5)[2].build(bad_checksum=True)
    writes = coalesce(packets)
    assert [len(segment_by_the_book(w)) for w in writes] == [2, 1, 2]
    assert writes[1] == bytes(10) + packets[2]


def test_a_wrong_ip_header_checksum_too() -> None:
    packets = [p.build() for p in stream(3)]
    packets[1] = packets[1][:10] + b"\x12\x34" + packets[1][12:]
    assert coalesce(packets)[1] == bytes(10) + packets[1]


def test_interleaved_flows_join_each_for_itself() -> None:
    flows = [stream(10, sport=1000 + i, v6=bool(i & 1)) for i in range(6)]
    mixed = [flow[k].build() for k in range(10) for flow in flows]
    assert sorted(len(segment_by_the_book(w)) for w in coalesce(mixed)) == [10] * 6


def test_more_flows_than_are_kept_open() -> None:
    flows = [stream(3, sport=1000 + i) for i in range(40)]
    mixed = [flow[k].build() for k in range(3) for flow in flows]
    assert sorted(p for w in coalesce(mixed) for p in segment_by_the_book(w)) == sorted(mixed)


@given(st.binary(min_size=1, max_size=200), st.sampled_from([0, 1, 17, 47, 50, 51, 132]))
def test_what_is_not_tcp_passes_untouched(body: bytes, proto: int) -> None:
    packets = [
        ipv4(proto, body),
        ipv6(proto, body),
        ipv4(TCP, body, fragment=0x2000, df=False),
        ipv4(TCP, Tcp(payload=body).build()[20:], options=bytes(4)),
        ipv6(0, bytes([TCP, 0, 1, 4, 0, 0, 0, 0]) + Tcp(v6=True, payload=body).build()[40:]),
        body,
    ]
    assert coalesce(packets) == [bytes(10) + p for p in packets]


def test_a_fragment_flushes_the_flow_it_may_belong_to() -> None:
    packets = stream(4)
    fragment = ipv4(TCP, bytes(64), fragment=0x2000, df=False)
    udp = complete(ipv4(UDP, struct.pack(">HHHH", 1, 2, 10, 0) + b"ab"), UDP, 6)
    built = [p.build() for p in packets]
    assert [len(segment_by_the_book(w)) for w in coalesce([*built[:2], fragment, *built[2:]])] == [2, 1, 2]
    assert [len(w) for w in coalesce([*built[:2], udp, *built[2:]])] == [10 + len(udp), 10 + 40 + 400]


CHANGES = st.one_of(
    st.just({}),
    st.just({}),
    st.just({}),
    st.fixed_dictionaries({"flags": st.sampled_from([ACK | PSH, ACK | FIN, ACK | CWR, ACK | SYN, ACK | ECE])}),
    st.fixed_dictionaries({"tos": st.integers(0, 3)}),
    st.fixed_dictionaries({"ack": st.integers(0, 3)}),
    st.fixed_dictionaries({"ttl": st.integers(62, 64)}),
    st.fixed_dictionaries({"df": st.booleans()}),
    st.fixed_dictionaries({"options": st.sampled_from([b"", TIMESTAMPS])}),
)
STEP = st.tuples(
    st.integers(0, 10),  # which flow
    st.integers(0, 200),  # payload bytes
    st.integers(0, 9),  # 0: a gap in the sequence, 1: an ID out of turn, 2: wrong checksum
    st.booleans(),  # full segment instead
    CHANGES,
)


@settings(max_examples=300)
@given(st.lists(STEP, max_size=60))
def test_every_packet_comes_out_once_in_its_flows_order(
    steps: list[tuple[int, int, int, bool, dict[str, object]]],
) -> None:
    state: dict[int, Tcp] = {}
    packets = []
    for which, size, trouble, full, change in steps:
        last = state.get(which, Tcp(sport=1000 + which, v6=bool(which & 1), host=1 + which // 4))
        now = replace(last, payload=bytes([len(packets) & 255]) * (200 if full else size), **change)  # type: ignore[arg-type]
        if trouble == 0:
            now = replace(now, seq=now.seq + 13)
        if trouble == 1:
            now = replace(now, ident=(now.ident + 5) & 0xFFFF)
        packets.append(now.build(bad_checksum=trouble == 2))
        kept = replace(now, seq=(now.seq + len(now.payload)) & 0xFFFFFFFF, ident=(now.ident + 1) & 0xFFFF, flags=ACK)
        state[which] = kept
    writes = coalesce(packets)
    again = [p for write in writes for p in segment_by_the_book(write)]
    assert [p for write in writes for p in segment(write)] == again
    want, got = defaultdict(list), defaultdict(list)
    for p in packets:
        want[flow_of(p)].append(without_id(p))
    for p in again:
        got[flow_of(p)].append(without_id(p))
    assert got == want


@given(st.lists(st.binary(min_size=1, max_size=100), max_size=20))
def test_noise_passes_untouched(packets: list[bytes]) -> None:
    assert coalesce(packets) == [bytes(10) + p for p in packets]
