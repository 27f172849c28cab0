"""What a node's process does to itself before it handles keys: namespace, parent's death, no core, not traceable."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import types
from collections.abc import Iterator

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
CLONE_NEWNET = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


class Stop(Exception):
    """SIGTERM, SIGINT, or the parent's death: leave by the ordinary way, so that everything is wiped."""


def enter_netns(fd: int) -> None:
    """Moves this thread (the process has no other yet) into the network namespace ``fd``, and closes it."""
    _setns(fd)
    os.close(fd)


def _setns(fd: int) -> None:
    if _libc.setns(fd, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot enter the network namespace: {os.strerror(number)}")


@contextlib.contextmanager
def inside_netns(fd: int | None) -> Iterator[None]:
    """Runs the block with this thread in the network namespace ``fd`` (None: where it is). Children stay in it."""
    if fd is None:
        yield
        return
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            _setns(fd)
            yield
        finally:
            _setns(home)
    finally:
        os.close(home)


def harden() -> None:
    """No core dump, no ptrace, no /proc/PID/mem by others of the same user. Descriptors must be open by now."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def install_signals(parent: int) -> None:
    """SIGTERM and SIGINT raise :class:`Stop` once; so does the death of ``parent`` (0 = none to watch).

    PDEATHSIG fires when the *thread* that started this process ends: whether the parent itself is gone is looked up,
    and the signal is one that nobody else sends.
    """

    def stop(number: int, frame: types.FrameType | None) -> None:
        for one in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            signal.signal(one, signal.SIG_IGN)
        raise Stop

    def parent_died(number: int, frame: types.FrameType | None) -> None:
        if os.getppid() != parent:
            stop(number, frame)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if parent:
        signal.signal(signal.SIGUSR1, parent_died)
        _libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGUSR1), 0, 0, 0)
        parent_died(0, None)  # it may have died before the line above


def threads_cpu_ns() -> int:
    """CPU time of all threads but the first (which is Python), from schedstat; -1 where the kernel has none."""
    total = 0
    own = str(os.getpid())
    for task in os.listdir("/proc/self/task"):
        if task == own:
            continue
        try:
            with open(f"/proc/self/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            if not os.path.exists("/proc/self/schedstat"):
                return -1
    return total


def cpu_s(pid: int) -> float:
    """CPU time of the process, all threads; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            values = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def interface_counters(of: str = "self") -> dict[str, dict[str, int]]:
    """Counters of every interface of this process's network namespace, from /proc/self/net/dev; ``thread-self``: of
    the calling thread's."""
    with open(f"/proc/{of}/net/dev", encoding="ascii") as file:
        lines = file.read().splitlines()[2:]
    interfaces = {}
    for line in lines:
        name, _, numbers = line.rpartition(":")
        n = [int(x) for x in numbers.split()]
        interfaces[name.strip()] = {
            "rx_packets": n[1],
            "rx_bytes": n[0],
            "rx_dropped": n[3],
            "tx_packets": n[9],
            "tx_bytes": n[8],
            "tx_dropped": n[11],
        }
    return interfaces
