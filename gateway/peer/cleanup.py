"""Undoes what a lost session left on a router: gwnode's journal knows, and its directories in /tmp are ours by name."""

from __future__ import annotations

import shlex
from contextlib import suppress

from gateway.errors import GwbenchError, UnusableError
from gateway.node.ssh import Ssh
from gateway.peer import place, targets
from gateway.peer.address import Address
from gateway.peer.session import look

# Only directories that mktemp named and this user owns; one whose gwnode still runs is in use.
_SWEEP = """
for d in {directory}/gwbench.??????; do
  [ -d "$d" ] && [ -O "$d" ] && [ "$d" != {own} ] || continue
  for p in /proc/[0-9]*; do [ "$(readlink $p/exe 2>/dev/null)" = "$d/gwnode" ] && continue 2; done
  rm -rf "$d" && echo "removed $d"
done
"""


def clean(address: Address, gwnode: str = "", directory: str = place.DIRECTORY) -> tuple[list[str], bool]:
    """What was undone, a line each, and whether all of it could be. UnusableError when a test is running there."""
    ssh = Ssh(address)
    try:
        facts = look(ssh, directory)
        binary = targets.find(facts, gwnode)
        place.check(facts, binary, directory)
        placed = place.bring(ssh, facts, binary, directory=directory)
        try:
            sudo = "" if facts.root else "sudo -n "
            done = ssh.run(f"{sudo}{placed.path} cleanup", timeout_s=60)
            if done.status == 2:
                raise UnusableError(f"{facts.name}: {done.err.strip().removeprefix('gwnode: ')}", code="busy")
            script = _SWEEP.format(directory=shlex.quote(directory), own=shlex.quote(placed.directory))
            swept = ssh.run(f"{sudo}sh -c {shlex.quote(script)}")
        finally:
            with suppress(GwbenchError):
                place.remove(ssh, placed)
        lines = [*done.out.decode(errors="replace").splitlines(), *swept.out.decode(errors="replace").splitlines()]
        return lines, done.status == 0
    finally:
        ssh.close()
