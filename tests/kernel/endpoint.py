"""Transport mode (RFC 4303 3.1.1) through our TUN: a host that encrypts its packets to the other end, the kernel's.

The outer addresses are the only ones; a socket that is bound to the TUN sends what shall be encrypted.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import dataplane as dp
from dataplane.path import Dataplane, DataplaneConfig
from tests.kernel import kernel_esp
from tests.kernel.cells import Cell
from tests.kernel.traffic import PATIENCE_S, both_sides, compared
from tests.kernel.tunnel_vm import OUTER, SPI_IN, SPI_OUT, Lab, inner_mtu, our_counters, receive_all, sa

PORT = 7011
NET = {4: "198.18.9.0/24", 6: "fd98::/64"}


@contextlib.contextmanager
def hosts(lab: Lab, cell: Cell) -> Iterator[Dataplane]:
    us, kernel = OUTER[cell.outer]
    keys = sa(cell, SPI_OUT, "out"), replace(sa(cell, SPI_IN, "in"), replay_window=0)
    window = kernel_esp.WINDOW[cell.esn]
    port = 4500 if cell.encap == "udp" else 0
    with contextlib.ExitStack() as stack:
        with lab.left.entered():
            config = DataplaneConfig(local=us, port=port, tun="esp0", mtu=inner_mtu(cell), encap=cell.encap)
            path = stack.enter_context(Dataplane(config))
        path.start()
        kernel_esp.ip(lab.left, "link set esp0 up", f"route add {NET[cell.outer]} dev esp0 metric 5000")
        stack.callback(lab.xfrm.flush)
        kernel_esp.ip(
            lab.right,
            kernel_esp.state(keys[0], us, kernel, 1, window),
            kernel_esp.state(keys[1], kernel, us, 2, window),
            kernel_esp.transport_policy("in", us, kernel, PORT, 1),
            kernel_esp.transport_policy("out", kernel, us, PORT, 2),
        )
        for params in keys:
            path.sa_add(params)
        path.policy_set(dp.Selector(), SPI_OUT)
        yield path


def run_cell(lab: Lab, cell: Cell) -> dict[str, Any]:
    """One cell of the matrix, transport mode."""
    us, kernel = OUTER[cell.outer]
    before = kernel_esp.statistics(lab.right)
    with hosts(lab, cell) as path, lab.socket("left", cell.outer) as ours, lab.socket("right", cell.outer) as theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"esp0")
        for sock, here, there in ((ours, us, kernel), (theirs, kernel, us)):
            sock.bind((here, PORT))
            sock.connect((there, PORT))

        def exchange(sender: socket.socket, receiver: socket.socket, burst: list[bytes]) -> list[bytes]:
            for datagram in burst:
                sender.send(datagram)
            return receive_all(receiver, len(burst), PATIENCE_S)

        result: dict[str, Any] = {
            # The host's stack cuts before the TUN; transport mode takes no fragments (RFC 4303 3.1.1).
            "to_kernel": compared(cell, "left", lambda burst: exchange(ours, theirs, burst), whole=True),
            "to_us": compared(cell, "right", lambda burst: exchange(theirs, ours, burst)),
        }
        result.update(both_sides(lab, lambda: our_counters(path), before))
        path.health()
        return result
