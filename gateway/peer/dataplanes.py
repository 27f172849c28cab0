"""Which data paths of a router are measured: every one that it has, unless some are named.

People who ask how fast IPsec is there mean the kernel's; what gwbench's own gains is the other half of the answer.
"""

from __future__ import annotations

from gateway.errors import UnusableError
from gateway.peer.far import KERNEL, USER, Far
from gateway.peer.identify import Facts

ALL = (USER, KERNEL)


def wanted(asked: tuple[str, ...], facts: Facts, *, own_only: bool) -> tuple[tuple[str, ...], list[str]]:
    """What the plan counts on, and a note about what is left out. UnusableError: no such data path.

    own_only: what was asked takes gwbench's own apart.
    """
    if unknown := [name for name in asked if name not in ALL]:
        raise UnusableError(f"no data path is called '{unknown[0]}'", f"there are: {', '.join(ALL)}")
    if asked or own_only:
        return asked or (USER,), []
    if facts.esp is False:
        return (USER,), [_without(facts, f"it has no ESP ({_fix(facts)})")]
    return ALL, []


def present(names: tuple[str, ...], far: Far) -> tuple[tuple[str, ...], list[str]]:
    """Those of the wanted ones that the router has, by gwnode's own look, and a note about one that it lacks."""
    if KERNEL not in names:
        return names, []
    lacks = far.lacks()
    if not lacks:
        return names, []
    if names == (KERNEL,):
        raise UnusableError(f"{far.facts.name}: {lacks}", f"there: {_fix(far.facts)}", "kernel-lacks")
    return tuple(name for name in names if name != KERNEL), [_without(far.facts, lacks)]


def _fix(facts: Facts) -> str:
    return facts.install("kmod-ipsec4 kmod-ipsec6") if facts.openwrt else "modprobe esp4"


def _without(facts: Facts, why: str) -> str:
    return f"the kernel's data path of {facts.name} was not measured: {why}"
