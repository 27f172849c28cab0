"""Giving up root: another user, few capabilities, none of them regained by anything that is started later."""

from __future__ import annotations

import ctypes
import os
import pwd
import struct
from collections.abc import Iterable
from pathlib import Path

from gateway.errors import UnusableError

CAP_SETPCAP = 8
CAP_NET_ADMIN = 12
CAP_NET_RAW = 13

_PR_SET_KEEPCAPS, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 8, 24, 38, 47
_AMBIENT_RAISE, _AMBIENT_CLEAR = 2, 4
_VERSION_3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)


def effective(status: str | None = None) -> frozenset[int]:
    """Capabilities of this process, by number (``status``: a /proc/self/status, for tests)."""
    for line in (status or Path("/proc/self/status").read_text(encoding="ascii")).splitlines():
        if line.startswith("CapEff:"):
            bits = int(line.split()[1], 16)
            return frozenset(n for n in range(64) if bits >> n & 1)
    return frozenset()


def drop(user: str | None, keep: Iterable[int]) -> None:
    """Becomes ``user`` (None: stays who it is) with the capabilities ``keep`` alone, which children inherit.

    Capabilities that the process does not have are not kept. No new privileges from here on: a setuid program that is
    started gains nothing. UnusableError when the user does not exist.
    """
    account = _account(user)
    keep = frozenset(keep) & effective()
    if CAP_SETPCAP in effective():
        for number in (n for n in range(64) if n not in keep):
            _prctl(_PR_CAPBSET_DROP, number)  # EINVAL past the last one that the kernel knows
    if account is not None and os.geteuid() == 0:
        _prctl(_PR_SET_KEEPCAPS, 1)
        try:
            os.setgroups(os.getgrouplist(account.pw_name, account.pw_gid))
            os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
            os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
        except OSError as error:
            raise UnusableError(f"cannot become user '{user}': {error.strerror}") from None
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR)
    _capset(keep)
    for number in keep:
        _prctl(_PR_CAP_AMBIENT, _AMBIENT_RAISE, number)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _account(user: str | None) -> pwd.struct_passwd | None:
    if user is None:
        return None
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise UnusableError(f"there is no user '{user}'", f"useradd --system {user}", "no-user") from None


def _capset(keep: Iterable[int]) -> None:
    bits = sum(1 << number for number in keep)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    header = struct.pack("=Ii", _VERSION_3, 0)
    data = struct.pack("=6I", low, low, low, high, high, high)  # effective, permitted, inheritable; twice 32 bits
    if _libc.capset(header, data) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot give up capabilities: {os.strerror(number)}")


def _prctl(option: int, first: int, second: int = 0) -> bool:
    arguments = [ctypes.c_ulong(word) for word in (first, second, 0, 0)]
    return bool(_libc.prctl(option, *arguments) == 0)
