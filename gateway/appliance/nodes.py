"""Starts the nodes of an appliance: our own with its counter pages; peers over ssh, or in a laboratory's namespaces."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any

from dataplane import CounterPage, DataplaneError
from gateway.appliance.config import Config, Gateway, Peer
from gateway.errors import UnusableError
from gateway.node import privileges
from gateway.node.base import Hello, Node, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.client import NodeClient
from gateway.node.far import FarNode
from gateway.node.local import start_node
from gateway.node.ssh import Ssh
from gateway.peer import address

PAGES_TIMEOUT_S = 10.0


def capabilities(gateway: Gateway) -> tuple[int, ...]:
    """What a data path needs: TUN, addresses and routes; raw sockets for bare ESP only."""
    bare = (privileges.CAP_NET_RAW,) if gateway.encap == "esp" else ()
    return (privileges.CAP_NET_ADMIN, *bare)


class LocalNode:
    """Our own data path's process, and its counters in shared memory."""

    def __init__(self, gateway: Gateway) -> None:
        self.name = "gateway"
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            options = ["--pages-fd", str(theirs.fileno()), "--keep", *map(str, capabilities(gateway))]
            if gateway.user:
                options += ["--user", gateway.user]
            self.node: NodeClient = start_node("gateway", options=options, pass_fds=[theirs.fileno()])
        self.pages: list[CounterPage] = []
        self._lock = threading.Lock()
        """The web server's threads read pages, too, and a page has one buffer."""

    def open_path(self, config: PathConfig) -> PathInfo:
        """And maps the pages."""
        info = self.node.open_path(config)
        self._ours.settimeout(PAGES_TIMEOUT_S)
        _, fds, _, _ = socket.recv_fds(self._ours, 64, 64)
        try:
            self.pages = [CounterPage(fd) for fd in fds]
        except DataplaneError as error:
            raise UnusableError(f"the data path's counters cannot be read: {error}") from None
        finally:
            for fd in fds:
                os.close(fd)
        return info

    def read_sas(self) -> Mapping[tuple[int, str], Any]:
        """By SPI and direction; nothing is asked of the data path."""
        with self._lock:
            return {(sa.spi, sa.direction): sa for page in self.pages for sa in page.sas()}

    def read_loops(self) -> list[Mapping[str, object]]:
        """See :class:`gateway.metrics.dataplane.Loops`."""
        with self._lock:
            loops = [page.loop() for page in self.pages]
        return [
            {
                "counters": loop.values,
                "drops": loop.drops,
                "stage_cycles": loop.stage_cycles,
                "seal": loop.seal_batch_hist,
                "open": loop.open_batch_hist,
            }
            for loop in loops
        ]

    def hello(self) -> Hello:
        """The node's."""
        return self.node.hello()

    def add_sa(self, config: SaConfig) -> str:
        """The node's."""
        return self.node.add_sa(config)

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """The node's."""
        return self.node.delete_sa(spi, direction)

    def set_policy(self, spi: int, src: str = "", dst: str = "") -> None:
        """The node's."""
        self.node.set_policy(spi, src, dst)

    def counters(self, sas: bool = True) -> NodeCounters:
        """The node's."""
        return self.node.counters(sas)

    def health(self) -> None:
        """The node's."""
        self.node.health()

    def close(self) -> None:
        """Safe twice. The pages stay mapped: a scrape may be reading them."""
        self.node.close()
        self._ours.close()


class Peers:
    """Makes nodes at peers. Those in namespaces are started before privileges are dropped, and once."""

    def __init__(self, config: Config) -> None:
        self._started: dict[str, NodeClient] = {}
        for peer in config.peers.values():
            if peer.netns:
                self._started[peer.name] = _in_namespace(peer, config.gateway)

    def make(self, peer: Peer) -> Node:
        """A started node. UnusableError when it cannot be reached."""
        if peer.netns:
            node = self._started.pop(peer.name, None)
            if node is None:
                raise UnusableError(f"{peer.name}'s namespace cannot be entered without root", "restart the gateway")
            return node
        ssh = Ssh(address.parse(peer.ssh))

        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - the client's, which closes it
        try:
            node = _SshNode(peer.name, ssh.popen(f"exec {peer.command}", stderr), stderr, ssh)
        except BaseException:
            ssh.close()
            raise
        if "--lease" in peer.command:
            node.keep_alive()
        return node

    def close(self) -> None:
        """Those that nobody has taken."""
        for node in self._started.values():
            node.close()
        self._started.clear()


class _SshNode(FarNode):
    """A node whose connection ends with it."""

    def __init__(self, name: str, process: Any, stderr: IO[bytes], ssh: Ssh) -> None:
        super().__init__(name, process, stderr)
        self._ssh = ssh

    def close(self) -> None:
        super().close()
        self._ssh.close()


def _in_namespace(peer: Peer, gateway: Gateway) -> NodeClient:
    try:
        fd = os.open(peer.netns, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UnusableError(f"[peer.{peer.name}] netns {peer.netns}: {error.strerror}") from None
    try:
        options = ["--keep", *map(str, capabilities(gateway))]
        if gateway.user:
            options += ["--user", gateway.user]
        return start_node(peer.name, netns_fd=fd, options=options)
    finally:
        os.close(fd)
