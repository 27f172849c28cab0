"""A capture of the line between the gateways: unreadable without the keys, a clean dissection with them.

client --- gw1 ==wan== gw2 --- server         tshark reads what a tap in gw2 has written
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from dataplane import find_suite
from gateway.lab.topology import CLIENT_V4, CLIENT_V6, SERVER_V4, SERVER_V6, Laboratory
from tests.e2e.control_plane import ControlPlane, udp_pair

PATTERN = b"gwbench-in-clear-" * 4
LENGTHS = (*range(1, 36), 500, 1300)
TCP_BYTES = 40_000
_ETH_P_ALL = 3
# Suite: Wireshark's words for its cipher and its integrity.
SUITES = {
    "aes128gcm16": ("AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
    "aes256gcm16": ("AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
    "aes128-sha256": ("AES-CBC [RFC3602]", "HMAC-SHA-256-128 [RFC4868]"),
    "aes256-sha256": ("AES-CBC [RFC3602]", "HMAC-SHA-256-128 [RFC4868]"),
}
CASES = [
    ("aes128gcm16", "ipv4", "udp"),
    ("aes256gcm16", "ipv6", "none"),
    ("aes128-sha256", "ipv6", "udp"),
    ("aes256-sha256", "ipv4", "none"),
]
FIELDS = ("frame.number", "esp.spi", "esp.sequence", "esp.icv_good", "_ws.malformed", "frame.protocols", "data.data")


def payload(n: int) -> bytes:
    return (PATTERN * (n // len(PATTERN) + 1))[:n]


def send_everything(lab: Laboratory) -> int:
    """Datagrams of many lengths and a TCP stream, IPv4 and IPv6, both ways; how many datagrams."""
    count = 0
    with ExitStack() as stack:
        for family in (socket.AF_INET, socket.AF_INET6):
            client, server = udp_pair(stack, lab, 7031, family)
            for end in (client, server):
                end.settimeout(30)
            for n in LENGTHS:
                for sender, receiver in ((client, server), (server, client)):
                    sender.send(payload(n))
                    assert receiver.recv(2000) == payload(n)
                    count += 1
            stream(stack, lab, family)
    return count


def stream(stack: ExitStack, lab: Laboratory, family: socket.AddressFamily) -> None:
    """TCP, there and back."""
    with lab.server.entered():
        listener = stack.enter_context(socket.create_server(("", 7032), family=family))
    with lab.client.entered():
        client = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    client.bind((CLIENT_V4 if family == socket.AF_INET else CLIENT_V6, 0))
    client.settimeout(60)
    client.connect((SERVER_V4 if family == socket.AF_INET else SERVER_V6, 7032))
    server = stack.enter_context(listener.accept()[0])
    server.settimeout(60)
    for sender, receiver in ((client, server), (server, client)):
        sender.sendall(payload(TCP_BYTES))
        got = b""
        while len(got) < TCP_BYTES:
            got += receiver.recv(65536)
        assert got == payload(TCP_BYTES)


def write_capture(path: Path, frames: list[bytes]) -> None:
    """pcap, link type Ethernet."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def write_keys(directory: Path, plane: ControlPlane) -> None:
    """Wireshark's table of ESP SAs, for this test's user alone: an argument list would show keys to everyone."""
    directory.mkdir(mode=0o700)
    cipher, integrity = SUITES[plane.suite]
    kind = "IPv6" if plane.outer == "ipv6" else "IPv4"
    rows = []
    for spi, key in plane.keys.items():
        auth = plane.auth_keys[spi]
        row = (kind, "*", "*", f"0x{spi:08x}", cipher, f"0x{key.hex()}", integrity, f"0x{auth.hex()}" if auth else "")
        rows.append(",".join(f'"{value}"' for value in row))
    preferences = (
        *("esp.enable_encryption_decode: TRUE", "esp.enable_authentication_check: TRUE"),
        *("esp.enable_null_encryption_decode_heuristic: FALSE", "ip.check_checksum: TRUE"),
    )
    for name, lines in (("esp_sa", rows), ("preferences", preferences)):
        fd = os.open(directory / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write("\n".join(lines) + "\n")


def dissect(capture: Path, configuration: Path) -> list[dict[str, str]]:
    """tshark's fields of every packet."""
    words = ["tshark", "-n", "-r", str(capture), "-Y", "esp", "-T", "fields", "-E", "separator=|"]
    for name in FIELDS:
        words += ["-e", name]
    environment = {**os.environ, "WIRESHARK_CONFIG_DIR": str(configuration)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in done.stdout.splitlines()]


def drained(tap: socket.socket) -> list[bytes]:
    frames = []
    with suppress(BlockingIOError):
        while True:
            frames.append(tap.recv(1 << 18))
    return frames


@pytest.fixture(params=CASES, ids=["-".join(case) for case in CASES])
def plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    suite, outer, encap = request.param
    # Offloads off: what a tap sees are then the packets of a real line.
    with Laboratory("site-to-site", "off") as lab:
        lab.route_tunnel()
        with closing(ControlPlane(lab, suite, outer, encap, esn=False)) as found:
            found.up()
            yield found


def settled(plane: ControlPlane) -> dict[int, int]:
    """Packets that each outbound SA sealed, once none has been added for a while."""
    now: dict[int, int] = {}
    while True:
        before, now = (
            now,
            {
                sa.spi: sa.packets
                for node in plane.nodes.values()
                for sa in node.counters().sas
                if sa.direction == "out"
            },
        )
        if now == before:
            return now
        time.sleep(0.5)


def test_unreadable_without_keys_and_clean_with_them(plane: ControlPlane, tmp_path: Path) -> None:
    with plane.lab.right.namespace.entered():
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    with tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        tap.bind(("wan", _ETH_P_ALL))
        tap.setblocking(False)
        datagrams = send_everything(plane.lab)
        sealed = settled(plane)
        frames = drained(tap)
    nothing_in_clear(frames)
    capture = tmp_path / "wan.pcap"
    write_capture(capture, frames)
    write_keys(tmp_path / "wireshark", plane)
    packets = dissect(capture, tmp_path / "wireshark")
    seen: dict[int, list[int]] = {spi: [] for spi in sealed}
    for packet in packets:
        seen[int(packet["esp.spi"], 16)].append(int(packet["esp.sequence"]))
    for spi, last in sealed.items():
        # All of them, but for a neighbour's or a multicast report's before the tap was there.
        first = min(seen[spi])
        assert first < 8 and sorted(seen[spi]) == list(range(first, last + 1))
    for packet in packets:
        assert packet["_ws.malformed"] == ""
        # Inside ESP there is a whole IP packet, down to UDP's data, TCP or ICMPv6.
        assert packet["frame.protocols"].split(":esp:")[1].split(":")[0] in ("ip", "ipv6"), packet
    if find_suite(plane.suite).auth_key_bytes:
        assert all(packet["esp.icv_good"] in ("1", "True") for packet in packets)
    contents = [
        bytes.fromhex(packet["data.data"]) for packet in packets if ":udp:data" in packet["frame.protocols"][20:]
    ]
    assert sorted(map(len, contents)) == sorted(n for n in LENGTHS for _ in range(4))
    assert all(data == payload(len(data)) for data in contents)
    assert len(contents) == datagrams
    assert any(":tcp" in packet["frame.protocols"] for packet in packets)
    # Without the keys nothing of this is found.
    (tmp_path / "nothing").mkdir()
    blind = dissect(capture, tmp_path / "nothing")
    assert len(blind) == len(packets)
    assert not any(":esp:ip" in packet["frame.protocols"] for packet in blind)


def nothing_in_clear(frames: list[bytes]) -> None:
    """No inner byte pattern: neither the content nor the addresses."""
    assert len(frames) > 4 * len(LENGTHS)
    inside = [PATTERN[:12]]
    inside += [socket.inet_pton(socket.AF_INET, address) for address in (CLIENT_V4, SERVER_V4)]
    inside += [socket.inet_pton(socket.AF_INET6, address) for address in (CLIENT_V6, SERVER_V6)]
    assert not any(pattern in frame for frame in frames for pattern in inside)
