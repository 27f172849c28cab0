"""Segmentation and receive offloads of the laboratory's veths, by the ethtool ioctl (no ethtool binary needed).

A veth hands 64 KB super-packets over whole, which no cable does; so what the veths may do is part of the result:

* ``default``: as the kernel makes them - the upper limit, and what containers on one host see;
* ``wire``: TSO, GSO and UDP segmentation off, GRO on - as network cards without UDP segmentation behave: every
  packet crosses the link by itself and the receiver may put them together again;
* ``off``: GRO off as well - every packet is handled by itself, as on small routers without GRO.
"""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct

from gateway.errors import UnusableError
from gateway.lab.namespaces import NetworkNamespace

MODES = ("default", "wire", "off")

SEND_FEATURES = (
    "tx-tcp-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
    "tx-generic-segmentation",
)
RECEIVE_FEATURES = ("rx-gro",)

# linux/ethtool.h, linux/sockios.h
_SIOCETHTOOL = 0x8946
_GSTRINGS = 0x1B
_GSSET_INFO = 0x37
_GFEATURES = 0x3A
_SFEATURES = 0x3B
_SET_OF_FEATURES = 4
_NAME_BYTES = 32


def features_of(mode: str) -> dict[str, bool]:
    """What ``mode`` switches, by the kernel's feature names; empty for ``default``."""
    if mode == "default":
        return {}
    if mode not in MODES:
        raise UnusableError(f"unknown offload mode {mode!r}", f"one of {', '.join(MODES)}")
    return dict.fromkeys(SEND_FEATURES, False) | dict.fromkeys(RECEIVE_FEATURES, mode == "wire")


def _ioctl(sock: socket.socket, interface: str, request: bytearray) -> bytes:
    """One ETHTOOL command; the kernel answers into the request's own memory."""
    memory = array.array("B", request)
    address, _ = memory.buffer_info()
    fcntl.ioctl(sock, _SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), address))
    return memory.tobytes()


def _feature_names(sock: socket.socket, interface: str) -> list[str]:
    info = _ioctl(sock, interface, bytearray(struct.pack("=IIQI", _GSSET_INFO, 0, 1 << _SET_OF_FEATURES, 0)))
    count = struct.unpack_from("=I", info, 16)[0]
    header = struct.pack("=III", _GSTRINGS, _SET_OF_FEATURES, count)
    names = _ioctl(sock, interface, bytearray(header + bytes(count * _NAME_BYTES)))[12:]
    return [
        names[i * _NAME_BYTES : (i + 1) * _NAME_BYTES].split(b"\0", 1)[0].decode(errors="replace") for i in range(count)
    ]


def _read(sock: socket.socket, interface: str) -> dict[str, bool | None]:
    """By feature: on or off, None where it is off for good."""
    names = _feature_names(sock, interface)
    blocks = (len(names) + 31) // 32
    answer = _ioctl(sock, interface, bytearray(struct.pack("=II", _GFEATURES, blocks) + bytes(16 * blocks)))
    found: dict[str, bool | None] = {}
    for i, name in enumerate(names):
        available, _, active, never_changed = struct.unpack_from("=IIII", answer, 8 + 16 * (i // 32))
        on = bool(active >> (i % 32) & 1)
        can = on or bool((available & ~never_changed) >> (i % 32) & 1)
        if name:
            found[name] = on if can else None
    return found


def features(interface: str) -> dict[str, bool | None]:
    """Of an interface here, by the kernel's names: on, off, or None for what it cannot. OSError when there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        return _read(sock, interface)


def apply(namespace: NetworkNamespace, interface: str, mode: str) -> None:
    """Sets ``interface`` to ``mode`` and reads it back; UnusableError when the kernel keeps it otherwise."""
    wanted = features_of(mode)
    if not wanted:
        return
    with namespace.entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            names = _feature_names(sock, interface)
            blocks = (len(names) + 31) // 32
            valid, requested = [0] * blocks, [0] * blocks
            for i, name in enumerate(names):
                if name in wanted:
                    valid[i // 32] |= 1 << (i % 32)
                    requested[i // 32] |= wanted[name] << (i % 32)
            body = b"".join(struct.pack("=II", v, r) for v, r in zip(valid, requested, strict=True))
            _ioctl(sock, interface, bytearray(struct.pack("=II", _SFEATURES, blocks) + body))
            active = _read(sock, interface)
        except OSError as error:
            raise UnusableError(
                f"cannot set offloads of {interface} in {namespace.name}: {os.strerror(error.errno or 0)}",
                "--offload default leaves them alone",
            ) from error
    kept = [name for name, on in wanted.items() if active.get(name, on) != on]
    if kept:
        raise UnusableError(
            f"this kernel will not switch {', '.join(kept)} of {interface}", "--offload default leaves them alone"
        )
