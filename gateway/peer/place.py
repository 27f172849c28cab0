"""gwnode's way to the other machine and back: through ``cat``, because dropbear has no sftp; into a new directory that
its own user alone may enter; compared by checksum there; gone when gwnode ends, unless it is to stay."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass

from gateway.errors import UnusableError
from gateway.node.far import LEASE_S
from gateway.node.ssh import Ssh
from gateway.peer.identify import Facts
from gateway.peer.targets import Gwnode

DIRECTORY = "/tmp"
KEPT = "gwbench-keep"
_SPARE_BYTES = 64 << 10
_CODES = {90: "no-directory", 91: "full"}


@dataclass(frozen=True, slots=True)
class Placed:
    """gwnode there."""

    path: str
    directory: str
    """To be removed with it; empty: it stays."""

    def command(self, facts: Facts, option: str = "", *, stays: bool = False) -> str:
        """The command line that runs it with the protocol on stdin and stdout, and removes it when it ends (not when
        it ``stays``), however it ends: the shell around it outlives the connection."""
        sudo = "" if facts.root else "sudo -n "
        script = f"trap '' HUP PIPE; {sudo}{shlex.quote(self.path)} --stdio --lease {LEASE_S} {option}; s=$?"
        if self.directory and not stays:
            script += f"; rm -rf {shlex.quote(self.directory)}"
        return f"exec sh -c {shlex.quote(script + '; exit $s')}"


def check(facts: Facts, gwnode: Gwnode, directory: str = DIRECTORY) -> None:
    """Whether it can be put there at all, before anything is. UnusableError with the next step."""
    elsewhere = "or name another directory: --remote-dir DIR"
    if "noexec" in facts.directory_mount:
        raise UnusableError(
            f"{facts.name}: {directory} may not hold programs (mounted noexec)",
            f"`mount -o remount,exec {directory}` there, {elsewhere}",
            "noexec",
        )
    if not facts.directory_writable:
        why = "is read-only" if "ro" in facts.directory_mount else "is not writable, or not there"
        raise UnusableError(f"{facts.name}: {directory} {why}", f"log in as root, {elsewhere}", "no-directory")
    if 0 <= facts.directory_free_bytes < gwnode.size_bytes + _SPARE_BYTES:
        raise UnusableError(
            f"{facts.name}: {directory} is full: {facts.directory_free_bytes >> 10} KB free, "
            f"gwnode needs {(gwnode.size_bytes + _SPARE_BYTES) >> 10}",
            f"`df {directory}` there, {elsewhere}",
            "full",
        )


def bring(ssh: Ssh, facts: Facts, gwnode: Gwnode, *, directory: str = DIRECTORY, keep: bool = False) -> Placed:
    """Copies it there, or finds the same file where an earlier ``--keep`` left it."""
    content = gwnode.path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    kept = f"{directory}/{KEPT}"
    if keep and _is_there(ssh, kept, digest):
        return Placed(f"{kept}/gwnode", "")
    make = (
        f"d={shlex.quote(kept)}; [ -d $d ] && [ ! -O $d ] && exit 90; rm -rf $d; mkdir $d"
        if keep
        else f"d=$(mktemp -d {shlex.quote(directory + '/gwbench.XXXXXX')})"
    )
    script = (
        f"umask 077; {make} || exit 90; echo $d; cat >$d/gwnode && chmod 700 $d/gwnode || {{ rm -rf $d; exit 91; }}; "
        "sha256sum $d/gwnode 2>/dev/null; $d/gwnode --version; s=$?; [ $s = 0 ] || rm -rf $d; exit $s"
    )
    done = ssh.run(f"exec sh -c {shlex.quote(script)}", content, timeout_s=180)
    lines = done.out.decode(errors="replace").splitlines()
    if done.status or len(lines) < 2 or not lines[0].startswith(f"{directory}/gwbench"):
        raise _failed(facts, gwnode, directory, done.status, done.err)
    placed = Placed(f"{lines[0]}/gwnode", "" if keep else lines[0])
    answered = re.match(r"[0-9a-f]{64}", lines[1])
    if answered is None:  # no sha256sum there: the file itself, back again
        answered = re.match(r".*", hashlib.sha256(ssh.run(f"cat {placed.path}", timeout_s=180).out).hexdigest())
    if answered is None or answered[0] != digest:
        remove(ssh, placed)
        raise UnusableError(f"{facts.name}: gwnode arrived damaged", "try again; is its memory sound?", "damaged")
    return placed


def remove(ssh: Ssh, placed: Placed) -> None:
    """Takes the directory away, where gwnode never ran or its shell was killed."""
    if placed.directory:
        ssh.run(f"rm -rf {shlex.quote(placed.directory)}")


def _is_there(ssh: Ssh, kept: str, digest: str) -> bool:
    done = ssh.run(f"exec sh -c {shlex.quote(f'[ -O {kept} ] && sha256sum {kept}/gwnode')}")
    return done.status == 0 and done.out.decode(errors="replace").startswith(digest)


def _failed(facts: Facts, gwnode: Gwnode, directory: str, status: int, words: str) -> UnusableError:
    said = next((line.strip() for line in reversed(words.splitlines()) if line.strip()), f"status {status}")[:160]
    if _CODES.get(status) == "full" or "No space left" in words:
        return UnusableError(
            f"{facts.name}: gwnode does not fit into {directory}: {said}",
            "free some space there, or name another directory: --remote-dir DIR",
            "full",
        )
    if _CODES.get(status) == "no-directory":
        return UnusableError(
            f"{facts.name}: cannot make a directory in {directory}: {said}", "--remote-dir DIR", "no-directory"
        )
    if status == 126 or "ermission denied" in words:
        return UnusableError(
            f"{facts.name}: {directory} may not hold programs: {said}", "--remote-dir DIR names another", "noexec"
        )
    return UnusableError(
        f"{facts.name}: the gwnode for {gwnode.target} does not run there: {said}", "--gwnode FILE", "wrong-target"
    )
