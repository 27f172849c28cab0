"""strongSwan's own ESP in user space as a live peer (topology in strongswan.py).

Two daemons agree by IKE. Then the left one is killed and our data path takes its place with the negotiated keys, which
nobody has sent a packet with yet; the right one keeps its SAs and does not notice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyroute2 import IPRoute

import dataplane as dp
from dataplane.path import Dataplane, DataplaneConfig
from gateway.lab.namespaces import NetworkNamespace
from tests.e2e.strongswan import INNER, NAMES, OUTER, PATIENCE_S, Daemon, Keys, daemons, negotiated
from tests.loop_support import configure, up

MTU = 1400
"""Of both TUNs: kernel-libipsec's own."""
STREAM_BYTES = 20_000_000
SUITES = ("aes128gcm16", "aes256-sha256")


@dataclass
class Peers:
    """Ours on the left, strongSwan's on the right."""

    spaces: tuple[NetworkNamespace, NetworkNamespace]
    path: Dataplane
    theirs: Daemon
    keys: Keys

    def socket(self, side: int) -> socket.socket:
        with self.spaces[side].entered():
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.settimeout(30)
        sock.bind((INNER[side], 7010))
        sock.connect((INNER[1 - side], 7010))
        return sock


def params(suite: str, keys: Keys, direction: str) -> dp.SaParams:
    """One of the initiator's two SAs."""
    s = dp.find_suite(suite)
    sender = "initiator" if direction == "out" else "responder"
    enc = keys.enc[sender]
    assert len(enc) == s.enc_key_bytes + s.salt_bytes
    return dp.SaParams(
        spi=keys.spi_out if direction == "out" else keys.spi_in,
        suite=suite,
        direction=direction,
        enc_key=enc[: s.enc_key_bytes],
        salt=enc[s.enc_key_bytes :],
        auth_key=keys.integ.get(sender, b""),
        esn=False,
        replay_window=1024,
        local=OUTER[0],
        local_port=4500,
        peer=OUTER[1],
        peer_port=4500,
        selector=dp.Selector(*(INNER if direction == "out" else INNER[::-1])),
    )


@contextlib.contextmanager
def replaced(suite: str, directory: Path) -> Iterator[Peers]:
    with contextlib.ExitStack() as stack:
        left, right = (stack.enter_context(NetworkNamespace(name)) for name in NAMES)

        def cable(ip: IPRoute) -> None:
            ip.link("add", ifname="wan", kind="veth", peer={"ifname": "wan", "net_ns_fd": right.fd})

        for space in (left, right):  # the kernel's own packets would be counted too
            space.write_sysctl("net/ipv6/conf/default/disable_ipv6", "1")
        configure(left, cable)
        for side, space in enumerate((left, right)):
            up(space, "lo", ((INNER[side], 32),), ())
            up(space, "wan", ((OUTER[side], 24),), ())
        pair = stack.enter_context(daemons((left, right), directory, suite))
        pair[0].kill()
        keys = negotiated(pair[0].log.read_text())
        pair[0].log.unlink()
        with left.entered():
            path = stack.enter_context(Dataplane(DataplaneConfig(local=OUTER[0], tun="esp0", mtu=MTU)))
        path.start()
        configure(left, lambda ip: route(ip, "esp0"))
        for direction in ("in", "out"):
            path.sa_add(params(suite, keys, direction))
        path.policy_set(dp.Selector(*INNER), keys.spi_out)
        yield Peers((left, right), path, pair[1], keys)
        path.health()


def route(ip: IPRoute, tun: str) -> None:
    """To the other's inner address, from ours."""
    index = ip.link_lookup(ifname=tun)[0]
    ip.link("set", index=index, state="up")
    ip.route("add", dst=f"{INNER[1]}/32", oif=index, prefsrc=INNER[0])


def iperf3(peers: Peers, *words: str) -> int:
    """One TCP stream; bytes that arrived."""
    server = peers.spaces[1].popen(["iperf3", "-s", "-1", "-B", INNER[1], "-J"])
    try:
        wait_for_listener(peers)
        command = ["iperf3", "-c", INNER[1], "-B", INNER[0], "-J", "-n", str(STREAM_BYTES), "-C", "cubic", *words]
        with peers.spaces[0].entered():
            client = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        document = json.loads(client.stdout)
        assert "error" not in document, document["error"]
        server.communicate(timeout=PATIENCE_S)
        return int(document["end"]["sum_received"]["bytes"])
    finally:
        server.kill()
        server.communicate()


