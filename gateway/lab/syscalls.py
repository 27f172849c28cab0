"""The few system calls that Python 3.11 has no wrapper for: unshare, setns, prctl.

Kept free of other imports: ``userns.py`` needs them before anything that could start a thread is loaded.
"""

from __future__ import annotations

import ctypes
import os
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000

_PR_SET_PDEATHSIG = 1
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Moves the calling thread (for CLONE_NEWUSER: the single-threaded process) into new namespaces."""
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, kind: int) -> None:
    """Moves the calling thread into the namespace behind ``fd``."""
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def make_mounts_private() -> None:
    """Mounts made from here on stay in this mount namespace."""
    _check(
        _libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None),
        "mount --make-rprivate /",
    )


def die_with(parent_pid: int, signal_number: int = signal.SIGKILL) -> None:
    """For a fresh child: the kernel sends it ``signal_number`` when its parent ends, however it ends.

    The parent may be gone before the call: then this process ends at once. Bound to the parent's *thread* that
    forked; gwbench starts children from its main thread only.
    """
    _libc.prctl(ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(signal_number), 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)
