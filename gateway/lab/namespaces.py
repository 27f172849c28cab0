"""Anonymous network namespaces, held by open file descriptors of this process.

Nothing is mounted under /run/netns and nothing has a name that two laboratories could share: a namespace lives as
long as a process in it or a descriptor of it. When this process ends - in whatever way, SIGKILL included - its
descriptors close, its children get PDEATHSIG, and the kernel takes namespaces, veths and TUNs away with them.

    with NetworkNamespace("client") as client:
        with client.entered():          # this thread only
            sock = socket.socket(...)   # stays in the namespace for good
        process = client.popen(["iperf3", ...])
"""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from gateway.errors import UnusableError
from gateway.lab import syscalls

_SELF = "/proc/thread-self/ns/net"


class NetworkNamespace:
    """One network namespace with its loopback up.

    Only the main thread may use it: a thread carries its namespace with it, and PDEATHSIG follows the thread that
    started a child.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._fd = -1
        home = os.open(_SELF, os.O_RDONLY | os.O_CLOEXEC)
        try:
            syscalls.unshare(syscalls.CLONE_NEWNET)
            try:
                self._fd = os.open(_SELF, os.O_RDONLY | os.O_CLOEXEC)
            finally:
                syscalls.setns(home, syscalls.CLONE_NEWNET)
        except OSError as error:
            if error.errno == errno.EPERM:
                raise UnusableError("not allowed to make a network namespace", "run with sudo", "no-netns") from error
            raise UnusableError(f"no network namespace: {os.strerror(error.errno or 0)}", code="no-netns") from error
        finally:
            os.close(home)

    @classmethod
    def current(cls, name: str) -> NetworkNamespace:
        """The one that this process is in."""
        namespace = cls.__new__(cls)
        namespace.name = name
        namespace._fd = os.open(_SELF, os.O_RDONLY | os.O_CLOEXEC)
        return namespace

    @property
    def fd(self) -> int:
        """Descriptor of the namespace (``setns``, ``IFLA_NET_NS_FD``)."""
        if self._fd < 0:
            raise UnusableError(f"namespace {self.name} is gone", code="no-netns")
        return self._fd

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Runs the block in this namespace; sockets and children made inside stay in it."""
        home = os.open(_SELF, os.O_RDONLY | os.O_CLOEXEC)
        try:
            try:
                syscalls.setns(self.fd, syscalls.CLONE_NEWNET)
                yield
            finally:
                syscalls.setns(home, syscalls.CLONE_NEWNET)
        finally:
            os.close(home)

    def popen(
        self,
        command: Sequence[str],
        *,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = subprocess.PIPE,
        stderr: int | IO[Any] | None = subprocess.PIPE,
        text: bool = True,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[Any]:
        """Starts a child in the namespace, in its own session (a terminal's Ctrl-C is ours to pass on), killed by
        the kernel when this process ends."""
        parent = os.getpid()

        def child() -> None:
            syscalls.die_with(parent)

        with self.entered():
            return subprocess.Popen(
                list(command),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                text=text,
                errors="replace" if text else None,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
                preexec_fn=child,
            )

    def write_sysctl(self, name: str, value: str) -> None:
        """``name`` with slashes, below /proc/sys; /proc/sys/net shows the namespace of the thread that looks."""
        with self.entered():
            try:
                Path("/proc/sys", name).write_text(value)
            except OSError as error:
                dotted = name.replace("/", ".")
                raise UnusableError(
                    f"cannot set {dotted} in namespace {self.name}: {error.strerror}",
                    "is /proc/sys mounted read-only, as in some containers?",
                    "no-sysctl",
                ) from error

    def close(self) -> None:
        """Lets go of the namespace. Safe twice."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> NetworkNamespace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
