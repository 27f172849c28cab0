"""On the wire between the gateways: nothing in clear, and what does not belong there is dropped for the right reason.

client --- gw1 ==wan== gw2 --- server
                 ^ AF_PACKET: captures what passes, injects what an attacker would
"""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from gateway.lab.topology import CLIENT_V4, SERVER_V4, Laboratory
from gateway.lab.tunnel import Tunnel, TunnelConfig, open_tunnel
from gateway.validity import difference

_ETH_P_ALL = 3
_HEADERS = 14 + 20 + 8
"""Ethernet, IPv4, UDP."""
PATTERN = b"gwbench-in-clear-" * 4


@dataclass
class Line:
    """A laboratory with a tunnel, a UDP pair through it, and a tap in the receiving gateway's namespace."""

    lab: Laboratory
    tunnel: Tunnel
    client: socket.socket
    server: socket.socket
    tap: socket.socket
    """In gw2: sees what arrives, the sender's source side."""
    injector: socket.socket
    """In gw1: sends towards gw2."""

    def exchange(self, payload: bytes = b"hello") -> None:
        """A packet each way, or the test fails."""
        for sender, receiver in ((self.client, self.server), (self.server, self.client)):
            sender.send(payload)
            assert receiver.recv(65536) == payload

    def captured(self) -> list[bytes]:
        """Frames with ESP over UDP that arrived at gw2 so far, oldest first."""
        frames = []
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, address = self.tap.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING and is_esp(frame):
                    frames.append(frame)
        return frames

    def drops(self, action: Callable[[], None]) -> dict[str, int]:
        """What gw2 dropped, by reason, because of ``action``."""
        before = self.tunnel.right.counters()
        action()
        time.sleep(0.2)
        after = difference(self.tunnel.right.counters(), before)
        total: dict[str, int] = {}
        for drops in (after.drops, *(sa.drops for sa in after.sas)):
            for reason, count in drops.items():
                if count:
                    total[reason] = total.get(reason, 0) + count
        return total


def is_esp(frame: bytes) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP and frame[36:38] == struct.pack("!H", 4500)


def with_esp(frame: bytes, esp: bytes) -> bytes:
    """The frame with another ESP packet inside; lengths and IPv4 checksum right, UDP checksum absent (RFC 3948)."""
    header = bytearray(frame[14:34])
    header[2:4] = struct.pack("!H", 28 + len(esp))
    header[10:12] = b"\0\0"
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    header[10:12] = struct.pack("!H", ~total & 0xFFFF)
    udp = frame[34:38] + struct.pack("!HH", 8 + len(esp), 0)
    return frame[:14] + bytes(header) + udp + esp


def packet_socket(interface: str) -> socket.socket:
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    tap.bind((interface, _ETH_P_ALL))
    tap.setblocking(False)
    return tap


@pytest.fixture(params=["aes128gcm16", "aes256-sha256"])
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    with contextlib.ExitStack() as stack:
        lab = stack.enter_context(Laboratory("site-to-site"))
        lab.route_tunnel()
        tunnel = open_tunnel(lab, TunnelConfig(request.param, "auto"))
        stack.callback(tunnel.close)
        ends = []
        for namespace, address in ((lab.client, CLIENT_V4), (lab.server, SERVER_V4)):
            with namespace.entered():
                end = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            end.bind((address, 7007))
            end.settimeout(5)
            ends.append(end)
        ends[0].connect((SERVER_V4, 7007))
        ends[1].connect((CLIENT_V4, 7007))
        with lab.right.namespace.entered():
            tap = stack.enter_context(packet_socket("wan"))
        with lab.left.namespace.entered():
            injector = stack.enter_context(packet_socket("wan"))
        yield Line(lab, tunnel, ends[0], ends[1], tap, injector)


def a_frame(line: Line) -> bytes:
    """A genuine frame, already delivered."""
    line.captured()
    line.exchange()
    frames = line.captured()
    assert frames
    return frames[-1]


def test_nothing_in_clear(line: Line) -> None:
    line.captured()
    for _ in range(20):
        line.exchange(PATTERN * 10)
    frames = line.captured()
    assert len(frames) == 20
    assert not any(PATTERN in frame for frame in frames)
    # The addresses inside are hidden as well.
    assert not any(socket.inet_aton(SERVER_V4) in frame[_HEADERS:] for frame in frames)


def test_the_tap_would_see_clear_text(line: Line) -> None:
    """The test above can fail: the plain line shows everything."""
    line.tunnel.close()
    line.lab.route_plain()
    seen: list[bytes] = []
    line.client.send(PATTERN)
    assert line.server.recv(65536) == PATTERN
    with contextlib.suppress(BlockingIOError):
        while True:
            seen.append(line.tap.recv(65536))
    assert any(PATTERN in frame for frame in seen)


