"""Datagrams of many lengths through the tunnel in both directions, and iperf3."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import dataplane as dp
from tests.kernel import kernel_esp
from tests.kernel.cells import Cell
from tests.kernel.tunnel_vm import INNER, SPI_IN, SPI_OUT, Lab, inner_mtu, our_counters, receive_all, settled, tunnel

HEADERS = {4: 28, 6: 48}
"""Bytes of IP and UDP headers."""
BURST = 16
PORT = 7007
STREAM_BYTES = 6_000_000
"""Of iperf3, not seconds: how much is to arrive does not depend on how fast the machine is."""
PATIENCE_S = 120
"""For a datagram that is on its way: the machine is emulated, and its host may be busy."""


def lengths(cell: Cell) -> list[int]:
    """Payload lengths: the shortest, every padding of a 16-byte block, powers of two, the longest packet that leaves
    in one piece and its neighbour, and one that leaves in fragments."""
    longest = inner_mtu(cell) - HEADERS[cell.inner]
    powers = [n for p in range(5, 11) for n in ((1 << p) - 1, 1 << p)]
    every = [*range(5), *powers, *range(100, 116), longest - 1, longest, longest + 700]
    return [n for n in every if kernel_takes(cell, n)]


def kernel_takes(cell: Cell, n: int) -> bool:
    """Linux drops UDP-encapsulated ESP over IPv6 without a word when a UDP packet is not longer than an IPv6 header and
    one of UDP: xfrm6_udp_encap_rcv (net/ipv6/xfrm6_input.c) compares a length without the IPv6 header with one that
    has it. Only transport mode makes packets so short."""
    if cell.encap != "udp" or cell.outer != 6:
        return True
    how = {"mode": cell.mode, "encap": cell.encap, "outer_af": cell.outer, "icv_bytes": cell.icv_bytes}
    return dp.wire_len(cell.suite, n + HEADERS[cell.inner], **how) - 40 >= 48


def payload(n: int, label: str) -> bytes:
    return hashlib.shake_128(label.encode()).digest(n) if n else b""


def compared(
    cell: Cell, sender: str, exchange: Callable[[list[bytes]], list[bytes]], whole: bool = False
) -> dict[str, Any]:
    """Every length in bursts through ``exchange``, which returns what arrived; byte by byte and in order. whole: but
    for the one that is sent in fragments."""
    data = [payload(n, f"{cell.name} {sender} {n}") for n in lengths(cell)[: -1 if whole else None]]
    wrong: list[str] = []
    received = 0
    for at in range(0, len(data), BURST):
        burst = data[at : at + BURST]
        got = exchange(burst)
        received += len(got)
        if got != burst:
            wrong.append(f"lengths {[len(d) for d in burst]} came as {[len(d) for d in got]}")
    return {"sent": len(data), "received": received, "wrong": wrong}


def send_all(lab: Lab, cell: Cell, sender: str) -> dict[str, Any]:
    """Every length through the tunnel, from one side to the other."""
    receiver = "right" if sender == "left" else "left"
    address = INNER[cell.inner][receiver == "right"]
    with lab.socket(sender, cell.inner) as out, lab.socket(receiver, cell.inner) as into:
        into.bind((address, PORT))
        out.connect((address, PORT))

        def exchange(burst: list[bytes]) -> list[bytes]:
            for datagram in burst:
                out.send(datagram)
            return receive_all(into, len(burst), PATIENCE_S)

        return compared(cell, sender, exchange)


def both_sides(lab: Lab, ours: Callable[[], dict[str, Any]], before: dict[str, int]) -> dict[str, Any]:
    """Counters of both sides when nothing moves."""
    mine, kernel = settled(lab, ours)
    return {
        "ours": mine,
        "kernel": {"in": kernel[SPI_OUT], "out": kernel[SPI_IN]},
        "kernel_statistics": {
            name: n
            for name, n in kernel_esp.difference(before, kernel_esp.statistics(lab.right)).items()
            if name.startswith("Xfrm")
        },
    }


def run_cell(lab: Lab, cell: Cell) -> dict[str, Any]:
    """One cell of the matrix, tunnel mode."""
    before = kernel_esp.statistics(lab.right)
    with tunnel(lab, cell) as path:
        result: dict[str, Any] = {"to_kernel": send_all(lab, cell, "left"), "to_us": send_all(lab, cell, "right")}
        result.update(both_sides(lab, lambda: our_counters(path), before))
        path.health()
        return result


def iperf3(lab: Lab, cell: Cell, reverse: bool) -> dict[str, Any]:
    """One TCP stream; what both ends say about it. The client is ours."""
    address = INNER[cell.inner][1]
    with lab.right.entered():
        server = subprocess.Popen(
            ["iperf3", "-s", "-1", "-B", address, "-J"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    try:
        wait_for_listener(lab, cell, address)
        words = ["iperf3", "-c", address, "-J", "-n", str(STREAM_BYTES), "-C", "cubic", *(["-R"] if reverse else [])]
        with lab.left.entered():
            client = subprocess.run(words, capture_output=True, text=True, timeout=300)
        document = json.loads(client.stdout)
        if "error" in document:
            raise RuntimeError(f"iperf3: {document['error']}")
        server.communicate(timeout=120)
        end = document["end"]
        return {"sent_bytes": end["sum_sent"]["bytes"], "received_bytes": end["sum_received"]["bytes"]}
    finally:
        server.kill()
        server.wait()


def wait_for_listener(lab: Lab, cell: Cell, address: str) -> None:
    """Looks into the table of sockets: a trial connection would be iperf3's one client."""
    name = "tcp" if cell.inner == 4 else "tcp6"
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with lab.right.entered():
            lines = Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]
        if any(line.split()[1].endswith(":1451") and line.split()[3] == "0A" for line in lines):
            return
        time.sleep(0.1)
    raise TimeoutError(f"iperf3 does not listen on {address}")


def run_iperf3(lab: Lab, cell: Cell) -> dict[str, Any]:
    """iperf3 in both directions under one pair of SAs."""
    before = kernel_esp.statistics(lab.right)
    with tunnel(lab, cell) as path:
        result: dict[str, Any] = {
            "to_kernel": iperf3(lab, cell, reverse=False),
            "to_us": iperf3(lab, cell, reverse=True),
        }
        result.update(both_sides(lab, lambda: our_counters(path), before))
        path.health()
        return result


def tally(got: list[bytes], sent: list[bytes]) -> dict[str, int]:
    """How a lossy direction ended: distinct datagrams that arrived, those after one that was sent later, copies, and
    what nobody had sent."""
    counts = Counter(got)
    known = {datagram: i for i, datagram in enumerate(sent)}
    places = [known[datagram] for datagram in got if datagram in known]
    late = sum(place < highest for place, highest in zip(places, accumulate(places, max), strict=True))
    return {
        "sent": len(sent),
        "distinct": sum(1 for datagram in counts if datagram in known),
        "late": late,
        "copies": sum(n - 1 for n in counts.values()),
        "foreign": sum(n for datagram, n in counts.items() if datagram not in known),
    }


def drain(sock: socket.socket, patience_s: float) -> list[bytes]:
    """Everything that comes until nothing has come for a while."""
    return receive_all(sock, 1 << 30, patience_s)
