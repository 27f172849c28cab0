"""The running data path, for real: TUN, UDP, threads (topology in loop_support.py)."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
from pyroute2 import IPRoute

import dataplane as dp
from dataplane import DataplaneError
from dataplane.path import Dataplane, DataplaneConfig
from gateway.lab.namespaces import NetworkNamespace
from tests.loop_support import (
    INNER,
    OUTER,
    OUTER6,
    SPIS,
    End,
    configure,
    echo,
    eventually,
    sa,
    transfer,
    tunnel,
    up,
)

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4, V6 = socket.AF_INET, socket.AF_INET6
DATA = hashlib.shake_128(b"stream").digest(4_000_000)


def by_spi(end: End) -> dict[int, dp.SaCounters]:
    return {c.spi: c for c in end.path.sa_counters()}


def settled(ends: tuple[End, End]) -> None:
    """Everything sealed was opened, and nothing was dropped on the way."""
    for i, end in enumerate(ends):
        other = ends[1 - i]
        eventually(lambda end=end, other=other, i=i: by_spi(end)[SPIS[i]].packets == by_spi(other)[SPIS[i]].packets)
    for end in ends:
        c = end.path.loop_counters()
        assert c.drops == {}
        assert c.values["udp_send_errors"] == c.values["udp_rcvbuf_drops"] == c.values["tun_write_einval"] == 0


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256-sha256"])
def test_datagrams_of_every_length_cross(suite: str) -> None:
    with tunnel(suite) as ends:
        for n in [0, 1, *range(2, 1372, 37), 1372]:
            echo(ends, V4, bytes(i & 255 for i in range(n)))
        for n in (0, 100, 1352):
            echo(ends, V6, bytes(n))
        settled(ends)


def test_datagrams_above_the_mtu_cross_in_fragments() -> None:
    with tunnel() as ends:
        echo(ends, V4, DATA[:9000])
        echo(ends, V6, DATA[:9000])
        settled(ends)


@pytest.mark.parametrize("family", [V4, V6])
def test_a_tcp_stream_crosses_in_trains_and_super_packets(family: int) -> None:
    with tunnel() as ends:
        transfer(ends, family, DATA)
        settled(ends)
        left, right = ends[0].counters(), ends[1].counters()
        assert left["tun_read_gso"] > 0
        assert left["udp_send_packets"] >= len(DATA) // 1400
        assert left["udp_send_packets"] >= 10 * left["udp_sends"]
        assert right["udp_recv_packets"] >= 10 * right["udp_recvs"]
        assert right["tun_write_segments"] >= 10 * right["tun_writes"]
        assert right["coalesce_bad_checksum"] == 0


def test_ipv6_outside() -> None:
    with tunnel(outer=OUTER6) as ends:
        echo(ends, V4, b"four" * 300, 5)
        echo(ends, V6, b"six" * 400, 5)
        transfer(ends, V6, DATA)
        settled(ends)
        assert ends[0].counters()["udp_send_packets"] >= 10 * ends[0].counters()["udp_sends"]


@pytest.mark.parametrize(
    "offload",
    [
        (),
        ("tun-tso",),
        ("udp-gso",),
        ("udp-gro",),
        ("tun-coalesce",),
        ("tun-tso", "udp-gso", "udp-gro", "tun-coalesce", "tun-uso"),
    ],
    ids="+".join,
)
def test_each_offload_alone_and_none(offload: tuple[str, ...]) -> None:
    with tunnel(offload=offload) as ends:
        info = ends[0].path.describe()
        assert set(info.offload) <= set(offload)
        assert (info.gso_max_segments > 1) == ("udp-gso" in info.offload)
        transfer(ends, V4, DATA[:1_000_000])
        echo(ends, V4, b"x" * 1000, 20)
        settled(ends)
        left, right = ends[0].counters(), ends[1].counters()
        assert (left["tun_read_gso"] > 0) == ("tun-tso" in offload)
        if "tun-coalesce" not in offload:
            assert right["tun_writes"] == right["tun_write_segments"]


def test_counters_are_those_of_the_sa() -> None:
    with tunnel() as ends:
        echo(ends, V4, b"y" * 500, 8)
        settled(ends)
        for i, end in enumerate(ends):
            out, into = by_spi(end)[SPIS[i]], by_spi(end)[SPIS[1 - i]]
            assert (out.packets, out.bytes) == (into.packets, into.bytes) == (8, 8 * 528)
            c = end.counters()
            assert c["tun_reads"] == c["udp_send_packets"] == 8
            assert c["udp_recv_packets"] == c["tun_write_segments"] == 8
            assert c["cpu_ns"] > 0
            stages = end.path.loop_counters().stage_cycles
            assert stages["seal"] > 0 and stages["open"] > 0 and stages["wait"] > 0


def raw(end: End) -> socket.socket:
    """An outer socket in this end's namespace, from which anything may be sent to the other's."""
    return end.socket(V4, socket.SOCK_DGRAM)


def test_foreign_truncated_corrupted_and_other_datagrams_are_told_apart() -> None:
    with tunnel() as ends, raw(ends[0]) as sock:
        to = (OUTER[1], 4500)
        sock.sendto(b"\xff", to)  # keepalive
        sock.sendto(bytes(4) + b"IKE", to)  # non-ESP marker
        sock.sendto(struct.pack(">II", 0x9999, 1) + bytes(40), to)  # unknown SPI
        sock.sendto(b"\x00\x00\x10", to)  # truncated
        sock.sendto(struct.pack(">II", SPIS[0], 1) + bytes(40), to)  # forged
        sock.sendto(struct.pack(">II", SPIS[0], 1) + bytes(3), to)  # forged, too short

        def seen() -> bool:
            c = ends[1].path.loop_counters()
            return c.values["keepalives"] + c.values["non_esp"] + c.values["udp_recv_packets"] == 6

        eventually(seen)
        c = ends[1].path.loop_counters()
        assert (c.values["keepalives"], c.values["non_esp"]) == (1, 1)
        assert c.drops == {"in_no_states": 1, "in_hdr_error": 1}
        assert sum(by_spi(ends[1])[SPIS[0]].drops.values()) == 2
        echo(ends, V4, b"the tunnel goes on")


def test_mixed_segments_of_one_gro_buffer_are_parsed_each_by_itself() -> None:
    """A train made by hand: two forged packets of different SPIs, and a shorter last one, in one UDP_SEGMENT send."""
    with tunnel() as ends, raw(ends[0]) as sock:
        packets = [struct.pack(">II", spi, 1) + bytes(40) for spi in (0x8888, SPIS[0], 0x9999)]
        sock.setsockopt(socket.IPPROTO_UDP, 103, 48)
        sock.sendto(b"".join(packets) + b"\xff", (OUTER[1], 4500))
        eventually(lambda: ends[1].path.loop_counters().values["keepalives"] == 1)
        assert ends[1].path.loop_counters().drops == {"in_no_states": 2}
        assert sum(by_spi(ends[1])[SPIS[0]].drops.values()) == 1


def test_without_a_policy_nothing_leaves() -> None:
    with tunnel(keyed=False) as ends, ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
        for _ in range(3):
            sock.sendto(b"secret", (INNER[1], 7))
        eventually(lambda: ends[0].counters()["tun_reads"] >= 3)
        assert ends[0].path.loop_counters().drops == {"out_pol_block": 3}
        assert ends[0].counters()["udp_sends"] == 0


def test_rekeying_under_traffic_loses_nothing() -> None:
    with tunnel() as ends:
        for generation in range(2, 6):
            new = tuple(spi + 0x100 * generation for spi in SPIS)
            for i, end in enumerate(ends):
                end.path.sa_add(sa("aes128gcm16", new[1 - i], "in", i))
            for i, end in enumerate(ends):
                end.path.sa_add(sa("aes128gcm16", new[i], "out", i))
                end.path.policy_set(dp.Selector(), new[i])
            echo(ends, V4, b"z" * 700, 5)
            for i, end in enumerate(ends):
                assert by_spi(end)[new[i]].packets == 5
                end.path.sa_del(new[i] - (0x100 if generation > 2 else 0x100 * generation), "out")
                end.path.sa_del(new[1 - i] - (0x100 if generation > 2 else 0x100 * generation), "in")
                assert len(end.path.sa_counters()) == 2


def test_commands_under_traffic_leave_the_loop_asleep() -> None:
    """A command that the loop takes between its announcement and its bell must not leave the bell ringing."""
    with tunnel() as ends:
        busy = threading.Thread(target=transfer, args=(ends, V4, DATA * 8))
        busy.start()
        while busy.is_alive():
            ends[0].counters()
            ends[1].counters()
        busy.join()
        time.sleep(0.3)  # the last acknowledgements
        for end in ends:
            before = end.counters()["wakeups"]
            time.sleep(0.3)
            assert end.counters()["wakeups"] - before < 20


def test_commands_that_make_no_sense_are_refused_in_one_line() -> None:
    with tunnel() as ends:
        path = ends[0].path
        for bad in (
            lambda: path.sa_add(sa("aes128gcm16", SPIS[1], "in", 0)),
            lambda: path.sa_del(0x7777, "in"),
            lambda: path.policy_set(dp.Selector(), 0x7777),
            lambda: path.policy_set(dp.Selector(), SPIS[1]),  # inbound
            lambda: path.policy_del(dp.Selector(dst="10.77.0.0/16")),
        ):
            with pytest.raises(DataplaneError) as caught:
                bad()
            assert "\n" not in str(caught.value) and str(caught.value)
        echo(ends, V4, b"still there")


def test_a_deleted_sa_takes_its_policy_with_it() -> None:
    with tunnel() as ends, ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
        ends[0].path.sa_del(SPIS[0], "out")
        sock.sendto(b"secret", (INNER[1], 7))
        eventually(lambda: sum(ends[0].path.loop_counters().drops.values()) == 1)
        assert ends[0].counters()["udp_sends"] == 0


def test_a_vanished_peer_is_counted_not_fatal() -> None:
    with tunnel() as ends:
        ends[1].path.close()
        with ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
            for _ in range(5):
                sock.sendto(b"into the void", (INNER[1], 7))
                time.sleep(0.02)

        def down(ip: IPRoute) -> None:
            ip.link("set", index=ip.link_lookup(ifname="wan")[0], state="down")

        configure(ends[0].namespace, down)
        with ends[0].socket(V4, socket.SOCK_DGRAM) as sock:
            for _ in range(5):
                sock.sendto(b"no route", (INNER[1], 7))
        eventually(lambda: ends[0].counters()["udp_send_errors"] == 5)
        ends[0].path.health()


def test_icmp_too_big_comes_inward() -> None:
    """The interface's MTU was raised behind the data path's back: what no longer fits is answered, not sent."""
    with tunnel(mtu=1300) as ends:

        def raise_mtu(ip: IPRoute) -> None:
            ip.link("set", index=ip.link_lookup(ifname="esp0")[0], mtu=1500)

        configure(ends[0].namespace, raise_mtu)
        for family in (V4, V6):
            with ends[0].socket(family, socket.SOCK_DGRAM) as sock:
                level, discover, do, mtu = (0, 10, 2, 14) if family == V4 else (41, 23, 2, 24)
                sock.setsockopt(level, discover, do)
                sock.connect((INNER[1] if family == V4 else "fd09:2::1", 7))
                sock.send(bytes(1400))

                def learnt(sock: socket.socket = sock, level: int = level, mtu: int = mtu) -> bool:
                    return sock.getsockopt(level, mtu) == 1300

                eventually(learnt)
        assert by_spi(ends[0])[SPIS[0]].drops == {"out_mtu": 2}
        counters = ends[0].path.loop_counters().values
        assert (counters["tun_writes"], counters["tun_write_segments"]) == (2, 0), "answers are no opened packets"


def test_a_deleted_tun_ends_the_loop_with_one_line() -> None:
    with tunnel() as ends:

        def delete(ip: IPRoute) -> None:
            ip.link("del", index=ip.link_lookup(ifname="esp0")[0])

        configure(ends[0].namespace, delete)

        def ended() -> bool:
            try:
                ends[0].path.health()
            except DataplaneError:
                return True
            return False

        eventually(ended)
        with pytest.raises(DataplaneError, match="esp0"):
            ends[0].path.health()
        with pytest.raises(DataplaneError, match="ended"):
            ends[0].path.sa_del(SPIS[0], "out")
        assert ends[0].counters()["wakeups"] > 0


def test_the_loop_thread_blocks_signals_and_dies_with_its_owner() -> None:
    with NetworkNamespace("alone") as space:
        up(space, "lo", (), ())
        before = set(os.listdir("/proc/self/task"))
        with space.entered():
            path = Dataplane(DataplaneConfig(local="127.0.0.1", port=0))
        assert set(os.listdir("/proc/self/task")) == before
        path.start()
        [thread] = set(os.listdir("/proc/self/task")) - before
        status = Path(f"/proc/self/task/{thread}/status").read_text()
        blocked = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigBlk"))
        assert blocked & (1 << 1) and blocked & (1 << 14)  # INT, TERM
        path.close()
        assert set(os.listdir("/proc/self/task")) == before
        path.close()


def test_a_port_that_is_taken_is_refused() -> None:
    with NetworkNamespace("alone") as space:
        up(space, "lo", (), ())
        with space.entered(), socket.socket(V4, socket.SOCK_DGRAM) as holder:
            holder.bind(("127.0.0.1", 4500))
            with pytest.raises(DataplaneError) as caught:
                Dataplane(DataplaneConfig(local="127.0.0.1"))
        assert "Address already in use" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"local": "192.0.2.77"}, "address"),
        ({"tun": "a-name-that-is-far-too-long"}, "15 characters"),
        ({"encap": "none", "local": "192.0.2.77"}, "outer ESP socket"),
        ({"tun_fd": 0}, "TUN"),
    ],
)
def test_what_cannot_be_opened_says_why(change: dict[str, object], words: str) -> None:
    with NetworkNamespace("alone") as space:
        up(space, "lo", (), ())
        config = {"local": "127.0.0.1", "port": 0, **change}
        with space.entered(), pytest.raises(DataplaneError) as caught:
            Dataplane(DataplaneConfig(**config))  # type: ignore[arg-type]
        assert words in str(caught.value)
        assert caught.value.errno != errno.EFAULT


def test_the_counter_page_is_readable_by_others() -> None:
    with tunnel() as ends:
        echo(ends, V4, b"q", 2)
        fd = ends[0].path.counters_fd()
        page = os.pread(fd, 16, 0)
        magic, version, size, slots = struct.unpack("=IIII", page)
        assert (magic, version) == (0x67777062, 4)
        assert size >= 64 * slots > 0
        with pytest.raises(DataplaneError, match="loop 1"):
            ends[0].path.counters_fd(1)
