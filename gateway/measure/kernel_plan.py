"""What can be checked before the kernel's data path is measured. UnusableError names the module that is missing."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from gateway.errors import UnusableError
from gateway.lab import syscalls
from gateway.lab.trial import in_child

DATAPLANES = ("user", "kernel")


def check(dataplanes: Sequence[str], drivers: Sequence[str], outer: str = "ipv4") -> list[str]:
    """Notes for the result. Nothing is changed: the probe's SA lives in a namespace that is thrown away."""
    for name in dataplanes:
        if name not in DATAPLANES:
            raise UnusableError(f"no data path is called '{name}'", f"there are: {', '.join(DATAPLANES)}")
    if not dataplanes:
        raise UnusableError("no data path is named", f"there are: {', '.join(DATAPLANES)}")
    if "kernel" not in dataplanes:
        if drivers:
            raise UnusableError("--driver is of the kernel's data path", "add --dataplane kernel")
        return []
    if lack := kernel_lacks(socket.AF_INET6 if outer == "ipv6" else socket.AF_INET):
        raise UnusableError(lack, "use --dataplane user, or a kernel with IPsec", "kernel-lacks")
    if drivers and os.geteuid() != 0:
        raise UnusableError("--driver changes the kernel's priorities, which are root's", "run it with sudo")
    if len(drivers) == 1:
        raise UnusableError("--driver compares: name two or more", "--driver cbc-aes-ce,cbc-aes-generic")
    notes = ["the kernel's data path runs on whatever core a packet arrives at: it has no CPU time of its own"]
    if drivers:
        notes.append("drivers were selected by priority, for the whole machine, and put back")
    return notes


def kernel_lacks(family: socket.AddressFamily = socket.AF_INET) -> str:
    """What this kernel lacks for ESP, in one line; empty when nothing."""
    from gateway.node.kernel import missing

    text = in_child(lambda: missing(family), syscalls.CLONE_NEWNET)
    if not text.startswith("!"):
        return text
    return "the kernel's IPsec cannot be probed here: no network namespace could be made"
