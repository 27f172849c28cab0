"""What networks do to packets, in both directions, with books that must balance.

netem stands on the sender's end of the veth. Our sender makes no trains here (netem would take a train for one packet).
"""

from __future__ import annotations

import re
from typing import Any

from dataplane.path import Dataplane
from tests.kernel import kernel_esp
from tests.kernel.cells import Cell
from tests.kernel.traffic import drain, payload, tally
from tests.kernel.tunnel_vm import FAMILY, INNER, SPI_IN, SPI_OUT, Lab, our_counters, settled, tunnel

PACKETS = 600
DISTURBANCES = {
    "loss 1%": "loss 1%",
    "reorder 25%": "delay 100ms reorder 25% 50%",
    "duplicate 10%": "duplicate 10%",
    "delay 50ms": "delay 50ms",
    "corrupt 5%": "corrupt 5%",
    "everything": "delay 20ms 5ms reorder 25% 50% loss 1% duplicate 5% corrupt 2%",
}
WINDOW = 1024
REST_S = 2.0
"""Longer than any packet is delayed."""
CELLS = {
    4: Cell("aes256-sha256", 16, "tunnel", 4, 4, "udp", True),
    6: Cell("aes128gcm16", 16, "tunnel", 6, 6, "udp", True),
}
OFFLOAD = ("tun-tso", "udp-gro", "tun-coalesce")


def _qdisc_drops(lab: Lab, side: str) -> int:
    space = lab.left if side == "left" else lab.right
    found = re.search(r"dropped (\d+)", kernel_esp.run(space, ["tc", "-s", "qdisc", "show", "dev", "wan"]))
    if not found:
        raise RuntimeError("tc shows no drops")
    return int(found[1])


def one_way(lab: Lab, path: Dataplane, cell: Cell, sender: str, words: str) -> dict[str, Any]:
    """PACKETS datagrams of mixed lengths, one way, under the disturbance."""
    receiver = "right" if sender == "left" else "left"
    space = lab.left if sender == "left" else lab.right
    address = INNER[cell.inner][receiver == "right"]
    sent = [payload(40 + i % 400, f"{words} {sender} {i}") for i in range(PACKETS)]
    kernel_esp.run(space, ["tc", "qdisc", "add", "dev", "wan", "root", "netem", "limit", "10000", *words.split()])
    try:
        with lab.socket(sender, cell.inner) as out, lab.socket(receiver, cell.inner) as into:
            into.bind((address, 7008))
            out.connect((address, 7008))
            got: list[bytes] = []
            for at in range(0, PACKETS, 50):
                for datagram in sent[at : at + 50]:
                    out.send(datagram)
                got += drain(into, 0.15)
            settled(lab, lambda: our_counters(path), rest_s=REST_S)  # what was accepted is in the socket by now
            got += drain(into, 0.5)
        return {**tally(got, sent), "netem_drops": _qdisc_drops(lab, sender)}
    finally:
        kernel_esp.run(space, ["tc", "qdisc", "del", "dev", "wan", "root"])


def run(lab: Lab, name: str) -> dict[str, Any]:
    """Both directions, IPv4 in IPv4 and IPv6 in IPv6."""
    return {f"v{family}": run_family(lab, CELLS[family], DISTURBANCES[name]) for family in FAMILY}


def run_family(lab: Lab, cell: Cell, words: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    with tunnel(lab, cell, window=WINDOW, offload=OFFLOAD) as path:
        before = {side: kernel_esp.statistics(space) for side, space in (("left", lab.left), ("right", lab.right))}
        for direction, sender in (("to_kernel", "left"), ("to_us", "right")):
            result[direction] = one_way(lab, path, cell, sender, words)
        ours, kernel = settled(lab, lambda: our_counters(path))
        result["ours"] = ours
        result["kernel"] = {"in": kernel[SPI_OUT], "out": kernel[SPI_IN]}
        for side, space in (("left", lab.left), ("right", lab.right)):
            result[f"statistics_{side}"] = kernel_esp.difference(before[side], kernel_esp.statistics(space))
        path.health()
    return result
