"""Pure packet functions of the I/O layer, for property tests and fuzzing."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from dataplane._native import DataplaneError, buffer, check, ffi, lib

VNET_HDR_BYTES = 10
"""struct virtio_net_hdr, always little-endian here."""
MAX_SEGMENTS = 65536


def checksum(data: bytes, start: int = 0) -> int:
    """Internet checksum (RFC 1071) of ``data``, any length and alignment, added to the partial sum ``start``."""
    return int(lib.gw_checksum(buffer(data), len(data), start))


def segment(vnet_and_packet: bytes) -> list[bytes]:
    """A TUN read (10-byte virtio_net_hdr, then packet) as the wire packets that it stands for.

    DataplaneError (EINVAL) when header and packet contradict each other.
    """
    room = len(vnet_and_packet) * 120 + 65536  # headers come again with every segment
    out = ffi.new("uint8_t[]", room)
    lens = ffi.new("uint32_t[]", MAX_SEGMENTS)
    n = check(
        int(lib.gw_segment_flat(buffer(vnet_and_packet), len(vnet_and_packet), out, room, lens, MAX_SEGMENTS)),
        None,
        "cannot segment",
    )
    return _split(bytes(ffi.buffer(out, sum(lens[0:n]))), [int(x) for x in lens[0:n]])


def clamp_mss(packet: bytes, mtu: int) -> bytes:
    """A TCP SYN with its MSS option lowered to what ``mtu`` bytes have room for; any other packet as it is."""
    data = ffi.new("uint8_t[]", packet)
    lib.gw_clamp_mss(data, len(packet), mtu)
    return bytes(ffi.buffer(data, len(packet)))


def coalesce(packets: Sequence[bytes]) -> list[bytes]:
    """Packets joined by the kernel's GRO rule: TUN writes, each a virtio_net_hdr and a packet."""
    data = b"".join(packets)
    lens = ffi.new("uint32_t[]", [len(packet) for packet in packets] or [0])
    room = len(data) + VNET_HDR_BYTES * len(packets) + 64
    out = ffi.new("uint8_t[]", room)
    max_out = max(len(packets), 1)
    out_lens = ffi.new("uint32_t[]", max_out)
    n = check(
        int(lib.gw_coalesce_flat(buffer(data), lens, len(packets), out, room, out_lens, max_out)),
        None,
        "cannot coalesce",
    )
    if n > max_out:
        raise DataplaneError("coalescing made more packets than it was given", errno.ENOSPC)
    return _split(bytes(ffi.buffer(out, sum(out_lens[0:n]))), [int(x) for x in out_lens[0:n]])


def _split(data: bytes, lengths: Sequence[int]) -> list[bytes]:
    parts, at = [], 0
    for length in lengths:
        parts.append(data[at : at + length])
        at += length
    return parts
