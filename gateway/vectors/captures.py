"""Captures (schema pcap-index-v1): their packets sorted as RFC 3948 says, and counted against the index.

Where the index has keys of a suite that is known here, the packets are opened as well.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dataplane as dp
from gateway.vectors import esp
from gateway.vectors.document import Document, Fields, MalformedError, fields
from gateway.vectors.outcome import Book

LINK_NULL, LINK_ETHERNET, LINK_RAW, LINK_SLL = 0, 1, 101, 113
IP_LINKS = {LINK_RAW, 12, 228, 229}
KINDS = {"esp": "ESP", "isakmp": "IKE", "nat_keepalive": "keepalives", "non_esp_marker": "non-ESP markers"}


def _pcap(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(link type, frame) of a classic capture file, either byte order."""
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}[
        data[:4]
    ]
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        yield link, data[at + 16 : at + 16 + size]
        at += 16 + size


def _pcapng(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(link type, frame): section header, interface description, enhanced and simple packet blocks."""
    order, at = "<", 0
    links: list[int] = []
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < 12 or at + size > len(data):
            return
        body = data[at + 8 : at + size - 4]
        if kind == 1:
            links.append(struct.unpack_from(order + "H", body)[0])
        elif kind == 6 and len(body) >= 20:
            interface, _, _, captured = struct.unpack_from(order + "IIII", body)
            yield links[interface] if interface < len(links) else -1, body[20 : 20 + captured]
        elif kind == 3 and links:
            yield links[0], body[4 : 4 + struct.unpack_from(order + "I", body)[0]]
        at += size


def frames(data: bytes) -> list[tuple[int, bytes]]:
    """All frames of a capture; ValueError for what is none."""
    try:
        if data[:4] == b"\x0a\x0d\x0d\x0a":
            return list(_pcapng(data))
        return list(_pcap(data))
    except (KeyError, struct.error):
        raise ValueError("is neither pcap nor pcapng") from None


def _network(link: int, frame: bytes) -> bytes:
    """The IP packet; empty where there is none."""
    if link in IP_LINKS:
        return frame
    if link == LINK_NULL:
        return frame[4:]
    if link == LINK_SLL:
        return frame[16:]
    if link != LINK_ETHERNET:
        return b""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return frame[at + 2 :] if frame[at : at + 2] in (b"\x08\x00", b"\x86\xdd") else b""


def _upper(packet: bytes) -> tuple[int, bytes]:
    """(protocol, its data); later fragments and what is no IP are protocol -1."""
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        length = int.from_bytes(packet[2:4], "big")
        if int.from_bytes(packet[6:8], "big") & 0x1FFF:
            return -1, b""
        return packet[9], packet[(packet[0] & 15) * 4 : length or len(packet)]
    if len(packet) >= 40 and packet[0] >> 4 == 6:
        protocol, at = packet[6], 40
        while protocol in (0, 43, 60) and at + 2 <= len(packet):
            protocol, at = packet[at], at + 8 + 8 * packet[at + 1]
        return protocol, packet[at : 40 + int.from_bytes(packet[4:6], "big")]
    return -1, b""


def sort(packet: bytes) -> tuple[tuple[str, ...], bytes]:
    """(kinds, ESP bytes) of one IP packet. RFC 3948 2: on port 4500 a zero word marks IKE, one byte a keepalive."""
    protocol, data = _upper(packet)
    if protocol == 50:
        return ("esp",), data
    if protocol != 17 or len(data) < 8:
        return (), b""
    ports = struct.unpack_from("!HH", data)
    length = int.from_bytes(data[4:6], "big") - 8
    body = data[8 : 8 + max(length, 0)]
    if 4500 in ports:
        if body == b"\xff":
            return ("nat_keepalive",), b""
        if body[:4] == bytes(4) and len(body) >= 4:
            return ("isakmp", "non_esp_marker"), b""
        # What was captured may be less than what was sent.
        return (("esp",), body) if length >= 8 and len(body) >= 4 else ((), b"")
    return (("isakmp",) if 500 in ports and body else ()), b""


def _open(case: Fields, packets: list[bytes], book: Book) -> None:
    """Opens the packets of each key that the index has."""
    for key in case.items("esp_keys"):
        if not isinstance(key, dict):
            raise case.complain("a key is not an object")
        values: dict[str, Any] = {"expect": "ok", "mode": "tunnel", **key}
        for number, packet in enumerate(packets):
            if int.from_bytes(packet[:4], "big") != key.get("spi"):
                continue
            one = esp.read(case.like({**values, "esp": packet.hex(), "name": f"{case.name} packet {number + 1}"}))
            suite = esp.suite_name(one)
            if not suite:
                book["-"].not_applicable[f"no suite is {one.enc_alg} with {one.auth_alg}"] += 1
                continue
            for tag in esp.wishes(suite):
                with esp.receiver(one, suite, tag) as sa:
                    status = sa.open([one.esp])[0].status
                book[dp.resolve(suite, tag)].judge("" if status == "ok" else f"{one.name}: {status}")


def run(document: Document, book: Book) -> None:
    """Every capture; its file lies relative to the index."""
    for case in fields(document):
        name = case.word("file", "")
        path = Path(document.path.parent, name)
        try:
            found = frames(path.read_bytes())
        except OSError as error:
            raise MalformedError(document.path, f"{name or 'a capture without a name'}: {error.strerror}") from None
        except ValueError as error:
            raise MalformedError(path, str(error)) from None
        counts: Counter[str] = Counter()
        packets = []
        for link, frame in found:
            kinds, body = sort(_network(link, frame))
            counts.update(kinds)
            if kinds == ("esp",):
                packets.append(body)
        got = {"packets": len(found), **{kind: counts[kind] for kind in KINDS}}
        wrong = [
            f"{got[k]} {KINDS.get(k, k)}, not {case.number(k)}" for k in got if case.has(k) and got[k] != case.number(k)
        ]
        book["parser"].judge(f"{name}: {', '.join(wrong)}" if wrong else "")
        _open(case, packets, book)