def test_no_plain_way_around_a_dead_tunnel(line: Line) -> None:
    line.exchange()
    line.tunnel.close()
    line.tap.setblocking(False)
    line.captured()
    with contextlib.suppress(OSError):
        for _ in range(5):
            line.client.send(PATTERN)
    line.server.settimeout(0.3)
    with pytest.raises(TimeoutError):
        line.server.recv(65536)
    with contextlib.suppress(BlockingIOError):
        while True:
            assert PATTERN not in line.tap.recv(65536)


def test_replayed(line: Line) -> None:
    frame = a_frame(line)
    # Its UDP checksum was left to a network card that does not exist: without one the kernel takes it.
    copy = with_esp(frame, frame[_HEADERS:])
    assert line.drops(lambda: [line.injector.send(copy) for _ in range(3)] and None) == {"state_seq_error": 3}
    line.exchange()


@pytest.mark.parametrize("where", ["sequence", "ciphertext", "icv"])
def test_corrupted(line: Line, where: str) -> None:
    """A sequence number that the window has not seen, so that the ICV decides."""
    frame = a_frame(line)
    esp = bytearray(frame[_HEADERS:])
    esp[4:8] = struct.pack("!I", struct.unpack("!I", esp[4:8])[0] + 100)
    if where == "ciphertext":
        esp[len(esp) // 2] ^= 1
    elif where == "icv":
        esp[-1] ^= 0x80
    bad = with_esp(frame, bytes(esp))
    # Twice: the window must not have moved on account of a packet that was not authentic.
    assert line.drops(lambda: [line.injector.send(bad) for _ in range(2)] and None) == {"state_proto_error": 2}
    for _ in range(120):
        line.exchange()


def test_foreign(line: Line) -> None:
    frame = a_frame(line)
    esp = bytearray(frame[_HEADERS:])
    esp[0:4] = b"\x12\x34\x56\x78"
    assert line.drops(lambda: line.injector.send(with_esp(frame, bytes(esp))) and None) == {"in_no_states": 1}
    line.exchange()


def test_of_the_other_direction(line: Line) -> None:
    """The SPI under which gw2 itself sends is no SPI to receive by."""
    frame = a_frame(line)
    esp = bytearray(frame[_HEADERS:])
    esp[0:4] = struct.pack("!I", line.tunnel.spis["reverse"])
    drops = line.drops(lambda: line.injector.send(with_esp(frame, bytes(esp))) and None)
    assert sum(drops.values()) == 1
    assert set(drops) <= {"in_no_states", "in_state_invalid"}
    line.exchange()


def test_truncated(line: Line) -> None:
    frame = a_frame(line)
    esp = bytearray(frame[_HEADERS:])
    esp[4:8] = struct.pack("!I", struct.unpack("!I", esp[4:8])[0] + 100)
    lengths = range(4, len(esp))
    drops = line.drops(lambda: [line.injector.send(with_esp(frame, bytes(esp[:n]))) for n in lengths] and None)
    # Too short for the headers of this suite, or misaligned: in_hdr_error. Otherwise the ICV is wrong.
    assert set(drops) <= {"in_hdr_error", "state_proto_error"}
    assert drops["in_hdr_error"] > 0
    assert sum(drops.values()) == len(lengths)
    line.exchange()


def test_keepalive_and_ike_are_no_esp(line: Line) -> None:
    """RFC 3948: one byte 0xff keeps a NAT open; four zero bytes announce IKE."""
    frame = a_frame(line)
    before = line.tunnel.right.counters()
    line.injector.send(with_esp(frame, b"\xff"))
    line.injector.send(with_esp(frame, b"\0\0\0\0" + bytes(28)))
    time.sleep(0.2)
    after = difference(line.tunnel.right.counters(), before)
    assert after.loop["keepalives"] == 1
    assert after.loop["non_esp"] == 1
    assert not any(after.drops.values())
    line.exchange()


def test_random_bytes(line: Line) -> None:
    generator = random.Random(1)
    frame = a_frame(line)
    junk = [with_esp(frame, b"\1" + generator.randbytes(generator.randrange(4, 1400))) for _ in range(300)]
    drops = line.drops(lambda: [line.injector.send(one) for one in junk] and None)
    assert sum(drops.values()) == len(junk)
    assert set(drops) <= {"in_hdr_error", "in_no_states"}
    line.exchange()
