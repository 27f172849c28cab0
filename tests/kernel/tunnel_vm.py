"""The topology inside the virtual machine: our data path on the left, the kernel's ESP on the right.

::

    left   198.18.9.1, fd98::1 ------- veth ------- 198.18.9.2, fd98::2   right    outer, MTU 1500, UDP 4500
    esp0   10.9.1.1, fd09:1::1                      10.9.2.1, fd09:2::1   lo       inner
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import dataplane as dp
from dataplane.path import Dataplane, DataplaneConfig
from gateway.lab.namespaces import NetworkNamespace
from tests.esp_support import key_bytes
from tests.kernel import kernel_esp
from tests.kernel.cells import Cell
from tests.kernel.xfrm_socket import XfrmSocket

OUTER = {4: ("198.18.9.1", "198.18.9.2"), 6: ("fd98::1", "fd98::2")}
INNER = {4: ("10.9.1.1", "10.9.2.1"), 6: ("fd09:1::1", "fd09:2::1")}
MAC = ("02:00:00:00:00:01", "02:00:00:00:00:02")
BITS = {4: 32, 6: 128}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
OUTER_MTU = 1500
SPI_OUT, SPI_IN = 0x1001, 0x1002
"""As seen from us: SPI_OUT is the kernel's inbound SA."""
UDP_ENCAP, UDP_ENCAP_ESPINUDP = 100, 2


@dataclass
class Lab:
    """Two namespaces joined by a veth, for the whole run."""

    left: NetworkNamespace
    right: NetworkNamespace
    xfrm: XfrmSocket
    """Of the right one."""

    def socket(self, side: str, family: int, kind: int = socket.SOCK_DGRAM, proto: int = 0) -> socket.socket:
        with (self.left if side == "left" else self.right).entered():
            sock = socket.socket(FAMILY[family], kind, proto)
        sock.settimeout(10)
        return sock


@contextlib.contextmanager
def laboratory() -> Iterator[Lab]:
    """Namespaces, veth, addresses, and the sockets that make the kernel take ESP out of UDP."""
    with contextlib.ExitStack() as stack:
        left, right = (stack.enter_context(NetworkNamespace(name)) for name in ("left", "right"))
        lab = Lab(left, right, stack.enter_context(contextlib.closing(XfrmSocket(right))))
        for space in (lab.left, lab.right):
            space.write_sysctl("net/ipv6/conf/default/router_solicitations", "0")
            space.write_sysctl("net/ipv6/conf/default/accept_dad", "0")
        far = f"netns /proc/{os.getpid()}/fd/{lab.right.fd}"
        kernel_esp.ip(lab.left, f"link add wan address {MAC[0]} type veth peer name wan address {MAC[1]} {far}")
        for i, space in enumerate((lab.left, lab.right)):
            kernel_esp.ip(
                space,
                "link set lo up",
                f"addr add {OUTER[4][i]}/24 dev wan",
                f"addr add {OUTER[6][i]}/64 dev wan nodad",
                "link set wan up",
                # Known for good: a question for a neighbour would be one more packet for netem to lose.
                *(f"neigh replace {OUTER[f][1 - i]} lladdr {MAC[1 - i]} dev wan nud permanent" for f in (4, 6)),
            )
        kernel_esp.ip(
            lab.right,
            *(f"addr add {INNER[family][1]}/{BITS[family]} dev lo" for family in (4, 6)),
            *(f"route add {INNER[family][0]}/{BITS[family]} dev wan src {INNER[family][1]}" for family in (4, 6)),
        )
        for family in (4, 6):
            sock = stack.enter_context(lab.socket("right", family))
            if family == 6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((OUTER[family][1], 4500))
            sock.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_ESPINUDP)
        yield lab


def inner_mtu(cell: Cell) -> int:
    """The largest inner packet that leaves in one piece."""
    return dp.inner_mtu(
        cell.suite, OUTER_MTU, mode=cell.mode, encap=cell.encap, outer_af=cell.outer, icv_bytes=cell.icv_bytes
    )


