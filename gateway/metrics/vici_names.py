"""strongSwan's names of connections and children, by vici (PyPI's ``vici``, with a socket of our own and a limit)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from gateway.errors import MeasurementError, install_hint
from gateway.metrics.ledger import TunnelName

SOCKETS = ("/run/charon.vici", "/var/run/charon.vici")
TIMEOUT_S = 5.0


def find_socket() -> str | None:
    """The socket of a strongSwan that runs here."""
    return next((path for path in SOCKETS if os.path.exists(path)), None)


class ViciNames:
    """Asks ``list-sas``. The connection is kept: the server drops the privileges that opened it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._session: Any = None
        self._socket: socket.socket | None = None

    def connect(self) -> None:
        """MeasurementError when nobody answers there, or the library is missing."""
        try:
            import vici
        except ImportError:
            raise MeasurementError(f"Python's vici is missing ({install_hint('vici')})") from None
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(TIMEOUT_S)
        try:
            sock.connect(self.path)
        except OSError as error:
            sock.close()
            raise MeasurementError(f"strongSwan does not answer at {self.path}: {error.strerror}") from None
        self._socket, self._session = sock, vici.Session(sock)

    def __call__(self) -> Mapping[int, TunnelName]:
        """Names by SPI, both directions. MeasurementError."""
        if self._session is None:
            self.connect()
        try:
            return names_of(self._session.list_sas())
        except Exception as error:
            self.close()
            raise MeasurementError(f"strongSwan does not answer: {error}") from None

    def close(self) -> None:
        """Safe twice."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._session = None


def names_of(sas: Any) -> dict[int, TunnelName]:
    """From the messages of ``list-sas``: connection -> IKE SA -> child SAs, all words in bytes."""
    found = {}
    for message in sas:
        for connection, ike in message.items():
            peer = _text(ike.get("remote-host", b""))
            for child in ike.get("child-sas", {}).values():
                name = TunnelName(_text(connection), _text(child.get("name", b"")), peer)
                for word in ("spi-in", "spi-out"):
                    if word in child:
                        found[int(_text(child[word]), 16)] = name
    return found


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
