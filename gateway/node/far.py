"""gwnode on another machine: the node of :mod:`gateway.node.client`, with a lease and what only routers need.

A cut cable sends no end of file. So the far side undoes everything by itself when nobody has asked it anything for
LEASE_S, and this side asks every BEAT_S from a thread of its own, which touches nothing but the pipes.
"""

from __future__ import annotations

import re
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
        self._operations: frozenset[str] = frozenset()

    def operations(self) -> frozenset[str]:
        """What it can be asked: an older gwnode has fewer."""
        if not self._operations:
            try:
                self.ask("?")
            except GwbenchError as error:
                if error.code != "unknown-op":
                    raise
                self._operations = frozenset(re.findall(r"\w+", error.hint.partition(":")[2]))
        return self._operations

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Any operation with flat arguments; its result."""
        return self._call(op, arguments)

    def lease(self) -> None:
        """From here on it undoes everything when it is not asked for LEASE_S; it is asked until :meth:`close`."""
        self.ask("lease", seconds=LEASE_S)
        self._beats = threading.Thread(target=self._beat, name=f"{self.name} heartbeat", daemon=True)
        self._beats.start()

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_S):
            try:
                self.ask("beat")
            except GwbenchError:
                return  # _failed has kept it

    def _failed(self, error: GwbenchError) -> None:
        """No second wait for a link that is gone."""
        if self._lost is None:
            self._lost = MeasurementError(
                f"{self.name} was lost: {error.message.removeprefix(f'{self.name}: ')}",
                f"it undoes everything by itself within {LEASE_S} s",
                "peer-lost",
            )
            raise self._lost from error

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
