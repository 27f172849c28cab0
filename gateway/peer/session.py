"""A test with a router from beginning to end: reach, identify, plan, agree, bring gwnode, measure, take all away.

Whatever happens, the far side ends with the connection or five seconds after it; this side lives in namespaces.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from gateway import environment, result, rounds, waterfall
from gateway.cleanup import CleanupStack
from gateway.errors import GwbenchError, UnusableError
from gateway.lab import userns
from gateway.lab.namespaces import NetworkNamespace
from gateway.load import iperf3
from gateway.measure import endtoend, laboratory
from gateway.measure.endtoend import Options
from gateway.node.base import Hello
from gateway.node.far import FarNode
from gateway.node.ssh import Ssh
from gateway.output import table
from gateway.output.console import Console
from gateway.output.progress import Lines
from gateway.peer import dataplanes as paths
from gateway.peer import identify, inner, near, place, targets
from gateway.peer import plan as plans
from gateway.peer.address import Address
from gateway.peer.far import USER, Far
from gateway.peer.identify import Facts
from gateway.peer.machines import CLIENT, FAR, PLAIN_CLIENT, SERVER, TUN, Endpoint, OneArm, PeerMachines, Setting
from gateway.peer.near import Line, Place
from gateway.peer.plan import Plan
from gateway.suites import parse_suites

_PING_BYTES = 1200
_FIREWALLS = {"fw4": "nftables (inet fw4)", "iptables": "iptables", "none": "none that is known"}


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """What ``gwbench iperf --peer`` was asked, besides what every test is asked."""

    peer: Address
    test: Options
    topology: str = ""
    """Empty: one-arm where it is possible."""
    inner: str = ""
    outer_mtu: int = 0
    """Bytes; 0 = what both ends say."""
    gwnode: str = ""
    directory: str = place.DIRECTORY
    keep: bool = False
    yes: bool = False
    dry_run: bool = False


def run(
    options: PeerOptions, console: Console, *, command: Sequence[str], json_to: TextIO | Path | None, save: bool
) -> bool:
    """Measures, prints, writes. Returns whether every number adds up. Raises GwbenchError, Interrupted."""
    suites = [s.name for s in parse_suites(",".join(options.test.suites), lab=False)]
    iperf3.find_iperf3()
    if not userns.privileged():
        raise UnusableError(
            "measuring a router needs a TUN and a namespace beside this machine's own network",
            "run with sudo; ssh is still run as you",
            "not-root",
        )
    userns.require_tun()
    with CleanupStack() as cleanup:
        ssh = Ssh(options.peer)
        cleanup.push(ssh.close, "the ssh connection")
        console.print(f"reach      {ssh.name} ...")
        facts = look(ssh, options.directory)
        plan = _plan(options, facts, suites)
        for line in plan.lines():
            console.print(line)
        if options.dry_run:
            console.print("Nothing was changed (--dry-run).")
            return True
        plans.agree(plan, console, yes=options.yes)
        recorded = environment.record()
        far = Far(
            ssh,
            facts,
            lambda: place.bring(ssh, facts, plan.gwnode, directory=plan.directory, keep=plan.keep),
            lambda node, kind: _change(node, kind, plan, console),
        )
        cleanup.push(far.close, facts.name)
        console.print(f"bring      gwnode for {plan.gwnode.target}, {plan.gwnode.size_bytes >> 10} KB ...")
        dataplanes, without = paths.present(plan.dataplanes, far)
        machines = _machines(far, plan, console, cleanup)
        checked = _checked(options, plan, suites, dataplanes, far)
        measured = endtoend.run(machines, options.test, checked, Lines(console, options.test.rounds))
        recorded = environment.record(recorded)
        hello = far.hello
        far.close()
        left = changed(facts, look(ssh, options.directory))
    endpoint = plan.topology == "endpoint"
    document = result.document(
        result.recorded_command(command),
        recorded,
        _setup(options, plan),
        measured,
        [*plan.notes, *without, *checked.notes, *left],
        laboratory.verdict(measured, where=facts.model or facts.name, split=False, then=_next_step(endpoint)),
    )
    if options.test.waterfall:
        document["waterfall"] = waterfall.describe(document["results"])
    document["peer"] = describe(facts, hello)
    for row in document["results"]:
        row["lower_bound"] = endpoint and row["role"] != "plain"
    console.print()
    for line in table.render(document):
        console.print(line)
    laboratory.deliver(document, console, json_to, save)
    return bool(document["valid"])


def look(ssh: Ssh, directory: str = place.DIRECTORY) -> Facts:
    """Reaches and identifies; changes nothing."""
    script = f"GWBENCH_DIR={directory}\n{identify.SCRIPT}"
    return identify.parse(ssh.where.host, ssh.script(script).out)


def _plan(options: PeerOptions, facts: Facts, suites: Sequence[str]) -> Plan:
    gwnode = targets.find(facts, options.gwnode)
    check_usable(facts)
    place.check(facts, gwnode, options.directory)
    managed = near.addresses_of(facts.ssh_client, facts.ssh_server)
    if not facts.ssh_server or not managed:
        managed += _resolved(options.peer.host)
    line = near.line_to(facts.ssh_server or str(managed[0]))
    if facts.ssh_client and ipaddress.ip_address(facts.ssh_client) != ipaddress.ip_address(line.local):
        raise UnusableError(
            f"{facts.name} sees us as {facts.ssh_client}, not as {line.local}: a NAT or another host is in between",
            "measure from a machine that is connected to it directly",
            "nat",
        )
    lan = facts.device_to(ipaddress.ip_address(line.local))
    topology, notes = _topology(options, facts, line, lan)
    if topology == "endpoint" and not facts.iperf3:
        raise UnusableError(
            f"{facts.name} has no iperf3, which --topology endpoint needs there",
            f"{facts.install('iperf3')}; or --topology one-arm",
            "no-iperf3",
        )
    managed += near.addresses_of(line.local, line.remote)
    if options.inner:
        inner.refuse_covering([options.inner] if "/" in options.inner else [], managed)
    block = inner.choose([*facts.used(), *near.used(), *(ipaddress.ip_network(a) for a in managed)], options.inner)
    mtu = options.outer_mtu or min(line.mtu, facts.mtu.get(lan, line.mtu))
    families = _families(facts, topology, lan)
    setting = Setting(
        line,
        block,
        plans.free_port(facts),
        mtu,
        families,
        options.test.encap,
        options.test.dataplane_offload,
        options.test.udp_checksum,
    )
    if socket.AF_INET6 not in families:
        notes.append(f"{facts.name} does not forward IPv6: the check of every packet length is IPv4's only")
    dataplanes, without = paths.wanted(options.test.dataplanes, facts, own_only=options.test.waterfall)
    notes += without
    planned = rounds.plan(suites, options.test.implementations, null=False, dataplanes=dataplanes)
    load = options.test.load
    plan = Plan(
        facts,
        gwnode,
        topology,
        setting,
        lan,
        len(planned) * options.test.rounds,
        load.seconds + load.omit,
        options.directory,
        options.keep,
        dataplanes,
        tuple(notes),
    )
    inner.refuse_covering(plan.prefixes(), managed)
    return plan


def check_usable(facts: Facts) -> None:
    """Who we are there, and whether it has a TUN. UnusableError with its own package manager's words."""
    if facts.system != "Linux":
        raise UnusableError(f"{facts.name} runs {facts.system}, gwnode needs Linux", code="no-linux")
    if not facts.root and not facts.sudo:
        raise UnusableError(
            f"the login on {facts.name} is not root and may not use sudo without a password",
            f"log in as root: root@{facts.name}",
            "not-root",
        )
    if facts.tun != "opens":
        fix = facts.install("kmod-tun") if facts.openwrt else "modprobe tun"
        raise UnusableError(f"{facts.name} has no TUN device", f"there: {fix}", "no-tun")


