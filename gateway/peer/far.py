"""gwnode on the router while a test lasts: one process, with our own data path or the kernel's, and its changes.

Its journal undoes that when it ends, so another data path makes it anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from gateway.errors import GwbenchError
from gateway.node.base import Hello
from gateway.node.far import FarNode
from gateway.node.ssh import Ssh
from gateway.peer import place
from gateway.peer.identify import Facts
from gateway.peer.place import Placed

USER, KERNEL = "user", "kernel"


@dataclass(slots=True)
class Far:
    """Close it; safe twice, never raises."""

    ssh: Ssh
    facts: Facts
    bring: Callable[[], Placed]
    """Puts gwnode there."""
    setup: Callable[[FarNode, str], None]
    """Makes the changes of a test (second argument: USER or KERNEL)."""
    node: FarNode | None = None
    kind: str = ""
    placed: list[Placed] = field(default_factory=list)
    hello: Hello | None = None
    _ready: Placed | None = None
    """There, and not run by anything that takes it away."""
    _lost: bool = False

    def use(self, kind: str) -> FarNode:
        """The node with this data path, ready for a path."""
        if self.node is None or self.kind != kind:
            node = self.start(kind)
            self.hello = node.hello()
            self.setup(node, kind)
        assert self.node is not None
        return self.node

    def start(self, kind: str, *, stays: bool = False) -> FarNode:
        """Ends the one that runs; only one may. The new one has not been asked anything yet. stays: its program, for
        the next one."""
        self.end()
        if self._ready is None:
            self._ready = self.bring()
            self.placed.append(self._ready)
        placed = self._ready
        if not stays:
            self._ready = None  # its shell takes it away
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - the node closes it
        command = placed.command(self.facts, "--kernel" if kind == KERNEL else "", stays=stays)
        self.node = FarNode(self.facts.name, self.ssh.popen(command, stderr), stderr)
        self.kind = kind
        self.node.keep_alive()
        return self.node

    def lacks(self) -> str:
        """What its kernel lacks for ESP; empty when nothing."""
        node = self.start(KERNEL, stays=True)
        try:
            return str(node.ask("hello", protocol=1).get("lacks") or "")
        finally:
            self.end()

    def end(self) -> None:
        """The node has undone everything when this returns, unless it was lost: then it does so by itself."""
        if self.node is not None:
            self._lost |= self.node.lost
            self.node.close()
            self.node = None

    def close(self) -> None:
        """Node and programs gone. Of a lost one its own shell takes them away: no waiting for a link that is down."""
        self.end()
        for placed in () if self._lost else self.placed:
            with suppress(GwbenchError):  # its own shell has done it, or the link is gone
                place.remove(self.ssh, placed)
