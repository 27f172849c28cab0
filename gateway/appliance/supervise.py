"""``gwbench up``: builds the appliance, drops privileges, keeps it running, answers its control socket."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
import types
from pathlib import Path
from typing import Any

from gateway.appliance import config as configuration
from gateway.appliance import control, notify
from gateway.appliance.config import Config
from gateway.appliance.exporter import default_results
from gateway.appliance.gateway import Appliance
from gateway.appliance.nodes import LocalNode, Peers
from gateway.appliance.status import status
from gateway.cleanup import CleanupStack
from gateway.errors import UnusableError
from gateway.metrics import web, web_config
from gateway.metrics.build_info import BuildInfo
from gateway.metrics.cpu import Cpu
from gateway.metrics.dataplane import Loops, OwnTunnels
from gateway.metrics.implementations import Implementations
from gateway.metrics.ledger import TunnelName
from gateway.metrics.line import Line
from gateway.metrics.results import Results
from gateway.metrics.scrape import Exporter
from gateway.metrics.xfrm_stat import XfrmStat
from gateway.node import privileges
from gateway.node.process import harden

NICE = 10
"""Of this process, not of the data path's: a scrape must not make packets wait on a machine that is full."""


def socket_path(config: Config) -> Path:
    """Of the control socket."""
    return control.directory() / f"{config.gateway.name}.sock"


def run(path: Path, sock: Path | None = None) -> None:
    """Returns when the gateway was taken down by ``gwbench down``; Interrupted by a signal."""
    config = configuration.load(path)
    gateway = config.gateway
    with CleanupStack() as cleanup:
        server = control.ControlServer(sock or socket_path(config), gateway.user)
        cleanup.push(server.close, "the control socket")
        peers = Peers(config)
        cleanup.push(peers.close)
        local = LocalNode(gateway)
        appliance = Appliance(config, local, peers.make, local.read_sas, _add_route(gateway.tun), _say)
        cleanup.push(appliance.close, "the tunnels")
        exporter = Exporter(_collectors(config, appliance, local), _say)
        site = None
        if config.metrics.listen:
            web_file = config.metrics.web_config
            site = web.WebServer(
                lambda: exporter.scrape().text(),
                [web.parse_address(text) for text in config.metrics.listen],
                config.metrics.path,
                web_config.load(Path(web_file)) if web_file else None,
            )
            cleanup.push(site.close)
        local.hello()
        appliance.start()
        exporter.scrape()  # what is imported or looked up once may be out of the next user's reach
        privileges.drop(gateway.user or None, (privileges.CAP_NET_ADMIN,))
        harden()
        os.nice(NICE)
        if site is not None:
            site.start()
            _say(f"metrics at {', '.join(f'{host}:{port}' for host, port in site.addresses)}{config.metrics.path}")
        _Loop(path, appliance, server).run()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _collectors(config: Config, appliance: Appliance, local: LocalNode) -> list[Any]:
    def expected() -> list[TunnelName]:
        return [
            TunnelName(child.tunnel, child.name, appliance.config.peers[child.peer].local)
            for child in appliance.config.children
        ]

    results = config.metrics.results
    return [
        BuildInfo(),
        OwnTunnels(local.read_sas, lambda: appliance.records, appliance.gone, expected, per_sa=config.metrics.per_sa),
        Loops(local.read_loops),
        XfrmStat(),
        Cpu(),
        Line(config.gateway.local, config.metrics.line_mbit),
        Implementations(),
        Results(Path(results) if results else default_results(), named=bool(results)),
    ]


def _add_route(tun: str) -> Any:
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    def add(prefix: str) -> None:
        try:
            with IPRoute() as ip:
                ip.route("replace", dst=prefix, oif=socket.if_nametoindex(tun))
        except (NetlinkError, OSError) as error:
            raise UnusableError(f"cannot route {prefix} into {tun}: {error}") from None

    return add


class _Loop:
    """Ticks and requests, in one thread."""

    def __init__(self, path: Path, appliance: Appliance, server: control.ControlServer) -> None:
        self._path, self._appliance, self._server = path, appliance, server
        self._started_s = time.time()
        self._hangup = self._down = False

    def run(self) -> None:
        """Until ``down``."""

        def hangup(number: int, frame: types.FrameType | None) -> None:
            self._hangup = True

        signal.signal(signal.SIGHUP, hangup)  # the cleanup stack restores what was there before
        told = ready = False
        while True:
            due = self._appliance.tick(time.time(), time.monotonic())
            if not told and all(c.pair is not None for c in self._appliance.children.values()):
                told = True
                _say("all tunnels are up")
            if not ready:  # a peer that is away must not keep the service from having started
                ready = True
                notify.ready(f"{len(self._appliance.children)} tunnels")
            self._server.serve(due, self._answer)
            if self._down:
                notify.stopping()
                _say("going down")
                return
            if self._hangup:
                self._hangup = False
                try:
                    self._reload()
                except UnusableError as error:
                    _say(f"not reloaded: {error}")

    def _reload(self) -> list[str]:
        notify.reloading()
        try:
            changes = self._appliance.reload(configuration.load(self._path))
        finally:
            notify.ready()
        for change in changes or ["nothing changed"]:
            _say(f"reload: {change}")
        return changes

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        op, name = request.get("op"), str(request.get("name", "all"))
        if op == "status":
            return status(self._appliance, self._started_s, time.time(), time.monotonic())
        if op == "rekey":
            count = self._appliance.rekey(name)
            self._appliance.tick(time.time(), time.monotonic())
            return {"pairs": count}
        if op == "delete":
            return {"pairs": self._appliance.delete(name)}
        if op == "reload":
            return {"changes": self._reload()}
        if op == "down":
            self._down = True
            return {"pid": os.getpid()}
        raise UnusableError(f"no operation is called '{op}'")
