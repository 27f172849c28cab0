"""A gateway killed at once and started again under traffic: it lost its counters, so its keys must not live on.

client --- gw1 ==wan== gw2 --- server         gw1 is killed; a tap in gw2 reads every ESP packet of both directions
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from gateway.lab.topology import Laboratory
from gateway.lab.tunnel import PORT
from tests.e2e.control_plane import ControlPlane, udp_pair

RESTARTS = 3
RESUMES_WITHIN_S = 2.0
PATIENCE_S = 60
_ETH_P_ALL = 3
_HEADERS = 14 + 20 + 8
"""Ethernet, IPv4, UDP."""


class Stream:
    """Numbered datagrams, one way, as long as it lives; remembers when each of those that came was sent."""

    def __init__(self, sender: socket.socket, receiver: socket.socket) -> None:
        self._sender, self._receiver = sender, receiver
        receiver.settimeout(0.1)
        self._over = threading.Event()
        self.arrived: list[float] = []
        """When each one that arrived had been sent, monotonic seconds."""
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self) -> None:
        while not self._over.wait(0.005):
            with contextlib.suppress(OSError):  # no route while there is no gateway
                self._sender.send(struct.pack("!d", time.monotonic()) + bytes(200))

    def _receive(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(OSError):
                self.arrived.append(struct.unpack_from("!d", self._receiver.recv(2000))[0])

    def wait_for_one_sent_after(self, moment: float) -> None:
        end = time.monotonic() + PATIENCE_S
        while not any(sent > moment for sent in self.arrived[-200:]):
            assert time.monotonic() < end, "no traffic came back"
            time.sleep(0.002)

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with Laboratory("site-to-site", "off") as lab:
        lab.route_tunnel()
        with contextlib.closing(ControlPlane(lab, "aes128gcm16")) as found:
            yield found


class Tap:
    """Reads the wire while everything else happens: SPI, sequence number and IV of each ESP packet."""

    def __init__(self, interface: str) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self._socket.bind((interface, _ETH_P_ALL))
        self._socket.settimeout(0.1)
        self._over = threading.Event()
        self.seen: list[tuple[int, int, bytes]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                frame = self._socket.recv(65536)
            except TimeoutError:
                if self._over.is_set():
                    return
                continue
            if (
                frame[12:14] == b"\x08\x00"
                and frame[23] == socket.IPPROTO_UDP
                and PORT in struct.unpack_from("!HH", frame, 34)
            ):
                esp = frame[_HEADERS:]
                if len(esp) > 24:
                    self.seen.append((*struct.unpack_from("!II", esp), esp[8:16]))

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()


def test_a_killed_gateway_comes_back_with_new_keys(plane: ControlPlane) -> None:
    lab = plane.lab
    with contextlib.ExitStack() as stack:
        with lab.right.namespace.entered():
            tap = Tap("wan")
        tap.start()
        stack.callback(tap.stop)
        plane.up()
        pairs = [udp_pair(stack, lab, port) for port in (7021, 7022)]
        streams = [Stream(*pairs[0]), Stream(*pairs[1][::-1])]
        for stream in streams:
            stack.callback(stream.stop)
        took_s = []
        for _ in range(RESTARTS):
            for stream in streams:
                stream.wait_for_one_sent_after(time.monotonic())
            plane.kill(lab.left)
            plane.start(lab.left)
            restarted, held_up = time.monotonic(), plane.held_up_s()
            plane.open(lab.left, lab.right)
            plane.rekey()
            for stream in streams:
                stream.wait_for_one_sent_after(restarted)
            took_s.append(time.monotonic() - restarted - (plane.held_up_s() - held_up))
        for stream in streams:
            stream.stop()
        seen, keys = tap.seen, plane.keys
        # Less what this process and the gateways waited for a CPU that others had; and of several restarts one was not
        # held up otherwise.
        assert min(took_s) <= RESUMES_WITHIN_S, took_s
        assert len(keys) == 2 * (RESTARTS + 1) == len(set(keys.values()))
        assert {spi for spi, _, _ in seen} == set(keys), "every SA was used"
        again = [(hex(spi), n) for (spi, _), n in Counter((spi, iv) for spi, _, iv in seen).items() if n > 1]
        assert again == [], "an IV twice under one key"
        nonces = Counter((keys[spi], iv) for spi, _, iv in seen)
        assert max(nonces.values()) == 1 and len(nonces) == len(seen) > 100
        for spi in keys:  # from the first: a counter that went back would be seen here too
            numbers = [number for one, number, _ in seen if one == spi]
            assert numbers == sorted(set(numbers))
