"""Starts a node's process on this machine, inside a network namespace that the laboratory made."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from gateway.errors import UnusableError
from gateway.node.client import NodeClient
from gateway.node.process import inside_netns

Launcher = Callable[[Sequence[str], IO[bytes]], "subprocess.Popen[bytes]"]
"""Starts an argument list with pipes at stdin and stdout and the given stderr, in a place of its own choosing."""

MODULES = {"worker": "gateway.node.worker", "kernel": "gateway.node.kernel"}
GWNODE = "gwnode"
"""The same data path as ``worker`` in a binary of its own, which may be built for another processor."""


def node_command(kind: str = "worker", netns_fd: int | None = None) -> list[str]:
    """The argument list of a node process. It enters the namespace of ``netns_fd`` by itself, before anything else."""
    if kind not in MODULES:
        raise UnusableError(f"no data path is called '{kind}'; there are: {', '.join([*MODULES, GWNODE])}")
    command = [sys.executable, "-P", "-m", MODULES[kind], "--parent", str(os.getpid())]
    return command if netns_fd is None else [*command, "--netns-fd", str(netns_fd)]


def node_environment() -> dict[str, str]:
    """This process's environment, with this very package importable."""
    here = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{here}:{path}" if path else here, "PYTHONDONTWRITEBYTECODE": "1"}


def start_node(
    name: str,
    kind: str = "worker",
    *,
    argv: Sequence[str] = (),
    netns_fd: int | None = None,
    tun_netns_fd: int | None = None,
    launcher: Launcher | None = None,
    options: Sequence[str] = (),
    pass_fds: Sequence[int] = (),
) -> NodeClient:
    """Starts a node and returns its client; nothing has been asked of it yet.

    ``name``: for messages ("gateway-a"). ``kind``: ``worker`` (our dataplane), ``kernel`` (XFRM) or ``gwnode``;
    ``argv``: gwnode's path, behind an emulator's command line if need be.
    ``netns_fd``: network namespace to run in (the caller keeps it open); ``tun_netns_fd``: one for a worker's TUN
    alone, while its outer sockets stay where it runs; ``launcher``: starts the process elsewhere
    (and then sees to its namespace itself); ``options``: more words for a worker (``--pages-fd``, ``--user``), and the
    descriptors that they name in ``pass_fds``. The child has a session of its own, so that Ctrl-C reaches the control
    plane alone, which then closes nodes in order; it ends by itself when its stdin closes or its parent dies.
    """
    enter, keep = None, netns_fd
    if kind == GWNODE:
        if not argv:
            raise UnusableError("where is gwnode?", "make cross builds build/cross/x86_64/gwnode")
        # It knows nothing of namespaces: it is started inside.
        command, enter, keep = [*argv, "--stdio"], netns_fd, None
    else:
        command = node_command(kind, None if launcher else netns_fd)
        if tun_netns_fd is not None:
            command += ["--tun-netns-fd", str(tun_netns_fd)]
        command += options
    stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the client, which closes it
    try:
        if launcher is not None:
            process = launcher(command, stderr)
        else:
            with inside_netns(enter):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env=node_environment(),
                    start_new_session=True,
                    close_fds=True,
                    pass_fds=[fd for fd in (keep, tun_netns_fd, *pass_fds) if fd is not None],
                )
    except OSError as error:
        stderr.close()
        raise UnusableError(f"cannot start {name}: {command[0]}: {error.strerror}") from None
    return NodeClient(name, process, stderr)