def wait_for_listener(peers: Peers) -> None:
    """Looks into the table of sockets: a trial connection would be iperf3's one client."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with peers.spaces[1].entered():
            lines = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
        if any(line.split()[1].endswith(":1451") and line.split()[3] == "0A" for line in lines):
            return
        time.sleep(0.05)
    raise TimeoutError("iperf3 does not listen")


def books(peers: Peers) -> dict[str, int]:
    """Ours, named as strongSwan names its own: their in is our out."""
    of = {c.direction: c for c in peers.path.sa_counters()}
    return {
        **{f"packets-{theirs}": of[ours].packets for ours, theirs in (("out", "in"), ("in", "out"))},
        **{f"bytes-{theirs}": of[ours].bytes for ours, theirs in (("out", "in"), ("in", "out"))},
    }


def settled(peers: Peers) -> tuple[dict[str, int], dict[str, int]]:
    """Both sides' books when nothing moves."""
    end = time.monotonic() + PATIENCE_S
    last: tuple[dict[str, int], dict[str, int]] = ({}, {})
    while time.monotonic() < end:
        now = (books(peers), peers.theirs.books())
        if now == last:
            return now
        last = now
        time.sleep(0.1)
    raise TimeoutError("counters did not come to rest")


def rcvbuf_errors(space: NetworkNamespace) -> int:
    """Datagrams that found a socket's buffer full, in the namespace."""
    with space.entered():
        rows = [line.split() for line in Path("/proc/thread-self/net/snmp").read_text().splitlines()]
    names, values = (row for row in rows if row[0] == "Udp:")
    return int(values[names.index("RcvbufErrors")])


@pytest.mark.parametrize("suite", SUITES)
def test_strongswan_talks_to_us_as_to_its_own(suite: str, tmp_path: Path) -> None:
    with replaced(suite, tmp_path) as peers:
        # Every padding, and the largest packet, both ways; content compared.
        with peers.socket(0) as ours, peers.socket(1) as theirs:
            for n in (*range(36), 576, 1000, MTU - 29, MTU - 28):
                for sender, receiver in ((ours, theirs), (theirs, ours)):
                    data = hashlib.shake_128(f"{suite} {n}".encode()).digest(n) if n else b""
                    sender.send(data)
                    assert receiver.recv(65536) == data
        ours_now, theirs_now = settled(peers)
        assert ours_now == theirs_now
        assert ours_now["packets-in"] >= 40 <= ours_now["packets-out"]
        # iperf3's receiver stops counting when the sender says that all was handed to its socket; what is in buffers
        # then, at most tcp_wmem and tcp_rmem's 4 and 6 MB, arrives without being counted.
        for way in ((), ("-R",)):
            assert iperf3(peers, *way) > STREAM_BYTES - 10_000_000
        ours_now, theirs_now = settled(peers)
        loop = peers.path.loop_counters()
        counters = {c.direction: c for c in peers.path.sa_counters()}
        assert counters["in"].drops == counters["out"].drops == loop.drops == {}
        # What came faster than a socket's buffer was emptied is lost, and TCP sends it again. Both sides' kernels say
        # how much that was.
        assert theirs_now["packets-out"] == ours_now["packets-out"] + loop.values["udp_rcvbuf_drops"]
        assert ours_now["packets-in"] == theirs_now["packets-in"] + rcvbuf_errors(peers.spaces[1])
        assert min(ours_now["bytes-in"], ours_now["bytes-out"]) > STREAM_BYTES - 10_000_000


def test_the_log_is_read_as_it_is_written() -> None:
    log = """
Nov 30 12:00:00 05[CHD] encryption initiator key => 20 bytes @ 0x7f
Nov 30 12:00:00 05[CHD]    0: 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F  ................
Nov 30 12:00:00 05[CHD]   16: 10 11 12 13                                      ....
Nov 30 12:00:00 05[CHD] encryption responder key => 4 bytes @ 0x7f
Nov 30 12:00:00 05[CHD]    0: FF FE FD FC                                      ....
Nov 30 12:00:01 05[IKE] CHILD_SA net{1} established with SPIs c1020304_i 0a0b0c0d_o and TS 10.9.1.1/32 === 10.9.2.1/32
"""
    keys = negotiated(log)
    assert (keys.spi_in, keys.spi_out) == (0xC1020304, 0x0A0B0C0D)
    assert keys.enc == {"initiator": bytes(range(20)), "responder": b"\xff\xfe\xfd\xfc"}
    assert keys.integ == {}
