"""What a router is and lacks: found by looking alone, and then by gwnode itself, which is brought and removed."""

from __future__ import annotations

import time
from contextlib import suppress

from gateway.errors import GwbenchError
from gateway.findings import FAIL, INFO, OK, WARN, Finding
from gateway.node.ssh import Ssh
from gateway.peer import place, targets
from gateway.peer.address import Address
from gateway.peer.identify import Facts
from gateway.peer.session import check_usable, look

_CLOCK_S = 300


def examine(address: Address, gwnode: str = "", directory: str = place.DIRECTORY) -> list[Finding]:
    """Everything about one router; nothing there is changed. GwbenchError when it cannot be reached."""
    ssh = Ssh(address)
    try:
        facts = look(ssh, directory)
        return [*findings(facts, directory), *_gwnode(ssh, facts, gwnode, directory)]
    finally:
        ssh.close()


def findings(facts: Facts, directory: str = place.DIRECTORY) -> list[Finding]:
    """From what was seen. Pure but for the clock."""
    what = ", ".join(word for word in (facts.model, facts.cpu_model, f"{facts.cpus} cores", facts.machine) if word)
    found = [
        Finding(INFO, f"{facts.name}: {what}"),
        Finding(
            INFO, f"{facts.os or facts.system}, kernel {facts.kernel}, {facts.memory_available_bytes >> 20} MB free"
        ),
    ]
    try:
        check_usable(facts)
        found.append(Finding(OK, "root, and a TUN device that opens"))
    except GwbenchError as error:
        found.append(Finding(FAIL, error.message, "no tunnel can be made", error.hint))
    if facts.iperf3:
        found.append(Finding(OK, f"iperf3 {facts.iperf3}: --topology endpoint is possible"))
    else:
        found.append(Finding(INFO, "no iperf3", "--topology one-arm does without", facts.install("iperf3")))
    if facts.default_route:
        found.append(Finding(INFO, "it has a default route", "a test asks first, or needs --yes"))
    if facts.sas:
        found.append(Finding(INFO, f"{facts.sas} SAs of its own", "they stay untouched; a test asks first"))
    if facts.sas is None:
        found.append(Finding(INFO, "its SAs cannot be listed", "its `ip` knows no xfrm", facts.install("ip-full")))
    if not facts.forwards[0]:
        found.append(Finding(INFO, "it does not forward IPv4", "a one-arm test switches that on meanwhile"))
    offset = abs(facts.clock_s - time.time())
    if offset > _CLOCK_S:
        found.append(Finding(WARN, f"its clock is {offset / 3600:.1f} h off", "no test minds; certificates do"))
    return found


def _gwnode(ssh: Ssh, facts: Facts, named: str, directory: str) -> list[Finding]:
    """What `gwnode doctor` says there."""
    try:
        gwnode = targets.find(facts, named)
        place.check(facts, gwnode, directory)
        placed = place.bring(ssh, facts, gwnode, directory=directory)
    except GwbenchError as error:
        return [Finding(WARN, error.message, "what gwnode would find is not known", error.hint)]
    try:
        done = ssh.run(f"{placed.path} doctor", timeout_s=120)
    finally:
        with suppress(GwbenchError):
            place.remove(ssh, placed)
    lines = [" ".join(line.split()) for line in done.out.decode(errors="replace").splitlines() if line.strip()]
    said = [Finding(INFO, f"gwnode: {line}") for line in lines]
    if done.status:
        said.append(Finding(FAIL, f"gwnode doctor ended with status {done.status}", done.err.strip()[:200]))
    return said
