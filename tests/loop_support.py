"""Two data paths in two namespaces, in one process: descriptors remember the namespace in which they were opened.

::

    left  198.18.9.1 ------- veth ------- 198.18.9.2  right      outer, UDP 4500, MTU 1500
    esp0  10.9.1.1, fd09:1::1         10.9.2.1, fd09:2::1  esp0  inner
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from pyroute2 import IPRoute

import dataplane as dp
from dataplane.path import Dataplane, DataplaneConfig
from gateway.lab.namespaces import NetworkNamespace
from tests.esp_support import key_bytes

OUTER = ("198.18.9.1", "198.18.9.2")
OUTER6 = ("fd98::1", "fd98::2")
INNER = ("10.9.1.1", "10.9.2.1")
INNER6 = ("fd09:1::1", "fd09:2::1")
SPIS = (0x1001, 0x1002)
NODAD = 0x02


@dataclass
class End:
    """One gateway."""

    namespace: NetworkNamespace
    path: Dataplane

    def socket(self, family: int, kind: int) -> socket.socket:
        with self.namespace.entered():
            sock = socket.socket(family, kind)
        sock.settimeout(10)
        return sock

    def counters(self) -> dict[str, int]:
        return self.path.loop_counters().values


def _address(ip: IPRoute, name: str, address: str, prefix: int) -> None:
    index = ip.link_lookup(ifname=name)[0]
    six = ":" in address
    more = {"flags": NODAD} if six else {}
    family = socket.AF_INET6 if six else socket.AF_INET
    ip.addr("add", index=index, address=address, prefixlen=prefix, family=family, **more)


def configure(namespace: NetworkNamespace, do: Callable[[IPRoute], None]) -> None:
    with namespace.entered(), IPRoute() as ip:
        do(ip)


def up(namespace: NetworkNamespace, name: str, addresses: tuple[tuple[str, int], ...], routes: tuple[str, ...]) -> None:
    def do(ip: IPRoute) -> None:
        for address, prefix in addresses:
            _address(ip, name, address, prefix)
        index = ip.link_lookup(ifname=name)[0]
        ip.link("set", index=index, state="up")
        for route in routes:
            ip.route("add", dst=route, oif=index, family=socket.AF_INET6 if ":" in route else socket.AF_INET)

    configure(namespace, do)


def set_mtu(end: End, name: str, mtu: int) -> None:
    def do(ip: IPRoute) -> None:
        ip.link("set", index=ip.link_lookup(ifname=name)[0], mtu=mtu)

    configure(end.namespace, do)


def sa(suite: str, spi: int, direction: str, end: int, **changes: object) -> dp.SaParams:
    s = dp.find_suite(suite)
    params = dp.SaParams(
        spi=spi,
        suite=suite,
        direction=direction,
        enc_key=key_bytes(f"enc{spi}", s.enc_key_bytes),
        auth_key=key_bytes(f"auth{spi}", s.auth_key_bytes),
        salt=key_bytes(f"salt{spi}", s.salt_bytes),
        copy_df=True,
        local=OUTER[end],
        local_port=4500,
        peer=OUTER[1 - end],
        peer_port=4500,
    )
    return replace(params, **changes)  # type: ignore[arg-type]


@contextlib.contextmanager
def tunnel(
    suite: str = "aes128gcm16",
    keyed: bool = True,
    mtu: int = 1400,
    offload: tuple[str, ...] | None = None,
    outer: tuple[str, str] = OUTER,
    sa_changes: dict[str, bool] | None = None,
    **changes: Any,
) -> Iterator[tuple[End, End]]:
    """Two running ends; with ``keyed`` SAs and policies are installed. ``changes``: of DataplaneConfig."""
    with contextlib.ExitStack() as stack:
        spaces = [stack.enter_context(NetworkNamespace(name)) for name in ("left", "right")]

        def cable(ip: IPRoute) -> None:
            ip.link("add", ifname="wan", kind="veth", peer={"ifname": "wan", "net_ns_fd": spaces[1].fd})

        for space in spaces:  # the kernel's own packets would be counted too
            space.write_sysctl("net/ipv6/conf/default/router_solicitations", "0")
            space.write_sysctl("net/ipv6/conf/default/accept_dad", "0")
        configure(spaces[0], cable)
        ends = []
        for i, space in enumerate(spaces):
            up(space, "lo", (), ())
            up(space, "wan", ((outer[i], 64 if ":" in outer[i] else 24),), ())
            config = DataplaneConfig(local=outer[i], tun="esp0", mtu=mtu, **changes)
            if offload is not None:
                config = replace(config, offload=offload)
            with space.entered():
                path = stack.enter_context(Dataplane(config))
            path.start()
            up(
                space,
                "esp0",
                ((INNER[i], 32), (INNER6[i], 128)),
                (f"{INNER[1 - i]}/32", f"{INNER6[1 - i]}/128"),
            )
            ends.append(End(space, path))
        if keyed:
            for i, end in enumerate(ends):
                addresses: dict[str, Any] = {"local": outer[i], "peer": outer[1 - i], **(sa_changes or {})}
                end.path.sa_add(sa(suite, SPIS[i], "out", i, **addresses))
                end.path.sa_add(sa(suite, SPIS[1 - i], "in", i, **addresses))
                end.path.policy_set(dp.Selector(), SPIS[i])
        yield ends[0], ends[1]


def echo(ends: tuple[End, End], family: int, payload: bytes, n: int = 1) -> None:
    """Datagrams left -> right -> left."""
    address = (INNER if family == socket.AF_INET else INNER6)[1]
    with ends[0].socket(family, socket.SOCK_DGRAM) as here, ends[1].socket(family, socket.SOCK_DGRAM) as there:
        there.bind((address, 7))
        for _ in range(n):
            here.sendto(payload, (address, 7))
            data, source = there.recvfrom(65536)
            assert data == payload
            there.sendto(data, source)
            assert here.recv(65536) == payload


def transfer(ends: tuple[End, End], family: int, data: bytes) -> None:
    """One TCP stream left -> right, compared."""
    address = (INNER if family == socket.AF_INET else INNER6)[1]
    got = bytearray()
    with ends[1].socket(family, socket.SOCK_STREAM) as listener:
        listener.bind((address, 9))
        listener.listen(1)

        def receive() -> None:
            with listener.accept()[0] as sock:
                sock.settimeout(10)
                while part := sock.recv(1 << 20):
                    got.extend(part)

        thread = threading.Thread(target=receive)
        thread.start()
        with ends[0].socket(family, socket.SOCK_STREAM) as sock:
            sock.connect((address, 9))
            sock.sendall(data)
        thread.join(20)
    assert bytes(got) == data


def eventually(what: Callable[[], bool], seconds: float = 5) -> None:
    """Waits for a condition that packets in flight will bring about."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.01)
