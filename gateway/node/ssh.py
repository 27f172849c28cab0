"""The system's ssh to another machine: one connection, one password prompt, any number of commands over it.

ssh's own configuration, agent and known_hosts decide, and are never relaxed. The first command authenticates in this
process's foreground, where ssh may ask for a password; ssh then stays behind as a master (ControlPersist) that ends by
itself some seconds after the last command: however this process ends, nothing remains.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

from gateway.errors import MeasurementError, UnusableError
from gateway.lab import syscalls

CONNECT_S = 10
PERSIST_S = 3
_SSH_FAILED = 255
_OPTIONS = (
    f"ConnectTimeout={CONNECT_S}",
    "ServerAliveInterval=2",
    "ServerAliveCountMax=3",
    # What a user's configuration may add to a session, and what would get in the way of ours.
    "RemoteCommand=none",
    "RequestTTY=no",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "EscapeChar=none",
)


class Where(Protocol):
    """What ssh needs to know of a machine (:class:`gateway.peer.address.Address`)."""

    @property
    def host(self) -> str: ...

    @property
    def user(self) -> str: ...

    @property
    def port(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended on the other machine."""

    status: int
    out: bytes
    err: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose ssh is used: the user who called sudo has the keys, the agent and the known hosts."""

    uid: int | None
    gid: int | None
    groups: tuple[int, ...]
    environment: dict[str, str]

    @classmethod
    def find(cls, environ: dict[str, str], euid: int) -> Caller:
        uid = environ.get("SUDO_UID", "")
        if euid != 0 or not uid.isdigit() or int(uid) == 0:
            return cls(None, None, (), environ)
        try:
            entry = pwd.getpwuid(int(uid))
        except KeyError:
            return cls(None, None, (), environ)
        groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
        changed = {"HOME": entry.pw_dir, "USER": entry.pw_name, "LOGNAME": entry.pw_name}
        return cls(entry.pw_uid, entry.pw_gid, groups, {**environ, **changed})


class Ssh:
    """A connection. Close it; safe twice. Errors are one line: UnusableError until it stands, MeasurementError
    (code peer-lost) when it has ended."""

    def __init__(self, where: Where) -> None:
        if shutil.which("ssh") is None:
            raise UnusableError("ssh is not installed", "apt install openssh-client", "no-ssh")
        self.where = where
        self._caller = Caller.find(dict(os.environ), os.geteuid())
        self._stood = False
        self._folder = tempfile.mkdtemp(prefix="gwbench-ssh-")
        if self._caller.uid is not None:
            os.chown(self._folder, self._caller.uid, self._caller.gid or 0)
        self._socket = os.path.join(self._folder, "s")

    @property
    def name(self) -> str:
        """For messages."""
        return str(self.where)

    def script(self, script: str) -> Done:
        """Runs ``script`` by sh, read from stdin. The first time this authenticates, and ssh may ask."""
        if os.path.exists(self._socket):
            return self.run("exec sh -s", script.encode())
        with tempfile.TemporaryFile() as err:
            process = self._popen("exec sh -s", first=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
            try:
                out, _ = process.communicate(script.encode())
            except BaseException:
                process.kill()
                process.wait()
                raise
            err.seek(0)
            words = err.read().decode(errors="replace")
        if process.returncode == _SSH_FAILED:
            raise explain(words, self.where)
        self._stood = True
        return Done(process.returncode, out, words)

    def run(self, command: str, stdin: bytes = b"", timeout_s: float = 30.0) -> Done:
        """One command line for the login shell there; quote what is not meant for it."""
        with tempfile.TemporaryFile() as err:
            process = self._popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
            try:
                out, _ = process.communicate(stdin, timeout_s)
            except subprocess.TimeoutExpired:
                raise self._lost("it does not answer any more") from None
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            err.seek(0)
            words = err.read().decode(errors="replace")
        if process.returncode == _SSH_FAILED and self._stood:
            # Whatever ssh said of a second attempt: there was a first one, and it stood.
            raise self._lost("the ssh connection has ended")
        if process.returncode == _SSH_FAILED:
            raise explain(words, self.where)
        return Done(process.returncode, out, words)

    def _lost(self, how: str) -> MeasurementError:
        return MeasurementError(f"{self.name} was lost: {how}", "is the link up?", "peer-lost")

    def popen(self, command: str, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        """Starts a command with pipes at stdin and stdout."""
        return self._popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)

    def close(self) -> None:
        """Ends the master. Never raises."""
        if not os.path.isdir(self._folder):
            return
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if os.path.exists(self._socket):
                process = self._start(
                    ["ssh", "-S", self._socket, "-O", "exit", "--", self.where.host],
                    session=True,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                try:
                    process.wait(5)
                finally:
                    if process.poll() is None:
                        process.kill()
                        process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _popen(self, command: str, *, first: bool = False, **pipes: Any) -> subprocess.Popen[bytes]:
        options = [f"ControlPersist={PERSIST_S}", f"ControlMaster={'yes' if first else 'no'}", *_OPTIONS]
        if not first:
            options += ["BatchMode=yes"]  # a master that has gone must not make ssh ask again
        arguments = ["ssh", "-S", self._socket, "-T", *(word for o in options for word in ("-o", o))]
        if self.where.port:
            arguments += ["-p", str(self.where.port)]
        if self.where.user:
            arguments += ["-l", self.where.user]
        # While it authenticates it must have the terminal, or it cannot ask for a password.
        return self._start([*arguments, "--", self.where.host, command], session=not first, **pipes)

    def _start(self, command: Sequence[str], *, session: bool, **pipes: Any) -> subprocess.Popen[bytes]:
        parent = os.getpid()
        who: dict[str, Any] = {}
        if self._caller.uid is not None:
            who = {"user": self._caller.uid, "group": self._caller.gid, "extra_groups": self._caller.groups}
        return subprocess.Popen(
            list(command),
            env=self._caller.environment,
            cwd="/",
            start_new_session=session,
            preexec_fn=lambda: syscalls.die_with(parent),
            **who,
            **pipes,
        )


_REASONS: tuple[tuple[str, str, str, str], ...] = (
    # (what ssh says, our words, what to do, code)
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the host key of {host} is another one than ssh knows",
        "if it was reinstalled: ssh-keygen -R {key}, then ssh {address} once; otherwise somebody is in between",
        "host-key-changed",
    ),
    (
        r"Host key verification failed|host key is known for",
        "ssh does not know the host key of {host}",
        "run `ssh {ssh}` once and compare the fingerprint",
        "host-key-unknown",
    ),
    (
        r"Permission denied|Too many authentication failures|No supported authentication",
        "{host} refuses the login",
        "`ssh {ssh}` must work by itself; ssh-copy-id puts a key there",
        "ssh-auth",
    ),
    (
        r"Could not resolve hostname|Name or service not known",
        "no machine is called {host}",
        "use its address",
        "peer-unreachable",
    ),
    (
        r"Connection refused",
        "{host} does not run an ssh server on this port",
        "name another: {host}:PORT",
        "peer-unreachable",
    ),
    (
        r"timed out|Timeout|No route to host|Network is unreachable|Host is down",
        "{host} cannot be reached",
        "is it on, and is the cable in?",
        "peer-unreachable",
    ),
    (
        r"Connection (closed|reset)|Broken pipe|mux_client|Control socket|not responding",
        "the ssh connection to {host} has ended",
        "",
        "peer-lost",
    ),
)


def explain(words: str, where: Where) -> UnusableError:
    """ssh's complaint as one line that says what to do."""
    ssh = (f"-p {where.port} " if where.port else "") + (f"{where.user}@" if where.user else "") + where.host
    key = f"'[{where.host}]:{where.port}'" if where.port and where.port != 22 else where.host
    for pattern, message, hint, code in _REASONS:
        if re.search(pattern, words, re.IGNORECASE):
            names = {"host": where.host, "address": str(where), "ssh": ssh, "key": key}
            return UnusableError(message.format(**names), hint.format(**names), code)
    last = next((line.strip() for line in reversed(words.splitlines()) if line.strip()), "no reason was given")
    return UnusableError(f"ssh to {where.host} failed: {last[:200]}", f"`ssh {ssh}` must work by itself", "ssh")
