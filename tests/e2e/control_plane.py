"""A control plane for tests: gateways in the laboratory, keys that the test may look at."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from dataclasses import dataclass, field
from pathlib import Path

from dataplane import find_suite
from gateway.keys import FreshKeys, random_spi
from gateway.lab.topology import CLIENT_V4, CLIENT_V6, SERVER_V4, SERVER_V6, Laboratory, Site
from gateway.lab.tunnel import PORT, TUN, inner_mtu_of
from gateway.node.base import PathConfig, SaConfig
from gateway.node.client import NodeClient
from gateway.node.local import start_node


@dataclass
class ControlPlane:
    """Starts gateways, makes keys, and remembers the keys by SPI: test keys."""

    lab: Laboratory
    suite: str
    outer: str = "ipv4"
    encap: str = "udp"
    esn: bool = True
    nodes: dict[str, NodeClient] = field(default_factory=dict)
    keys: dict[int, bytes] = field(default_factory=dict)
    """Encryption key and salt of every SA that ever was."""
    auth_keys: dict[int, bytes] = field(default_factory=dict)
    live: list[tuple[str, int, str]] = field(default_factory=list)
    """Node, SPI and direction of what is installed."""

    def start(self, site: Site) -> None:
        """A new process at this site, with its path open and no SA."""
        node = self.nodes[site.name] = start_node(site.name, netns_fd=site.namespace.fd)
        node.hello()

    def open(self, site: Site, other: Site) -> None:
        self.nodes[site.name].open_path(
            PathConfig(
                local=self.address(site),
                port=self.port,
                tun=TUN,
                mtu=inner_mtu_of(self.suite, self.encap, self.outer),
                routes=other.prefixes,
                encap=self.encap,
            )
        )

    @property
    def port(self) -> int:
        return PORT if self.encap == "udp" else 0

    def address(self, site: Site) -> str:
        return site.outer_v6 if self.outer == "ipv6" else site.outer

    def up(self) -> None:
        """Both gateways with an SA each way."""
        for site, other in (self.lab.sites, self.lab.sites[::-1]):
            self.start(site)
            self.open(site, other)
        self.rekey()

    def rekey(self) -> None:
        """Fresh keys in both directions: first where packets are received, then where they are sent."""
        old, self.live = self.live, []
        for sender, receiver in (self.lab.sites, self.lab.sites[::-1]):
            spi = random_spi(self.keys)
            with FreshKeys(find_suite(self.suite)) as fresh:
                self.keys[spi] = bytes(fresh.enc_key) + bytes(fresh.salt)
                self.auth_keys[spi] = bytes(fresh.auth_key)
                for site, other, direction in ((receiver, sender, "in"), (sender, receiver, "out")):
                    self.nodes[site.name].add_sa(
                        SaConfig(
                            spi=spi,
                            direction=direction,
                            suite=self.suite,
                            local=self.address(site),
                            peer=self.address(other),
                            local_port=self.port,
                            peer_port=self.port,
                            enc_key=fresh.enc_key,
                            auth_key=fresh.auth_key,
                            salt=fresh.salt,
                            esn=self.esn,
                        )
                    )
                    self.live.append((site.name, spi, direction))
            self.nodes[sender.name].set_policy(spi)
        for name, spi, direction in old:
            self.nodes[name].delete_sa(spi, direction)

    def kill(self, site: Site) -> None:
        """As the kernel kills for want of memory: nothing is said, nothing is cleaned up."""
        node = self.nodes.pop(site.name)
        os.kill(node.pid, signal.SIGKILL)
        node.close()
        self.live = [sa for sa in self.live if sa[0] != site.name]

    def held_up_s(self) -> float:
        """Seconds that the control plane and the gateways, which wait for each other in turn, have stood ready to run
        without a CPU (schedstat's second number)."""
        pids = ["thread-self", *(str(node.pid) for node in self.nodes.values())]
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) for pid in pids) / 1e9

    def close(self) -> None:
        for node in self.nodes.values():
            node.close()


def udp_pair(
    stack: contextlib.ExitStack, lab: Laboratory, port: int, family: socket.AddressFamily = socket.AF_INET
) -> tuple[socket.socket, socket.socket]:
    """Client's end and server's, connected."""
    client, server = (CLIENT_V4, SERVER_V4) if family == socket.AF_INET else (CLIENT_V6, SERVER_V6)
    ends = []
    for namespace, address in ((lab.client, client), (lab.server, server)):
        with namespace.entered():
            end = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        end.bind((address, port))
        ends.append(end)
    ends[0].connect((server, port))
    ends[1].connect((client, port))
    return ends[0], ends[1]
