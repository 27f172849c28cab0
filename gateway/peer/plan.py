"""What a test will do to a router, said before the first change; and whether somebody must agree to it first."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

from gateway.errors import UnusableError
from gateway.output.console import Console
from gateway.peer.identify import Facts
from gateway.peer.machines import CLIENT, FAR, PLAIN_CLIENT, SERVER, TUN, Setting
from gateway.peer.targets import Gwnode

TOPOLOGIES = ("one-arm", "endpoint")
_ROUND_EXTRA_S = 4.0
"""Path, keys, gate and settling of one measurement."""
_SETUP_S = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """One test with one router."""

    facts: Facts
    gwnode: Gwnode
    topology: str
    setting: Setting
    lan: str
    """The router's device towards us."""
    measurements: int
    seconds: int
    """Of each measurement, omitted ones included."""
    directory: str
    keep: bool
    dataplanes: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def minutes(self) -> float:
        return (_SETUP_S + self.measurements * (self.seconds + _ROUND_EXTRA_S)) / 60

    @property
    def routes(self) -> tuple[tuple[str, str], ...]:
        """(destination, device) of what the router gets besides the TUN's own."""
        if self.topology != "one-arm":
            return ()
        return tuple((_whole(a), self.lan) for n in (SERVER, PLAIN_CLIENT) for a in self.setting.addresses(n))

    @property
    def sysctls(self) -> tuple[tuple[str, str], ...]:
        """(name, value) of what must change for it to forward."""
        wanted = self.topology == "one-arm" and not self.facts.forwards[0]
        return (("net/ipv4/ip_forward", "1"),) if wanted else ()

    def prefixes(self) -> list[str]:
        """Everything that is routed or assigned anywhere."""
        tunnel = [_whole(a) for n in (CLIENT, FAR) for a in self.setting.addresses(n)]
        return [*tunnel, *(destination for destination, _ in self.routes)]

    def lines(self) -> list[str]:
        """For a person; ASCII."""
        f, s = self.facts, self.setting
        what = " ".join(word for word in (f.model or f.cpu_model, f"({self.gwnode.target})") if word)
        size = f.directory_free_bytes
        free = "" if size < 0 else f", {self.directory} {size >> 20} MB free"
        lines = [
            f"Router     {f.name}: {what}, {f.os or f.system}, kernel {f.kernel}",
            f"           {f.cpus} cores, {f.memory_available_bytes >> 20} MB memory{free}",
            f"Line       {s.line.local} ({s.line.device}) - {s.line.remote} ({self.lan or '?'}), MTU {s.outer_mtu}",
            f"Topology   {self.topology}: {_TOPOLOGY_WORDS[self.topology]}",
            "There, for as long as it lasts:",
            f"  program  {self.directory}/gwbench.*/gwnode, {self.gwnode.size_bytes >> 10} KB"
            + (" (stays: --keep)" if self.keep else ""),
            f"  tunnel   device {TUN}, UDP port {s.port}"
            if s.encap == "udp"
            else f"  tunnel   device {TUN}, IP protocol 50",
            f"  address  {', '.join(s.addresses(FAR))} on {TUN}",
            f"  routes   {', '.join(s.addresses(CLIENT))} to {TUN}",
        ]
        lines += [f"           {destination.partition('/')[0]} to {device}" for destination, device in self.routes]
        lines.append("  firewall its own rules, for these addresses and this port only, deleted one by one")
        lines += [f"  sysctl   {name.replace('/', '.')} = {value}" for name, value in self.sysctls]
        lines += [
            "Untouched  its LAN, WAN, routes, SAs, files and configuration; nothing is flushed",
            f"Duration   router busy about {max(1, round(self.minutes))} min: {self.measurements} measurements "
            f"of {self.seconds} s",
        ]
        return lines + [f"Note: {note}." for note in self.notes]

    def risks(self) -> list[str]:
        """Why somebody might mind."""
        found = []
        if self.facts.default_route:
            found.append("it has a default route: others may reach the Internet through it")
        if self.facts.sas:
            found.append(f"it has {self.facts.sas} SAs of its own")
        return found


_TOPOLOGY_WORDS = {
    "one-arm": "client and server are here, on one cable; the router opens and forwards back",
    "endpoint": "iperf3 runs on the router and competes with ESP: a lower bound",
}


def _whole(address: str) -> str:
    return f"{address}/{128 if ':' in address else 32}"


def free_port(facts: Facts) -> int:
    """A UDP port that nobody there listens at, outside what the kernel hands out by itself mostly."""
    while True:
        port = random.randrange(61000, 65000)
        if port not in facts.udp_ports:
            return port


def agree(
    plan: Plan,
    console: Console,
    *,
    yes: bool,
    terminal: bool | None = None,
    ask: Callable[[str], str] = input,
) -> None:
    """Returns when it may begin. UnusableError when nobody said so."""
    risks = plan.risks()
    if yes or not risks:
        return
    if not (sys.stdin.isatty() if terminal is None else terminal):
        raise UnusableError(
            f"{plan.facts.name} may be in use: {'; '.join(risks)}",
            "--yes says that it may be busy meanwhile, --dry-run only shows the plan",
            "not-agreed",
        )
    for risk in risks:
        console.print(f"{plan.facts.name}: {risk}.")
    if not _yes(ask("Begin? [y/N] ")):
        raise UnusableError("not begun, nothing was changed", code="not-agreed")


def _yes(answer: str) -> bool:
    return answer.strip().lower() in ("y", "yes")