def sa(cell: Cell, spi: int, direction: str) -> dp.SaParams:
    s = dp.find_suite(cell.suite)
    label = f"{cell.name} {spi}"
    port = 4500 if cell.encap == "udp" else 0
    return dp.SaParams(
        spi=spi,
        suite=cell.suite,
        direction=direction,
        enc_key=key_bytes(f"enc {label}", s.enc_key_bytes),
        auth_key=key_bytes(f"auth {label}", s.auth_key_bytes),
        salt=key_bytes(f"salt {label}", s.salt_bytes),
        mode=cell.mode,
        icv_bytes=cell.icv_bytes,
        esn=cell.esn,
        encap_udp=cell.encap == "udp",
        copy_df=False,
        local=OUTER[cell.outer][0],
        local_port=port,
        peer=OUTER[cell.outer][1],
        peer_port=port,
    )


@contextlib.contextmanager
def tunnel(lab: Lab, cell: Cell, window: int = 0, **config: Any) -> Iterator[Dataplane]:
    """Our data path with the cell's SAs, and the kernel's with the same."""
    outer = OUTER[cell.outer]
    keys = sa(cell, SPI_OUT, "out"), replace(sa(cell, SPI_IN, "in"), replay_window=window)
    size = window or kernel_esp.WINDOW[cell.esn]
    with contextlib.ExitStack() as stack:
        with lab.left.entered():
            port = 4500 if cell.encap == "udp" else 0
            path = stack.enter_context(
                Dataplane(
                    DataplaneConfig(
                        local=outer[0], port=port, tun="esp0", mtu=inner_mtu(cell), encap=cell.encap, **config
                    )
                )
            )
        path.start()
        kernel_esp.ip(
            lab.left,
            *(f"addr add {INNER[f][0]}/{BITS[f]} dev esp0" + (" nodad" if f == 6 else "") for f in (4, 6)),
            "link set esp0 up",
            *(f"route add {INNER[f][1]}/{BITS[f]} dev esp0" for f in (4, 6)),
        )
        stack.callback(lab.xfrm.flush)
        kernel_esp.ip(
            lab.right,
            kernel_esp.state(keys[0], *outer, 1, size),
            kernel_esp.state(keys[1], *outer[::-1], 2, size),
            *(kernel_esp.policy("in", INNER[f], outer, 1) for f in (4, 6)),
            *(kernel_esp.policy("out", INNER[f][::-1], outer[::-1], 2) for f in (4, 6)),
        )
        for params in keys:
            path.sa_add(params)
        path.policy_set(dp.Selector(), SPI_OUT)
        yield path


def our_counters(path: Dataplane) -> dict[str, Any]:
    """SAs by direction, the loop's drops and errors."""
    loop = path.loop_counters()
    sas = {
        c.direction: {"packets": c.packets, "bytes": c.bytes, "seq": c.seq, "drops": c.drops}
        for c in path.sa_counters()
    }
    names = (
        *("udp_send_errors", "udp_rcvbuf_drops", "tun_write_einval"),
        *("udp_send_packets", "udp_recv_packets", "keepalives", "non_esp"),
    )
    return {"sa": sas, "drops": loop.drops, "loop": {name: loop.values[name] for name in names}}


def settled(
    lab: Lab, ours: Callable[[], dict[str, Any]], rest_s: float = 0.05
) -> tuple[dict[str, Any], dict[int, dict[str, int]]]:
    """Both sides' counters when nothing has moved for ``rest_s`` seconds."""
    end = time.monotonic() + 300
    last, since = (ours(), lab.xfrm.sa_counters()), time.monotonic()
    while time.monotonic() < end:
        time.sleep(0.05)
        now = (ours(), lab.xfrm.sa_counters())
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since >= rest_s:
            return now
    raise TimeoutError("counters did not come to rest")


def receive_all(sock: socket.socket, n: int, patience_s: float) -> list[bytes]:
    """Up to ``n`` datagrams; fewer when none has come for ``patience_s`` seconds."""
    got: list[bytes] = []
    sock.settimeout(patience_s)
    try:
        while len(got) < n:
            got.append(sock.recv(65536))
    except TimeoutError:
        pass
    return got
