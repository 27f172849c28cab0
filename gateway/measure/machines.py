"""Whoever stands at the two ends of the tunnel: namespaces of this machine, or a router and its cables.

The measurement (:mod:`gateway.measure.endtoend`) knows this interface only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from gateway.errors import UnusableError
from gateway.lab import gate, makers
from gateway.lab.topology import Laboratory
from gateway.lab.tunnel import Tunnel, TunnelConfig, open_tunnel
from gateway.load import iperf3
from gateway.load.iperf3_parse import Interval
from gateway.measure import machine
from gateway.rounds import Case


class Machines(Protocol):
    """Where a tunnel is measured."""

    names: tuple[str, str]
    """Of the gateways: the client's and the server's."""
    wan: str
    """The interface between them whose counters can be read at both ends; empty: it carries other traffic, too."""
    line_loses: bool
    """Packets may be lost between the gateways where nobody counts them."""

    def route_plain(self) -> None:
        """What follows goes in clear."""
        ...

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        """What follows goes through the tunnel or nowhere; the path MTU is told to the hosts when it is known."""
        ...

    def open(self, case: Case) -> Tunnel:
        """Fresh nodes or paths, SAs and keys."""
        ...

    def gate(self, inner_mtu: int) -> gate.GateReport:
        """GateError at the first packet that is wrong."""
        ...

    def load(
        self,
        load: iperf3.Load,
        case: Case,
        on_interval: Callable[[Interval], None],
        watch: Callable[[], None] | None,
    ) -> iperf3.LoadReport:
        """iperf3 between client and server."""
        ...

    def cpu(self) -> list[list[int]]:
        """/proc/stat of the machine that is measured, as :func:`gateway.measure.machine.read` gives it."""
        ...


class LabMachines:
    """Everything on this machine."""

    wan = "wan"
    line_loses = False

    def __init__(
        self,
        lab: Laboratory,
        config: dict[str, Any],
        gwnodes: makers.Commands,
        select_driver: Callable[[str], None] = lambda driver: None,
    ) -> None:
        """config: of every tunnel, but for suite and implementation. select_driver: makes a crypto driver of the
        kernel's come first."""
        self._select_driver = select_driver
        self._lab = lab
        self._config = config
        self._make = makers.maker(gwnodes)
        self.names = (lab.left.name, lab.right.name)

    def route_plain(self) -> None:
        self._lab.route_plain()

    def route_tunnel(self, inner_mtu: int = 0) -> None:
        self._lab.route_tunnel(inner_mtu)

    def open(self, case: Case) -> Tunnel:
        config = TunnelConfig(case.suite, case.implementation, **self._config)
        if case.dataplane != "kernel":
            return open_tunnel(self._lab, config, self._make)
        if case.driver:
            self._select_driver(case.driver)
        tunnel = open_tunnel(self._lab, config, makers.kernel)
        if case.driver and case.driver not in tunnel.implementation:
            tunnel.close()
            raise UnusableError(
                f"{case.driver}: not selectable on this kernel for {case.suite}: it comes first, but the SA runs "
                f"{tunnel.implementation}",
                "name drivers of the algorithm that the SA uses",
                "not-selectable",
            )
        return tunnel

    def gate(self, inner_mtu: int) -> gate.GateReport:
        return gate.run(gate.between(self._lab.client, self._lab.server), inner_mtu)

    def load(
        self,
        load: iperf3.Load,
        case: Case,
        on_interval: Callable[[Interval], None],
        watch: Callable[[], None] | None,
    ) -> iperf3.LoadReport:
        client, server = self._lab.client, self._lab.server
        if case.role == "line":
            left, right = self._lab.sites
            load = replace(load, client=left.outer, server=right.outer)
            client, server = left.namespace, right.namespace
        return iperf3.run(load, client, iperf3.NamespaceServer(server), on_interval=on_interval, watch=watch)

    def cpu(self) -> list[list[int]]:
        return machine.read()
