"""The laboratory without root: re-exec into a user, network and mount namespace of one's own.

The kernel lets a process make a user namespace only while it has a single thread, so :func:`enter_if_needed` runs
before anything is imported that might start one. Inside, the process is "root" over its own network stack and
nothing else: it may make veths, TUNs and routes there. What it cannot do without root is raise socket buffers past
``net.core.rmem_max``; the data path reads the granted size back and reports it.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

from gateway.errors import UnusableError
from gateway.lab import syscalls

_MARK = "GWBENCH_USERNS"
"""Set to the process's own id, which exec keeps: a child that inherits it is not fooled."""

_CAP_NET_ADMIN = 12
_CAP_SYS_ADMIN = 21

_SYSCTLS: tuple[tuple[str, Callable[[int], bool], int], ...] = (
    # (file, does this value forbid it?, what to set)
    ("kernel/unprivileged_userns_clone", lambda value: value == 0, 1),
    ("user/max_user_namespaces", lambda value: value == 0, 15000),
    ("kernel/apparmor_restrict_unprivileged_userns", lambda value: value != 0, 0),
)
"""Debian's, everybody's and Ubuntu's way to forbid user namespaces."""


def privileged(status: str | None = None) -> bool:
    """Whether this process may make network namespaces as it is (``status``: a /proc/self/status, for tests)."""
    text = Path("/proc/self/status").read_text() if status is None else status
    for line in text.splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            return bool(effective >> _CAP_NET_ADMIN & 1 and effective >> _CAP_SYS_ADMIN & 1)
    return False


def entered() -> bool:
    """Whether this process is the one that :func:`enter_if_needed` started."""
    return os.environ.get(_MARK) == str(os.getpid())


def enter_if_needed(argv: list[str] | None = None, unshare: Callable[[int], None] = syscalls.unshare) -> None:
    """Returns at once when privileged; otherwise does not return, but starts the program again inside.

    argv: the command to start again (default: this process's own). Raises UnusableError with the reason.
    """
    require_tun()
    if entered() or privileged():
        return
    uid, gid = os.geteuid(), os.getegid()
    try:
        unshare(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWNS)
    except OSError as error:
        raise explain(error) from error
    try:
        # Order matters: without "deny" an unprivileged process may not write its gid_map.
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        syscalls.make_mounts_private()
    except OSError as error:
        # Ubuntu's AppArmor lets the namespace be made, but without any capability in it.
        raise explain(error) from error
    environment = dict(os.environ)
    environment[_MARK] = str(os.getpid())
    # "~" must stay the caller's home, although the user id inside is 0.
    environment.setdefault("HOME", _home_of(uid))
    command = argv or [sys.executable, *sys.orig_argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        raise UnusableError(
            f"cannot start {command[0]} again in a user namespace: {error.strerror}",
            "is it in a directory that this user may not enter? Otherwise run with sudo",
            "no-userns",
        ) from error


def _home_of(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return "/"


def require_tun(path: str = "/dev/net/tun") -> None:
    """Raises UnusableError when the TUN device is missing or closed to this user."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        raise UnusableError(
            f"no {path}: this kernel or container offers no TUN device",
            "modprobe tun; in a container: --device /dev/net/tun",
            "no-tun",
        ) from None
    except PermissionError:
        raise UnusableError(
            f"{path} is not writable for this user",
            f"chmod 0666 {path}, or run with sudo",
            "no-tun",
        ) from None
    except OSError as error:
        # ENODEV/ENXIO: the node is there, the driver is not.
        raise UnusableError(f"{path}: {error.strerror}", "modprobe tun", "no-tun") from None


def explain(error: OSError, sysctl_root: Path = Path("/proc/sys")) -> UnusableError:
    """Names what forbids a user namespace."""
    blockers = []
    for name, forbids, allowed in _SYSCTLS:
        try:
            value = int((sysctl_root / name).read_text())
        except (OSError, ValueError):
            continue
        if forbids(value):
            blockers.append((name.replace("/", "."), value, allowed))
    if blockers:
        name, value, allowed = blockers[0]
        return UnusableError(
            f"this kernel forbids user namespaces to ordinary users: {name} = {value}",
            f"run with sudo, or: sudo sysctl -w {name}={allowed}",
            "no-userns",
        )
    if error.errno in (errno.EPERM, errno.EACCES):
        reason = "a container's seccomp or security profile forbids user namespaces"
    elif error.errno in (errno.ENOSYS, errno.EINVAL):
        reason = "this kernel has no user namespaces"
    elif error.errno in (errno.ENOSPC, errno.EUSERS):
        reason = "too many user namespaces exist (user.max_user_namespaces)"
    else:
        reason = f"no user namespace: {os.strerror(error.errno or 0)}"
    return UnusableError(reason, "run with sudo", "no-userns")
