"""Transport mode on a TUN: two hosts whose packets to each other are encrypted, one IP header on the wire.

The outer addresses are the only ones. What shall be encrypted is bound to the TUN, for which a route of the same prefix
and a worse metric lies ready; the ESP packets take the ordinary one.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

import dataplane as dp
from tests.loop_support import INNER, OUTER, OUTER6, SPIS, End, configure, eventually, sa, tunnel

DATA = bytes(range(256)) * 4000
ENDS = {"IPv4": OUTER, "IPv6": OUTER6}


def through_the_tun(end: End, prefix: str) -> None:
    family = socket.AF_INET6 if ":" in prefix else socket.AF_INET
    configure(
        end.namespace,
        lambda ip: ip.route("add", dst=prefix, oif=ip.link_lookup(ifname="esp0")[0], family=family, priority=5000),
    )


@contextlib.contextmanager
def hosts(suite: str, outer: tuple[str, str], encap: str = "udp") -> Iterator[tuple[End, End]]:
    with tunnel(suite, keyed=False, outer=outer, encap=encap) as ends:
        port = 4500 if encap == "udp" else 0
        for i, end in enumerate(ends):
            changes = {"local": outer[i], "peer": outer[1 - i], "local_port": port, "peer_port": port}
            changes |= {"mode": "transport", "encap_udp": encap == "udp"}
            end.path.sa_add(sa(suite, SPIS[i], "out", i, **changes))
            end.path.sa_add(sa(suite, SPIS[1 - i], "in", i, **changes))
            end.path.policy_set(dp.Selector(), SPIS[i])
            through_the_tun(end, "fd98::/64" if ":" in outer[0] else "198.18.9.0/24")
        yield ends


def bound(end: End, address: str, kind: int, port: int = 0) -> socket.socket:
    """A socket of a host whose packets go through the TUN."""
    sock = end.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"esp0")
    sock.bind((address, port))
    return sock


def books(end: End) -> dict[str, dp.SaCounters]:
    return {one.direction: one for one in end.path.sa_counters()}


@pytest.mark.parametrize("encap", ["udp", "none"])
@pytest.mark.parametrize("family", ENDS)
def test_datagrams_of_every_length_and_both_books(family: str, encap: str) -> None:
    outer = ENDS[family]
    lengths = [*range(40), 100, 511, 512, 1000, 1350, 1352]
    with (
        hosts("aes256-sha256", outer, encap) as ends,
        bound(ends[0], outer[0], socket.SOCK_DGRAM) as here,
        bound(ends[1], outer[1], socket.SOCK_DGRAM, 7) as there,
    ):
        for n in lengths:
            here.sendto(bytes([n % 256]) * n, (outer[1], 7))
            data, source = there.recvfrom(65536)
            assert data == bytes([n % 256]) * n and source[0] == outer[0]
            there.sendto(data, source)
            assert here.recv(65536) == data
        payload = sum(8 + n for n in lengths)  # a UDP header, and no IP header
        for end in ends:
            assert {(way, one.packets, one.bytes) for way, one in books(end).items()} == {
                ("out", len(lengths), payload),
                ("in", len(lengths), payload),
            }
            assert end.path.loop_counters().drops == {}


@pytest.mark.parametrize("family", ENDS)
def test_a_tcp_stream_of_super_packets(family: str) -> None:
    outer, got = ENDS[family], bytearray()
    with hosts("aes128gcm16", outer) as ends, bound(ends[1], outer[1], socket.SOCK_STREAM, 9) as listener:
        listener.listen(1)

        def receive() -> None:
            with listener.accept()[0] as sock:
                sock.settimeout(20)
                while part := sock.recv(1 << 20):
                    got.extend(part)

        thread = threading.Thread(target=receive)
        thread.start()
        with bound(ends[0], outer[0], socket.SOCK_STREAM) as sock:
            sock.connect((outer[1], 9))
            sock.sendall(DATA)
        thread.join(30)
        assert bytes(got) == DATA
        assert ends[0].counters()["tun_read_gso"] > 0
        assert books(ends[0])["out"].packets == books(ends[1])["in"].packets > len(DATA) // 1400


def test_what_is_not_between_the_two_hosts_is_refused() -> None:
    """Another address would not be said on the wire; a fragment is no whole packet (RFC 4303 3.1.1)."""
    with hosts("aes128gcm16", OUTER) as ends, ends[0].socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.sendto(b"to a net behind the peer", (INNER[1], 7))
        eventually(lambda: books(ends[0])["out"].drops.get("out_invalid", 0) == 1)
        with bound(ends[0], OUTER[0], socket.SOCK_DGRAM) as big:
            big.sendto(bytes(3000), (OUTER[1], 7))  # three fragments of the TUN's MTU
        eventually(lambda: books(ends[0])["out"].drops.get("out_invalid", 0) == 4)
        assert books(ends[0])["out"].packets == 0


def test_an_sa_without_addresses_is_refused() -> None:
    with tunnel(keyed=False) as ends, pytest.raises(dp.DataplaneError, match="needs both its addresses"):
        ends[0].path.sa_add(sa("aes128gcm16", 0x1001, "in", 0, mode="transport", peer="", peer_port=0))
