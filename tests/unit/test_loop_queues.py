"""Several loops behind one TUN, for real (topology in loop_support.py): SAs on each, and packets for another's."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
from esp_internals import CSRC, compile_objects, link

import dataplane as dp
from tests.loop_support import INNER, SPIS, End, echo, eventually, sa, transfer, tunnel

needs_tun = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4, V6 = socket.AF_INET, socket.AF_INET6
PORTS = (4500, 4501)


def test_the_ring_under_thread_sanitizer() -> None:
    flags = ("-O1", "-g", "-fsanitize=thread", "-fno-sanitize-recover=all")
    sources = [CSRC / "io" / "ring.c", Path(__file__).parent / "c" / "ring_stress.c"]
    program = link(compile_objects(flags, sources), flags, "ring-stress")
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "read 30000\n" in done.stdout


def loops(end: End) -> list[dict[str, int]]:
    return [end.path.loop_counters(i).values for i in range(2)]


def settled(ends: tuple[End, End]) -> None:
    """Waits until no packet is under way any more: TCP says goodbye after the last byte."""
    seen: list[object] = []

    def still() -> bool:
        seen.append([end.path.sa_counters() for end in ends])
        return len(seen) > 5 and all(one == seen[-1] for one in seen[-5:])

    eventually(still)


def flows(ends: tuple[End, End], n: int, each: int = 3) -> None:
    """n UDP flows left -> right -> left, which the TUN spreads over its queues by their hashes."""
    with ends[1].socket(V4, socket.SOCK_DGRAM) as there:
        there.bind((INNER[1], 7))
        for i in range(n):
            with ends[0].socket(V4, socket.SOCK_DGRAM) as here:
                for k in range(each):
                    here.sendto(f"{i} {k}".encode(), (INNER[1], 7))
                    data, source = there.recvfrom(100)
                    there.sendto(data, source)
                    assert here.recv(100) == f"{i} {k}".encode()


def drops(ends: tuple[End, End]) -> list[dict[str, int]]:
    found = [end.path.loop_counters(i).drops for end in ends for i in range(2)]
    return [d for d in (*found, *(c.drops for end in ends for c in end.path.sa_counters())) if d]


def install(ends: tuple[End, End], loop: int, first_spi: int) -> None:
    """A pair of SAs on this loop of both ends, from its port to its port."""
    ports = {"local_port": PORTS[loop], "peer_port": PORTS[loop], "loop": loop}
    for i, end in enumerate(ends):
        end.path.sa_add(sa("aes128gcm16", first_spi + 1 - i, "in", i, **ports))
    for i, end in enumerate(ends):
        end.path.sa_add(sa("aes128gcm16", first_spi + i, "out", i, **ports))
        end.path.policy_set(dp.Selector(), first_spi + i)


@needs_tun
def test_a_pair_of_sas_on_each_loop() -> None:
    """RFC 9611: no loop touches another's SA, and nothing is handed over."""
    with tunnel(keyed=False, queues=2) as ends:
        assert ends[0].path.describe().ports == PORTS
        for loop in range(2):
            install(ends, loop, 0x2000 + 0x10 * loop)
        flows(ends, 40)
        for family in (V4, V6):
            transfer(ends, family, bytes(2_000_000))
        settled(ends)
        for end in ends:
            counted = {c.spi: c for c in end.path.sa_counters()}
            assert sorted(counted) == [0x2000, 0x2001, 0x2010, 0x2011]
            assert all(c.packets > 0 for c in counted.values()), "the TUN's hash reaches both"
            for loop, c in enumerate(loops(end)):
                spis = (0x2000 + 0x10 * loop, 0x2001 + 0x10 * loop)
                assert c["handed_over"] == c["taken_over"] == c["udp_rcvbuf_drops"] == 0
                assert {counted[spi].direction: counted[spi].packets for spi in spis} == {
                    "out": c["udp_send_packets"],
                    "in": c["udp_recv_packets"],
                }
        assert drops(ends) == []


@needs_tun
def test_one_sa_serves_all_queues() -> None:
    """What another queue's loop reads from the TUN is sealed by the SA's owner: one sequence, one writer."""
    with tunnel(queues=2) as ends:
        flows(ends, 40)
        transfer(ends, V4, bytes(2_000_000))
        settled(ends)
        assert loops(ends[0])[1]["handed_over"] > 0, "right's answers follow their flows to the first queue"
        for end in ends:
            first, second = loops(end)
            assert first["taken_over"] == second["handed_over"]
            assert second["udp_send_packets"] == second["udp_recv_packets"] == 0
            assert first["handed_over"] == second["taken_over"] == 0
        assert drops(ends) == []
        sealed = [next(c for c in end.path.sa_counters() if c.direction == "out") for end in ends]
        opened = [next(c for c in end.path.sa_counters() if c.direction == "in") for end in ends]
        assert [c.packets for c in sealed] == [c.packets for c in reversed(opened)]
        assert [c.seq for c in sealed] == [c.packets for c in sealed]


