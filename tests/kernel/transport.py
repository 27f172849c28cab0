"""Transport mode (RFC 4303 3.1.1): host to host, one IP header, no TUN.

Our side seals and opens in memory and sends what comes of it through a socket: a transport mode SA belongs to a
host's own stack, not to a gateway. The kernel's side is an ordinary host, whose UDP socket knows nothing of ESP.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import dataplane as dp
from tests.esp_support import checksum
from tests.kernel import kernel_esp
from tests.kernel.cells import Cell
from tests.kernel.traffic import PATIENCE_S, both_sides, compared
from tests.kernel.tunnel_vm import FAMILY, OUTER, SPI_IN, SPI_OUT, Lab, receive_all, sa

PORT = 7009
UDP_HEADER = struct.Struct("!HHHH")


def pseudo_header(cell: Cell, src: str, dst: str, length: int) -> bytes:
    """Of UDP (RFC 768; RFC 8200 8.1)."""
    addresses = b"".join(socket.inet_pton(FAMILY[cell.outer], address) for address in (src, dst))
    rest = struct.pack("!BBH", 0, socket.IPPROTO_UDP, length) if cell.outer == 4 else b""
    return addresses + (rest or struct.pack("!IHBB", length, 0, 0, socket.IPPROTO_UDP))


def udp(cell: Cell, src: str, dst: str, data: bytes) -> bytes:
    """A UDP header with its checksum, and the data."""
    length = UDP_HEADER.size + len(data)
    head = UDP_HEADER.pack(PORT, PORT, length, 0)
    value = checksum(pseudo_header(cell, src, dst, length) + head + data) or 0xFFFF
    return UDP_HEADER.pack(PORT, PORT, length, value) + data


def udp_data(cell: Cell, src: str, dst: str, packet: bytes) -> bytes:
    """The data of a UDP packet; ValueError when its header is wrong."""
    sport, dport, length, _ = UDP_HEADER.unpack_from(packet)
    if (sport, dport, length) != (PORT, PORT, len(packet)):
        raise ValueError(f"UDP header says {sport}, {dport}, {length} of {len(packet)} bytes")
    if checksum(pseudo_header(cell, src, dst, length) + packet):
        raise ValueError("UDP checksum wrong")
    return packet[UDP_HEADER.size :]


@dataclass
class Ends:
    """Our SAs with the socket that carries ESP, and the kernel's UDP socket."""

    cell: Cell
    out: dp.Sa
    into: dp.Sa
    wire: socket.socket
    host: socket.socket

    def counters(self) -> dict[str, Any]:
        """In the form of a tunnel's; there is no loop that could drop anything."""
        of = {"out": self.out.counters(), "in": self.into.counters()}
        sas = {k: {"packets": c.packets, "bytes": c.bytes, "seq": c.seq, "drops": c.drops} for k, c in of.items()}
        names = ("udp_send_errors", "udp_rcvbuf_drops", "tun_write_einval")
        return {"sa": sas, "drops": {}, "loop": dict.fromkeys(names, 0)}

    def esp_of(self, packet: bytes) -> bytes:
        """A raw IPv4 socket gives the IP header too (raw(7)); others do not."""
        return packet[(packet[0] & 15) * 4 :] if self.cell.encap == "none" and self.cell.outer == 4 else packet


@contextlib.contextmanager
def ends(lab: Lab, cell: Cell) -> Iterator[Ends]:
    us, kernel = OUTER[cell.outer]
    keys = sa(cell, SPI_OUT, "out"), replace(sa(cell, SPI_IN, "in"), replay_window=0)
    window = kernel_esp.WINDOW[cell.esn]
    with contextlib.ExitStack() as stack:
        stack.callback(lab.xfrm.flush)
        kernel_esp.ip(
            lab.right,
            kernel_esp.state(keys[0], us, kernel, 1, window),
            kernel_esp.state(keys[1], kernel, us, 2, window),
            kernel_esp.transport_policy("in", us, kernel, PORT, 1),
            kernel_esp.transport_policy("out", kernel, us, PORT, 2),
        )
        out, into = (stack.enter_context(dp.Sa(params)) for params in keys)
        if cell.encap == "udp":
            wire = stack.enter_context(lab.socket("left", cell.outer))
            wire.bind((us, 4500))
            wire.connect((kernel, 4500))
        else:
            wire = stack.enter_context(lab.socket("left", cell.outer, socket.SOCK_RAW, socket.IPPROTO_ESP))
            wire.bind((us, 0))
            wire.connect((kernel, 0))
        host = stack.enter_context(lab.socket("right", cell.outer))
        host.bind((kernel, PORT))
        host.connect((us, PORT))
        yield Ends(cell, out, into, wire, host)


def to_kernel(e: Ends) -> dict[str, Any]:
    """Every length, sealed in batches; what the kernel's UDP socket got."""
    us, kernel = OUTER[e.cell.outer]

    def exchange(burst: list[bytes]) -> list[bytes]:
        sealed = e.out.seal([udp(e.cell, us, kernel, data) for data in burst], next_header=socket.IPPROTO_UDP)
        for one in sealed:
            e.wire.send(one.esp)
        return receive_all(e.host, len(burst), PATIENCE_S)

    return compared(e.cell, "left", exchange)


def to_us(e: Ends) -> dict[str, Any]:
    """Every length from the kernel's UDP socket; what we opened, headers checked."""
    us, kernel = OUTER[e.cell.outer]

    def exchange(burst: list[bytes]) -> list[bytes]:
        for data in burst:
            e.host.send(data)
        packets = [e.esp_of(packet) for packet in receive_all(e.wire, len(burst), PATIENCE_S)]
        opened = e.into.open(packets)
        faults = {(one.status, one.next_header) for one in opened} - {("ok", socket.IPPROTO_UDP)}
        if faults:
            raise ValueError(f"opened with status and next header {sorted(faults)}")
        return [udp_data(e.cell, kernel, us, one.inner) for one in opened]

    return compared(e.cell, "right", exchange)


def run_cell(lab: Lab, cell: Cell) -> dict[str, Any]:
    """One cell of the matrix."""
    before = kernel_esp.statistics(lab.right)
    with ends(lab, cell) as e:
        result: dict[str, Any] = {"to_kernel": to_kernel(e), "to_us": to_us(e)}
        result.update(both_sides(lab, e.counters, before))
        return result
