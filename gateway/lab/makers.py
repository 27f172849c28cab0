"""Which data path stands at which end of the tunnel: the worker, or gwnode, perhaps built for another processor."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from gateway.errors import UnusableError
from gateway.lab.topology import Site
from gateway.lab.tunnel import NodeMaker, worker
from gateway.node.base import Node
from gateway.node.local import GWNODE, start_node

VARIABLE = "GWBENCH_GWNODE"
"""gwnode's path, or an emulator's command line that ends with it."""
SITES = {"client": ("client", "gateway"), "site-to-site": ("gw1", "gw2")}

Commands = Mapping[str, tuple[str, ...]]
"""By site: the command line of its gwnode. A site that is absent has a worker."""


def parse(words: Iterable[str], topology: str) -> Commands:
    """``["gwnode"]``, ``["gateway=gwnode"]``, ``["worker"]``: the last word about a site counts. UnusableError."""
    commands: dict[str, tuple[str, ...]] = {}
    for word in words:
        site, _, kind = word.rpartition("=")
        if kind not in ("worker", GWNODE):
            raise UnusableError(f"no data path is called '{kind}'", f"there are: worker, {GWNODE}")
        if site and site not in SITES[topology]:
            raise UnusableError(f"no end of the tunnel is called '{site}'", f"there are: {', '.join(SITES[topology])}")
        for one in (site,) if site else SITES[topology]:
            commands.pop(one, None)
            if kind == GWNODE:
                commands[one] = command()
    return commands


def command() -> tuple[str, ...]:
    """Of gwnode, from the environment. UnusableError when it is not there."""
    words = tuple(shlex.split(os.environ.get(VARIABLE, "")))
    if not words:
        raise UnusableError(
            f"{VARIABLE} does not say where gwnode is", f"make cross-x86_64; {VARIABLE}=$PWD/build/cross/x86_64/gwnode"
        )
    if shutil.which(words[0]) is None:
        raise UnusableError(f"{VARIABLE}: {words[0]} is not there or no program")
    if not Path(words[-1]).is_file():
        raise UnusableError(f"{VARIABLE}: {words[-1]} is not there")
    return words


def kernel(site: Site) -> Node:
    """The kernel's own IPsec in the site's namespace."""
    return start_node(site.name, "kernel", netns_fd=site.namespace.fd)


def maker(commands: Commands) -> NodeMaker:
    """For :func:`gateway.lab.tunnel.open_tunnel`."""

    def make(site: Site) -> Node:
        argv = commands.get(site.name)
        if argv is None:
            return worker(site)
        return start_node(site.name, GWNODE, argv=argv, netns_fd=site.namespace.fd)

    return make