@needs_tun
def test_a_peer_that_sends_to_the_wrong_port_is_understood() -> None:
    """ESP packets that arrive at another loop's port are opened by the SA's owner."""
    with tunnel(keyed=False, queues=2) as ends:
        for i, end in enumerate(ends):
            end.path.sa_add(sa("aes256-sha256", SPIS[1 - i], "in", i, loop=0))
            end.path.sa_add(sa("aes256-sha256", SPIS[i], "out", i, loop=0, peer_port=PORTS[1]))
            end.path.policy_set(dp.Selector(), SPIS[i])
        echo(ends, V4, b"to the neighbour's door", 5)
        transfer(ends, V4, bytes(500_000))
        settled(ends)
        for end in ends:
            first, second = loops(end)
            into = next(c for c in end.path.sa_counters() if c.direction == "in")
            assert second["udp_recv_packets"] == into.packets and first["udp_recv_packets"] == 0
            assert first["taken_over"] >= into.packets
        assert drops(ends) == []


@needs_tun
def test_an_spi_is_one_sa_whatever_the_loop() -> None:
    with tunnel(queues=2) as ends:
        path = ends[0].path
        with pytest.raises(dp.DataplaneError, match="SPI"):
            path.sa_add(sa("aes128gcm16", SPIS[1], "in", 0, loop=1))
        with pytest.raises(dp.DataplaneError, match="loop"):
            path.sa_add(sa("aes128gcm16", 0x7777, "in", 0, loop=2))
        # Moved to the other loop: removed there, added here; the traffic follows.
        for i, end in enumerate(ends):
            end.path.sa_del(SPIS[1 - i], "in")
            end.path.sa_add(sa("aes128gcm16", SPIS[1 - i], "in", i, loop=1))
        echo(ends, V4, b"moved", 5)
        assert all(loops(end)[0]["handed_over"] >= 5 for end in ends)
        assert [len(end.path.sa_counters()) for end in ends] == [2, 2]


@needs_tun
def test_its_own_policy_comes_before_the_neighbours() -> None:
    """An SA on loop 1 takes loop 1's packets back; when it goes, they are dropped until a policy is set again."""
    with tunnel(queues=2) as ends:
        left, right = ends
        ports = {"local_port": PORTS[1], "peer_port": PORTS[1], "loop": 1}
        right.path.sa_add(sa("aes128gcm16", 0x3000, "in", 1, **ports))
        left.path.sa_add(sa("aes128gcm16", 0x3000, "out", 0, **ports))
        left.path.policy_set(dp.Selector(), 0x3000)
        left.path.policy_set(dp.Selector(), SPIS[0])
        flows(ends, 40)
        counted = {c.spi: c.packets for c in left.path.sa_counters()}
        assert counted[0x3000] > 0 and counted[SPIS[0]] > 0 and loops(left)[1]["handed_over"] == 0
        left.path.sa_del(0x3000, "out")
        left.path.policy_set(dp.Selector(), SPIS[0])
        flows(ends, 40)
        assert loops(left)[1]["handed_over"] > 0
        left.path.policy_del(dp.Selector())
        with left.socket(V4, socket.SOCK_DGRAM) as sock:
            sock.sendto(b"nobody's", (INNER[1], 7))
        eventually(lambda: sum(left.path.loop_counters(i).drops.get("out_pol_block", 0) for i in range(2)) == 1)


@needs_tun
def test_bare_esp_has_one_receiver() -> None:
    """Without ports the first loop receives for all."""
    with tunnel(keyed=False, queues=2, port=0, encap="none") as ends:
        assert ends[0].path.describe().ports == (0, 0)
        for loop in range(2):
            for i, end in enumerate(ends):
                spi = 0x2000 + 0x10 * loop
                end.path.sa_add(sa("aes128gcm16", spi + 1 - i, "in", i, loop=loop, encap_udp=False))
                end.path.sa_add(sa("aes128gcm16", spi + i, "out", i, loop=loop, encap_udp=False))
                end.path.policy_set(dp.Selector(), spi + i)
        flows(ends, 40)
        for end in ends:
            first, second = loops(end)
            assert second["udp_recv_packets"] == 0 < second["udp_send_packets"]
            assert first["handed_over"] == second["taken_over"] > 0
        settled(ends)
        assert drops(ends) == []


@needs_tun
def test_what_cannot_be() -> None:
    for changes in ({"queues": 65}, {"queues": 2, "port": 65535}):
        with pytest.raises(dp.DataplaneError, match="queues"), tunnel(keyed=False, **changes):
            pass
    with tunnel(keyed=False) as ends, pytest.raises(dp.DataplaneError, match="IP version"):
        ends[0].path.sa_add(sa("aes128gcm16", 0x4000, "out", 0, local="", peer="2001:db8::1"))
