"""Peers that move behind NAT, and several peers on one TUN, for real (topology in loop_support.py)."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyroute2 import IPRoute

import dataplane as dp
from dataplane.path import Dataplane, DataplaneConfig
from tests.loop_support import INNER, OUTER, SPIS, End, configure, echo, eventually, sa, transfer, tunnel, up
from tests.packet_support import ipv4

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4 = socket.AF_INET
NEW_PORT = 4777
UDP = 17


def datagram(text: bytes) -> bytes:
    """An inner packet right -> left; UDP without checksum."""
    header = (9).to_bytes(2, "big") + (7).to_bytes(2, "big") + (8 + len(text)).to_bytes(2, "big") + b"\0\0"
    return ipv4(UDP, header + text, src=INNER[1], dst=INNER[0])


def right_seals(seq: int, text: bytes, *, flaw: bool = False) -> bytes:
    """What the right end would send with this sequence number, made elsewhere."""
    with dp.Sa(sa("aes128gcm16", SPIS[1], "out", 1, seq=seq - 1)) as sender:
        [sealed] = dp.seal_batch([(sender, datagram(text))])
    esp = bytearray(sealed.esp)
    esp[-1] ^= flaw
    return bytes(esp)


@contextlib.contextmanager
def moved(roam: bool) -> Iterator[tuple[tuple[End, End], socket.socket, socket.socket]]:
    """A tunnel whose right end sends from NEW_PORT, by hand: (ends, its outer socket, left's inner socket)."""
    with tunnel(sa_changes={"roam": roam}) as ends, ends[0].socket(V4, socket.SOCK_DGRAM) as inner:
        inner.bind((INNER[0], 7))
        echo(ends, V4, b"before", 5)
        with ends[1].socket(V4, socket.SOCK_DGRAM) as outer:
            outer.bind((OUTER[1], NEW_PORT))
            outer.settimeout(0.3)
            yield ends, outer, inner


def answered(outer: socket.socket, inner: socket.socket) -> bool:
    """Does what left sends reach the new port?"""
    inner.sendto(b"to the peer", (INNER[1], 7))
    try:
        return len(outer.recv(2000)) > 0
    except TimeoutError:
        return False


def test_the_newest_authentic_packet_moves_the_peer() -> None:
    with moved(roam=True) as (ends, outer, inner):
        assert not answered(outer, inner)
        outer.sendto(right_seals(100, b"here I am"), (OUTER[0], 4500))
        assert inner.recv(100) == b"here I am"
        assert answered(outer, inner)
        assert ends[0].counters()["peer_moves"] == 1
        outer.sendto(right_seals(101, b"still here"), (OUTER[0], 4500))
        assert inner.recv(100) == b"still here"
        assert ends[0].counters()["peer_moves"] == 1


def test_forged_replayed_and_late_packets_move_nothing() -> None:
    with moved(roam=True) as (ends, outer, inner):
        with ends[1].socket(V4, socket.SOCK_DGRAM) as old_place:
            old_place.bind((OUTER[1], 4999))
            old_place.sendto(right_seals(100, b"new place"), (OUTER[0], 4500))
            assert inner.recv(100) == b"new place"
            assert ends[0].counters()["peer_moves"] == 1
            for packet in (right_seals(101, b"forged", flaw=True), right_seals(100, b"replayed")):
                outer.sendto(packet, (OUTER[0], 4500))
            outer.sendto(right_seals(99, b"late"), (OUTER[0], 4500))
            assert inner.recv(100) == b"late", "it is delivered all the same"
            into = next(c for c in ends[0].path.sa_counters() if c.spi == SPIS[1])
            assert into.drops == {"state_proto_error": 1, "state_seq_error": 1}
            assert ends[0].counters()["peer_moves"] == 1
            assert not answered(outer, inner)


def test_a_peer_that_may_not_move_does_not() -> None:
    with moved(roam=False) as (ends, outer, inner):
        outer.sendto(right_seals(100, b"from elsewhere"), (OUTER[0], 4500))
        assert inner.recv(100) == b"from elsewhere"
        assert not answered(outer, inner)
        assert ends[0].counters()["peer_moves"] == 0


def test_several_peers_on_one_tun() -> None:
    """Three more gateways at addresses and ports of their own; policies by inner destination choose among them."""
    with tunnel() as ends, contextlib.ExitStack() as stack:
        others: list[tuple[End, str]] = []
        for i in range(3):
            outer, inner, port = f"198.18.9.{10 + i}", f"10.9.{10 + i}.1", 5000 + i

            def addresses(ip: IPRoute, outer: str = outer) -> None:
                ip.addr("add", index=ip.link_lookup(ifname="wan")[0], address=outer, prefixlen=24)

            def route(ip: IPRoute, inner: str = inner) -> None:
                ip.route("add", dst=f"{inner}/32", oif=ip.link_lookup(ifname="esp0")[0])

            configure(ends[1].namespace, addresses)
            configure(ends[0].namespace, route)
            with ends[1].namespace.entered():
                path = stack.enter_context(Dataplane(DataplaneConfig(local=outer, port=port, tun=f"esp{i + 1}")))
            path.start()
            up(ends[1].namespace, f"esp{i + 1}", ((inner, 32),), ())
            spis = (0x2000 + i, 0x3000 + i)
            here = {"local": OUTER[0], "peer": outer, "peer_port": port}
            there = {"local": outer, "peer": OUTER[0], "local_port": port}
            ends[0].path.sa_add(sa("aes128gcm16", spis[0], "out", 0, **here))
            ends[0].path.sa_add(sa("aes256-sha256", spis[1], "in", 0, **here))
            path.sa_add(sa("aes128gcm16", spis[0], "in", 1, **there))
            path.sa_add(sa("aes256-sha256", spis[1], "out", 1, **there))
            ends[0].path.policy_set(dp.Selector(dst=f"{inner}/32"), spis[0])
            path.policy_set(dp.Selector(), spis[1])
            others.append((replace(ends[1], path=path), inner))
        with ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
            sock.bind((INNER[0], 8))
            listeners = []
            for end, inner in others:
                listener = stack.enter_context(end.socket(V4, socket.SOCK_DGRAM))
                listener.bind((inner, 7))
                listeners.append(listener)
            for n in range(20):  # in turn, so that batches mix them
                for _, inner in others:
                    sock.sendto(f"{inner} {n}".encode(), (inner, 7))
            for (_, inner), listener in zip(others, listeners, strict=True):
                assert [listener.recv(100) for _ in range(20)] == [f"{inner} {n}".encode() for n in range(20)]
        echo(ends, V4, b"the first peer", 3)
        transfer(ends, V4, bytes(200_000))
        counted = {c.spi: c for c in ends[0].path.sa_counters()}
        assert [counted[0x2000 + i].packets for i in range(3)] == [20] * 3
        assert counted[SPIS[0]].packets >= 3 + 200_000 // 1400
        for end, _ in others:
            eventually(lambda end=end: sum(c.packets for c in end.path.sa_counters() if c.direction == "in") == 20)
            assert end.path.loop_counters().drops == {}
