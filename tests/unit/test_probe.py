"""The probe against the running kernel: what it says is what a pair of plain sockets finds."""

from __future__ import annotations

import os
import socket
import struct

import pytest
from pyroute2 import IPRoute

from dataplane.path import Dataplane, DataplaneConfig
from gateway.lab.namespaces import NetworkNamespace

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

UDP_SEGMENT, UDP_GRO = 103, 104


def loopback_is_up(namespace: NetworkNamespace) -> bool:
    with namespace.entered(), IPRoute() as ip:
        return bool(ip.get_links(ip.link_lookup(ifname="lo")[0])[0]["flags"] & 1)


def by_hand(segments: int) -> tuple[int, int]:
    """(bytes of the first receive, segment size reported) of so many segments of 32 bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rx, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as tx:
        rx.settimeout(1)
        rx.bind(("127.0.0.1", 0))
        rx.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
        control = [(socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("=H", 32))]
        try:
            tx.sendmsg([bytes(32 * segments)], control, 0, rx.getsockname())
        except OSError:
            return 0, 0
        data, ancillary, _, _ = rx.recvmsg(65536, 256)
        sizes = [int.from_bytes(d[:4], "little") for _, kind, d in ancillary if kind == UDP_GRO]
        return len(data), sizes[0] if sizes else 0


@pytest.mark.parametrize("local", ["127.0.0.1", "::1"])
def test_agrees_with_plain_sockets_and_leaves_loopback_as_it_was(local: str) -> None:
    with NetworkNamespace("probe") as space:
        with space.entered(), IPRoute() as ip:
            ip.link("set", index=ip.link_lookup(ifname="lo")[0], state="up")
        with space.entered():
            two, many = by_hand(2), by_hand(128)
            with Dataplane(DataplaneConfig(local=local, port=0)) as path:
                info = path.describe()
        assert ("udp-gro" in info.offload) == (two == (64, 32))
        assert info.gso_max_segments == (128 if many == (4096, 32) else 64 if two[0] else 1)
        assert loopback_is_up(space)


def test_a_namespace_with_its_loopback_down() -> None:
    with NetworkNamespace("fresh") as space:
        with space.entered(), IPRoute() as ip:
            ip.link("add", ifname="out", kind="veth", peer="far")
            index = ip.link_lookup(ifname="out")[0]
            ip.addr("add", index=index, address="192.0.2.1", prefixlen=24)
            ip.link("set", index=index, state="up")
        assert not loopback_is_up(space)
        with space.entered(), Dataplane(DataplaneConfig(local="192.0.2.1")) as path:
            assert {"udp-gso", "udp-gro"} <= set(path.describe().offload)
        assert not loopback_is_up(space)


def test_what_is_not_wished_is_not_used() -> None:
    with NetworkNamespace("none") as space, space.entered():
        with Dataplane(DataplaneConfig(local="127.0.0.1", port=0, offload=())) as path:
            assert (path.describe().offload, path.describe().gso_max_segments) == ((), 1)


def test_zero_checksums_exclude_segmentation() -> None:
    """UDP_SEGMENT with SO_NO_CHECK is EINVAL."""
    with NetworkNamespace("nocheck") as space, space.entered():
        with Dataplane(DataplaneConfig(local="127.0.0.1", port=0, udp_checksum=False)) as path:
            assert "udp-gso" not in path.describe().offload


def test_granted_buffers_are_read_back() -> None:
    with NetworkNamespace("buffers") as space, space.entered():
        with Dataplane(DataplaneConfig(local="127.0.0.1", port=0, rcvbuf_bytes=3 << 20)) as path:
            assert path.describe().rcvbuf_bytes == 3 << 20
            assert path.describe().sndbuf_bytes == 8 << 20
