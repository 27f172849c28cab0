"""Packets for the I/O tests, and a plain-Python oracle of what the C code must do with them."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << i for i in range(8))
NEEDS_CSUM = 1
GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, GSO_ECN = 1, 4, 5, 0x80
TCP, UDP = 6, 17


def ones_sum(data: bytes, start: int = 0) -> int:
    """RFC 1071 by the book: big-endian words, end-around carry."""
    if len(data) % 2:
        data += b"\0"
    total = start + sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def pseudo_header(packet: bytes, proto: int, length: int) -> bytes:
    if packet[0] >> 4 == 4:
        return packet[12:20] + struct.pack(">BBH", 0, proto, length)
    return packet[8:40] + struct.pack(">IHBB", length, 0, 0, proto)


def ipv4(
    proto: int,
    body: bytes,
    *,
    src: str = "10.1.0.1",
    dst: str = "10.2.0.2",
    tos: int = 0,
    ttl: int = 64,
    df: bool = True,
    ident: int = 0,
    fragment: int = 0,
    options: bytes = b"",
) -> bytes:
    """fragment: offset in units of 8 bytes, | 0x2000 for more fragments."""
    ihl = 5 + len(options) // 4
    head = struct.pack(
        ">BBHHHBBH4s4s",
        0x40 | ihl,
        tos,
        ihl * 4 + len(body),
        ident & 0xFFFF,
        (0x4000 if df else 0) | fragment,
        ttl,
        proto,
        0,
        ipaddress.IPv4Address(src).packed,
        ipaddress.IPv4Address(dst).packed,
    )
    head += options
    return head[:10] + struct.pack(">H", ones_sum(head) ^ 0xFFFF) + head[12:] + body


def ipv6(
    proto: int,
    body: bytes,
    *,
    src: str = "fd00::1",
    dst: str = "fd00::2",
    tclass: int = 0,
    flow: int = 0,
    hops: int = 64,
) -> bytes:
    return (
        struct.pack(">IHBB", 0x60000000 | tclass << 20 | flow, len(body), proto, hops)
        + ipaddress.IPv6Address(src).packed
        + ipaddress.IPv6Address(dst).packed
        + body
    )


@dataclass(frozen=True)
class Tcp:
    """One TCP packet's variable parts."""

    v6: bool = False
    sport: int = 5001
    dport: int = 5201
    seq: int = 1000
    ack: int = 7
    flags: int = ACK
    window: int = 512
    options: bytes = b""
    payload: bytes = b""
    tos: int = 0
    ttl: int = 64
    df: bool = True
    ident: int = 0
    flow: int = 0
    host: int = 1
    """Last byte of the source address."""

    def build(self, *, bad_checksum: bool = False) -> bytes:
        offset = 5 + len(self.options) // 4
        head = struct.pack(
            ">HHIIBBHHH",
            self.sport,
            self.dport,
            self.seq & 0xFFFFFFFF,
            self.ack,
            offset << 4,
            self.flags,
            self.window,
            0,
            0,
        )
        return self.wrap(head + self.options + self.payload, bad_checksum)

    def wrap(self, body: bytes, bad_checksum: bool) -> bytes:
        if self.v6:
            packet = ipv6(TCP, body, src=f"fd00::{self.host}", tclass=self.tos, flow=self.flow, hops=self.ttl)
        else:
            packet = ipv4(
                TCP, body, src=f"10.1.0.{self.host}", tos=self.tos, ttl=self.ttl, df=self.df, ident=self.ident
            )
        return complete(packet, TCP, 16, wrong=bad_checksum)


def upper_offset(packet: bytes) -> int:
    return (packet[0] & 15) * 4 if packet[0] >> 4 == 4 else 40


def complete(packet: bytes, proto: int, field: int, *, wrong: bool = False) -> bytes:
    """Sets the transport checksum of a packet without extension headers."""
    at = upper_offset(packet)
    body = packet[at : at + field] + b"\0\0" + packet[at + field + 2 :]
    value = ones_sum(pseudo_header(packet, proto, len(body)) + body) ^ 0xFFFF
    if proto == UDP and value == 0:
        value = 0xFFFF
    if wrong:
        value ^= 0x0101
    return packet[: at + field] + struct.pack(">H", value) + packet[at + field + 2 :]


def checksums_right(packet: bytes) -> bool:
    """IPv4 header and TCP or UDP checksum."""
    at = upper_offset(packet)
    if packet[0] >> 4 == 4 and ones_sum(packet[:at]) != 0xFFFF:
        return False
    proto = packet[9] if packet[0] >> 4 == 4 else packet[6]
    return ones_sum(pseudo_header(packet, proto, len(packet) - at) + packet[at:]) == 0xFFFF


def vnet(flags: int = 0, gso: int = 0, hdr_len: int = 0, size: int = 0, start: int = 0, offset: int = 0) -> bytes:
    return struct.pack("<BBHHHH", flags, gso, hdr_len, size, start, offset)


def partial(packet: bytes, proto: int, field: int) -> bytes:
    """As a kernel hands a packet to a device with checksum offload: the pseudo-header's sum in the field."""
    at = upper_offset(packet)
    value = ones_sum(pseudo_header(packet, proto, len(packet) - at))
    return packet[: at + field] + struct.pack(">H", value) + packet[at + field + 2 :]


def segment_by_the_book(write: bytes) -> list[bytes]:
    """What a kernel makes of a TCP super-packet behind its virtio_net_hdr."""
    flags, gso, _, size, start, _ = struct.unpack("<BBHHHH", write[:10])
    packet = write[10:]
    if gso & ~GSO_ECN == 0:
        return [complete(packet, TCP, 16)] if flags & NEEDS_CSUM else [packet]
    header = start + (packet[start + 12] >> 4) * 4
    payload = packet[header:]
    pieces = [payload[i : i + size] for i in range(0, len(payload), size)]
    out = []
    for i, piece in enumerate(pieces):
        head = bytearray(packet[:header])
        if head[0] >> 4 == 4:
            struct.pack_into(">H", head, 2, header + len(piece))
            ident = int.from_bytes(head[4:6], "big") + i
            struct.pack_into(">H", head, 4, ident & 0xFFFF)
            struct.pack_into(">H", head, 10, 0)
            struct.pack_into(">H", head, 10, ones_sum(bytes(head[:start])) ^ 0xFFFF)
        else:
            struct.pack_into(">H", head, 4, header - 40 + len(piece))
        seq = int.from_bytes(head[start + 4 : start + 8], "big") + i * size
        struct.pack_into(">I", head, start + 4, seq & 0xFFFFFFFF)
        if i:
            head[start + 13] &= ~CWR & 0xFF
        if i + 1 < len(pieces):
            head[start + 13] &= ~(FIN | PSH) & 0xFF
        out.append(complete(bytes(head) + piece, TCP, 16))
    return out
