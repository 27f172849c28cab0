"""Bare ESP, IP protocol 50, for real (topology in loop_support.py)."""

from __future__ import annotations

import hashlib
import os
import socket
import struct

import pytest

from tests.loop_support import INNER, OUTER, OUTER6, SPIS, End, echo, eventually, set_mtu, transfer, tunnel

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4, V6 = socket.AF_INET, socket.AF_INET6
DATA = hashlib.shake_128(b"raw").digest(2_000_000)
ESP = 50


@pytest.mark.parametrize("outer", [OUTER, OUTER6])
def test_streams_and_datagrams_cross_in_batches(outer: tuple[str, str]) -> None:
    with tunnel(outer=outer, encap="none") as ends:
        for n in (0, 1, 700, 1352):
            echo(ends, V4, bytes(n))
            echo(ends, V6, bytes(n))
        transfer(ends, V4, DATA)
        transfer(ends, V6, DATA)
        for here, there, spi in ((ends[0], ends[1], SPIS[0]), (ends[1], ends[0], SPIS[1])):
            eventually(lambda here=here, there=there, spi=spi: packets_of(there, spi) == packets_of(here, spi))
        left, right = ends[0].counters(), ends[1].counters()
        assert left["udp_send_packets"] >= 5 * left["udp_sends"]
        assert right["udp_recv_packets"] >= 2 * right["udp_recvs"]
        assert right["tun_write_segments"] >= 2 * right["tun_writes"]
        for end in ends:
            c = end.path.loop_counters()
            assert c.drops == {} and c.values["udp_send_errors"] == c.values["udp_rcvbuf_drops"] == 0
            info = end.path.describe()
            assert info.port == 0 and info.gso_max_segments == 1
            assert not {"udp-gso", "udp-gro"} & set(info.offload)


def packets_of(end: End, spi: int) -> int:
    return next(c.packets for c in end.path.sa_counters() if c.spi == spi)


@pytest.mark.parametrize("outer", [OUTER, OUTER6])
def test_the_wire_carries_protocol_50_and_nothing_else(outer: tuple[str, str]) -> None:
    with tunnel(outer=outer, encap="none") as ends, ends[1].socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap:
        tap.bind(("wan", 0x0800 if outer is OUTER else 0x86DD))
        echo(ends, V4, b"clear" * 20)
        packets = [tap.recv(2000)]
        tap.settimeout(0.2)
        with pytest.raises(TimeoutError):
            while True:
                packets.append(tap.recv(2000))
        at = 9 if outer is OUTER else 6
        if outer is OUTER6:  # neighbour discovery and multicast reports are the kernel's
            packets = [p for p in packets if p[at] != 58 and p[24] != 0xFF]
        assert [p[at] for p in packets] == [ESP]
        assert all(b"clear" not in p for p in packets)
        assert int.from_bytes(packets[0][20 if outer is OUTER else 40 :][:4], "big") == SPIS[0]


@pytest.mark.parametrize("outer", [OUTER, OUTER6])
@pytest.mark.parametrize("df", [True, False])
def test_ecn_of_the_outer_header_reaches_the_inner_one(outer: tuple[str, str], df: bool) -> None:
    """ECT(0) goes out; the line marks CE, which must come out inside (RFC 6040). DF takes the other socket."""
    with tunnel(outer=outer, encap="none") as ends, ends[0].socket(V4, socket.SOCK_DGRAM) as here:
        with ends[1].socket(V4, socket.SOCK_DGRAM) as there, ends[1].socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap:
            tap.bind(("wan", 0x0800 if outer is OUTER else 0x86DD))
            there.bind((INNER[1], 7))
            there.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
            here.setsockopt(socket.IPPROTO_IP, 10, 2 if df else 0)
            here.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
            here.sendto(b"ect", (INNER[1], 7))
            data, control, _, _ = there.recvmsg(100, 100)
            assert data == b"ect" and control[0][2][0] == 2
            while True:
                packet = tap.recv(2000)
                if outer is OUTER and packet[9] == ESP:
                    assert packet[1] == 2 and bool(packet[6] & 0x40) == df
                    break
                if outer is OUTER6 and packet[6] == ESP:
                    assert struct.unpack(">I", packet[:4])[0] >> 20 & 255 == 2
                    break


def test_what_is_no_esp_of_ours_is_told_apart() -> None:
    with tunnel(encap="none") as ends:
        with ends[0].namespace.entered():
            sock = socket.socket(V4, socket.SOCK_RAW, ESP)
        with sock:
            sock.sendto(struct.pack(">II", 0x9999, 1) + bytes(40), (OUTER[1], 0))  # unknown SPI
            sock.sendto(b"\xff", (OUTER[1], 0))  # no keepalive here
            sock.sendto(struct.pack(">II", SPIS[0], 1) + bytes(40), (OUTER[1], 0))  # forged
            sock.sendto(b"", (OUTER[1], 0))
        eventually(lambda: ends[1].counters()["udp_recv_packets"] == 3)
        assert ends[1].path.loop_counters().drops == {"in_no_states": 1, "in_hdr_error": 1}
        assert ends[1].counters()["keepalives"] == 0
        echo(ends, V4, b"the tunnel goes on")


def test_a_narrow_path_is_learnt() -> None:
    with tunnel(encap="none") as ends:
        for end in ends:
            set_mtu(end, "wan", 1320)
        transfer(ends, V4, DATA)
        assert ends[0].counters()["udp_send_too_big"] >= 1
        with ends[0].socket(V4, socket.SOCK_DGRAM) as here, ends[1].socket(V4, socket.SOCK_DGRAM) as there:
            here.setsockopt(socket.IPPROTO_IP, 10, 0)  # no DF: in outer fragments
            there.bind((INNER[1], 7))
            here.sendto(DATA[:1372], (INNER[1], 7))
            assert there.recv(2000) == DATA[:1372]