def _resolved(host: str) -> list[identify.Ip]:
    """Where the ssh server does not say which of its addresses it is."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        raise UnusableError(f"the address of {host} is not known here", "name it by its address") from None
    return near.addresses_of(*(str(item[4][0]) for item in found))


def _topology(options: PeerOptions, facts: Facts, line: Line, lan: str) -> tuple[str, list[str]]:
    """one-arm where a second address can be put on the cable, else endpoint; and why."""
    why = ""
    if not line.direct or not lan:
        why = "it is not on the same cable"
    elif not _gateway_v4(facts, line, lan):
        why = f"its {lan} has no IPv4 address"
    elif not line.ethernet:
        why = f"no second address can be put on {line.device}"
    if options.topology == "one-arm" and why:
        raise UnusableError(f"--topology one-arm is not possible with {facts.name}: {why}", "--topology endpoint")
    if options.topology or not why:
        return options.topology or "one-arm", []
    return "endpoint", [f"topology endpoint, because {why}"]


def _families(facts: Facts, topology: str, lan: str) -> tuple[socket.AddressFamily, ...]:
    """What the router carries inside: forwarding IPv6 needs its own address on the cable."""
    both = (socket.AF_INET, socket.AF_INET6)
    if topology == "endpoint":
        return both if facts.device_v6 else both[:1]
    return both if facts.forwards[1] and _gateway_v6(facts, lan) else both[:1]


def _gateway_v4(facts: Facts, line: Line, lan: str) -> str:
    return line.remote if ":" not in line.remote else next(iter(facts.device_v4.get(lan, ())), "")


def _gateway_v6(facts: Facts, lan: str) -> str:
    addresses = facts.device_v6.get(lan, ())
    return next((a for a in addresses if ipaddress.ip_address(a).is_link_local), "")


def _change(node: FarNode, kind: str, plan: Plan, console: Console) -> None:
    """What a test needs there; the node undoes it."""
    setting = plan.setting
    for destination, device in plan.routes:
        node.ask("add_route", prefix=destination, interface=device)
    for name, value in plan.sysctls:
        node.ask("set_sysctl", name=name, value=value)
    answer = node.ask(
        "firewall",
        **({"interface": TUN} if kind == USER else {}),
        prefixes=list(setting.inner.prefixes[: len(setting.families)]),
        peer=setting.line.local,
        port=setting.port,
        encap=setting.encap,
    )
    console.print(f"firewall   {_FIREWALLS[str(answer['kind'])]}: {answer['rules']} rules of our own")


def _machines(far: Far, plan: Plan, console: Console, cleanup: CleanupStack) -> PeerMachines:
    setting = plan.setting
    _check_path(far.use(USER), setting, console)
    client = Place("client", setting.addresses(CLIENT))
    cleanup.push(client.close, "the client's namespace")
    if plan.topology == "endpoint":
        outside = NetworkNamespace.current("this machine")
        cleanup.push(outside.close, "this machine's namespace")
        return Endpoint(setting, client, outside, far)
    server = Place("server")
    cleanup.push(server.close, "the server's namespace")
    server.plug(setting.line.device, setting.addresses(SERVER))
    client.plug(setting.line.device, setting.addresses(PLAIN_CLIENT))
    gateways = (_gateway_v4(plan.facts, setting.line, plan.lan), _gateway_v6(plan.facts, plan.lan))[
        : len(setting.families)
    ]
    return OneArm(setting, client, server, far, gateways)


def _check_path(node: FarNode, setting: Setting, console: Console) -> None:
    """A datagram of the full size each way, with DF: UDP passes, the MTU is what both ends think, no NAT."""
    if setting.encap != "udp":
        return
    line = setting.line
    six = ":" in line.remote
    payload = bytes(setting.outer_mtu - (48 if six else 28))
    node.ask("echo", local=line.remote, port=setting.port, df=True)
    try:
        with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            if six:
                probe.setsockopt(socket.IPPROTO_IPV6, 23, 3)  # IPV6_MTU_DISCOVER: PROBE
            else:
                probe.setsockopt(socket.IPPROTO_IP, 10, 3)  # IP_MTU_DISCOVER: PROBE
            probe.settimeout(0.5)
            probe.connect((line.remote, setting.port))
            small, large = (_there_and_back(probe, data) for data in (payload[:_PING_BYTES], payload))
            seen = node.ask("echo_seen", port=setting.port)
            if not small:
                raise UnusableError(
                    f"UDP from {line.local} to {line.remote} port {setting.port} does not come back",
                    "does a firewall in between, or this machine's own, drop it?",
                    "no-path",
                )
            if not large:
                passes = _largest(probe, _PING_BYTES, len(payload)) + setting.outer_mtu - len(payload)
                raise UnusableError(
                    f"packets of {setting.outer_mtu} bytes vanish between {line.local} and {line.remote}; "
                    f"those up to {passes} pass: a black hole for path MTU discovery",
                    f"--outer-mtu {passes}, or mend the MTU on the way",
                    "path-mtu",
                )
            if (str(seen.get("peer")), seen.get("peer_port")) != probe.getsockname()[:2]:
                raise UnusableError(
                    f"a NAT is in between: {line.local} arrives as {seen.get('peer')}",
                    "measure from a machine that is connected directly",
                    "nat",
                )
    finally:
        with suppress(GwbenchError):
            node.ask("echo_close", port=setting.port)
    console.print(f"path       UDP passes both ways with {setting.outer_mtu} bytes, no NAT")


def _largest(probe: socket.socket, passes: int, fails: int) -> int:
    """Payload bytes: the largest datagram that comes back, between one that does and one that does not."""
    while fails - passes > 1:
        middle = (passes + fails) // 2
        passes, fails = (middle, fails) if _there_and_back(probe, bytes(middle), 2) else (passes, middle)
    return passes


def _there_and_back(probe: socket.socket, data: bytes, attempts: int = 4) -> bool:
    for _ in range(attempts):
        with suppress(OSError):
            probe.send(data)
            if probe.recv(65536) == data:
                return True
    return False


def _checked(
    options: PeerOptions, plan: Plan, suites: Sequence[str], dataplanes: tuple[str, ...], far: Far
) -> endtoend.Plan:
    """The candidates that the router can run, and the load."""
    assert far.hello is not None
    usable = {i.alg: i for i in far.hello.implementations if i.tag != "generic" and i.runnable}
    notes, cases = [], []
    for case in rounds.plan(suites, options.test.implementations, null=False, dataplanes=dataplanes):
        if case.implementation == "accelerated" and not options.test.implementations:
            suite = parse_suites(case.suite)[0]
            if suite.enc_alg not in usable and suite.auth_alg not in usable:
                notes.append(f"{case.suite}: nothing faster than generic runs on {far.facts.name}")
                continue
        cases.append(case)
    s = plan.setting
    server = SERVER if plan.topology == "one-arm" else FAR
    load = replace(
        options.test.load,
        client=s.addresses(CLIENT)[0],
        server=s.addresses(server)[0],
    )
    load = replace(load, congestion=endtoend.congestion(load))
    if load.udp and not load.length:
        load = replace(load, length=min(s.mtu(c.suite) for c in cases if c.suite) - 28)
    return endtoend.Plan(tuple(cases), tuple(notes), load)


def changed(before: Facts, after: Facts) -> list[str]:
    """What is not as it was; should be empty."""
    notes = []
    for what, old, new in (
        ("addresses", set(before.addresses), set(after.addresses)),
        ("routes", set(before.routes), set(after.routes)),
        ("devices", set(before.mtu), set(after.mtu)),
    ):
        if old != new:
            words = [f"+{x}" for x in map(_word, new - old)] + [f"-{x}" for x in map(_word, old - new)]
            notes.append(f"{after.name}: {what} differ from before: {', '.join(sorted(words))}")
    if before.forwards != after.forwards:
        notes.append(f"{after.name}: forwarding differs from before")
    if before.sas != after.sas:
        notes.append(f"{after.name}: {after.sas} SAs, {before.sas} before")
    return [f"{note} (gwbench cleanup {after.name})" for note in notes]


def _word(item: object) -> str:
    return f"{item.destination} {item.device}" if isinstance(item, identify.Route) else str(item)


def _setup(options: PeerOptions, plan: Plan) -> dict[str, object]:
    return {
        "topology": plan.topology,
        "offload": None,
        "dataplane_offload": list(options.test.dataplane_offload),
        "encap": plan.setting.encap,
        "outer": plan.setting.outer,
        "udp_checksum": plan.setting.udp_checksum,
        "outer_mtu_bytes": plan.setting.outer_mtu,
        "rootless": False,
        "gwnodes": {},
    }


def describe(facts: Facts, hello: Hello | None) -> dict[str, object]:
    """The router in the result file."""
    return {
        "name": facts.name,
        "model": facts.model,
        "os": facts.os,
        "kernel": facts.kernel,
        "machine": facts.machine,
        "cpu_model": facts.cpu_model,
        "cpus": facts.cpus,
        "memory_available_bytes": facts.memory_available_bytes,
        "congestion": list(facts.congestion),
        "iperf3": facts.iperf3,
        "gwnode": hello.version if hello else "",
        "cpu_features": list(hello.cpu_features) if hello else [],
    }


def _next_step(endpoint: bool) -> str:
    if endpoint:
        return "A lower bound: iperf3 ran on the router, too. --topology one-arm leaves that to this PC."
    return "Another suite or implementation: --suite, --impl; `gwnode crypto` there shows all of them."
