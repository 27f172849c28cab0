"""Packets that do not fit, for real: MSS, DF, path MTUs (topology in loop_support.py)."""

from __future__ import annotations

import hashlib
import os
import socket

import pytest

from tests.loop_support import INNER, INNER6, OUTER, OUTER6, SPIS, End, echo, set_mtu, transfer, tunnel

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4, V6 = socket.AF_INET, socket.AF_INET6
DATA = hashlib.shake_128(b"mtu").digest(1_000_000)
TCP_MAXSEG = 2


def mss_seen(ends: tuple[End, End], family: int) -> int:
    """What the left end's TCP makes of the right end's SYN-ACK, timestamps off the size."""
    address = (INNER if family == V4 else INNER6)[1]
    with ends[1].socket(family, socket.SOCK_STREAM) as listener, ends[0].socket(family, socket.SOCK_STREAM) as sock:
        listener.bind((address, 9))
        listener.listen(1)
        sock.connect((address, 9))
        return sock.getsockopt(socket.IPPROTO_TCP, TCP_MAXSEG)


@pytest.mark.parametrize("family", [V4, V6])
@pytest.mark.parametrize("clamp", [True, False])
def test_the_mss_is_what_the_tunnel_has_room_for(family: int, clamp: bool) -> None:
    with tunnel(mtu=1300, clamp_mss=clamp) as ends:
        for end in ends:  # as hosts behind the gateways, which do not know the tunnel's MTU
            set_mtu(end, "esp0", 1500)
        headers = (40 if family == V4 else 60) + 12
        assert mss_seen(ends, family) == (1300 if clamp else 1500) - headers
        clamped = [end.counters()["mss_clamped"] for end in ends]
        assert clamped == ([1, 1] if clamp else [0, 0]), "each SYN once, where it enters the tunnel"


@pytest.mark.parametrize("outer", [OUTER, OUTER6])
def test_a_narrow_path_is_learnt_and_told_inward(outer: tuple[str, str]) -> None:
    """The line's MTU falls under a running connection's feet."""
    with tunnel(outer=outer) as ends:
        transfer(ends, V4, DATA)
        for end in ends:
            set_mtu(end, "wan", 1320)
        overhead = (20 if outer is OUTER else 40) + 8 + 8 + 8 + 16 + 2
        inner = (1320 - overhead + 2) // 4 * 4 - 2  # whole words of plaintext and trailer
        for family in (V4, V6):
            transfer(ends, family, DATA)
        drops = {c.spi: c.drops for c in ends[0].path.sa_counters()}
        assert drops[SPIS[0]]["out_mtu"] >= 2
        assert ends[0].counters()["udp_send_too_big"] >= 1
        with ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
            sock.connect((INNER[1], 7))
            assert sock.getsockopt(socket.IPPROTO_IP, 14) == inner
        before = [end.counters()["udp_send_too_big"] for end in ends]
        echo(ends, V4, bytes(inner - 28))  # the largest that fits does
        assert [end.counters()["udp_send_too_big"] for end in ends] == before


def test_on_a_path_too_narrow_for_ipv6_its_smallest_packets_are_fragmented_outside() -> None:
    with tunnel() as ends:
        for end in ends:
            set_mtu(end, "wan", 1280)
        transfer(ends, V6, DATA)
        transfer(ends, V4, DATA)
        with ends[0].socket(V6, socket.SOCK_DGRAM) as sock:
            sock.connect((INNER6[1], 7))
            assert sock.getsockopt(socket.IPPROTO_IPV6, 24) == 1280


@pytest.mark.parametrize("gso", [True, False])
def test_without_df_the_outer_packets_are_fragmented(gso: bool) -> None:
    offload = ("tun-tso", "udp-gro", "tun-coalesce") + (("udp-gso",) if gso else ())
    with tunnel(offload=offload) as ends:
        for end in ends:
            set_mtu(end, "wan", 1320)
        with ends[0].socket(V4, socket.SOCK_DGRAM) as here, ends[1].socket(V4, socket.SOCK_DGRAM) as there:
            here.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_PMTUDISC_DONT
            there.bind((INNER[1], 7))
            for i in range(50):
                here.sendto(bytes([i]) * 1372, (INNER[1], 7))
                assert there.recv(2000) == bytes([i]) * 1372
        c = ends[0].counters()
        assert (c["udp_send_packets"], c["udp_send_too_big"], c["udp_send_errors"]) == (50, 0, 0)


@pytest.mark.parametrize(
    ("sa", "inner_df", "outer_df"),
    [
        ({"copy_df": True}, True, True),
        ({"copy_df": True}, False, False),
        ({"copy_df": False}, True, False),
        ({"copy_df": False, "set_df": True}, False, True),
    ],
)
def test_df_is_copied_set_or_cleared(sa: dict[str, bool], inner_df: bool, outer_df: bool) -> None:
    with tunnel(sa_changes=sa) as ends:
        eth_p_ip = 0x0800
        with ends[1].socket(socket.AF_PACKET, socket.SOCK_DGRAM) as tap:
            tap.bind(("wan", eth_p_ip))
            with ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
                sock.setsockopt(socket.IPPROTO_IP, 10, 2 if inner_df else 0)
                sock.sendto(bytes(100), (INNER[1], 7))
            while True:
                packet = tap.recv(2000)
                if packet[9] == 17:
                    break
            assert bool(packet[6] & 0x40) == outer_df
