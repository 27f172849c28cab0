"""gwnode on another machine: the node of :mod:`gateway.node.client`, with a lease and what only routers need.

A cut cable sends no end of file. So the far side undoes everything by itself when it hears nothing for LEASE_S
(``gwnode --stdio --lease``), and this side sends an empty line every BEAT_S, from a thread of its own that touches
nothing but the pipe.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from typing import IO, Any

from gateway.errors import GwbenchError, MeasurementError
from gateway.node.client import NodeClient

LEASE_S = 5
BEAT_S = 1.0


class FarNode(NodeClient):
    """A node whose process is an ssh. Answers slower than LEASE_S mean that the link is gone."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], stderr: IO[bytes] | None = None) -> None:
        super().__init__(name, process, stderr)
        self.timeout_s = LEASE_S + 1.0
        self._stop = threading.Event()
        self._beats: threading.Thread | None = None

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Any operation with flat arguments; its result."""
        return self._call(op, arguments)

    def keep_alive(self) -> None:
        """Renews the lease until :meth:`close`."""
        self._beats = threading.Thread(target=self._beat, name=f"{self.name} heartbeat", daemon=True)
        self._beats.start()

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_S):
            # While a request is under way it is heard already; and a line must not be torn.
            if self._lock.acquire(blocking=False):
                try:
                    with contextlib.suppress(OSError):
                        os.write(self._to, b"\n")
                finally:
                    self._lock.release()

    def _failed(self, error: GwbenchError) -> None:
        """No second wait for a link that is gone."""
        if self._lost is None:
            self._lost = MeasurementError(
                f"{self.name} was lost: {error.message.removeprefix(f'{self.name}: ')}",
                f"it undoes everything by itself within {LEASE_S} s",
                "peer-lost",
            )
            raise self._lost from error

    @property
    def lost(self) -> bool:
        """Whether it answers no more."""
        return self._lost is not None

    def close_path(self) -> None:
        """Path, SAs and what they needed are gone; the node stays."""
        self.ask("close_path")

    def close(self) -> None:
        """As of any node; one that does not answer any more is not waited for."""
        self._stop.set()
        if self._lost is not None:
            self._process.kill()
        super().close()
        if self._beats is not None:
            self._beats.join(LEASE_S)
