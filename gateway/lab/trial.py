"""Trying something in namespaces of a child's own, so that this process stays where it is."""

from __future__ import annotations

import os
from collections.abc import Callable

from gateway.lab import syscalls


def in_child(action: Callable[[], str], flags: int) -> str:
    """Runs ``action`` in a child with new namespaces (``unshare`` flags).

    Returns its text; ``!errno`` when unsharing is refused, ``!0`` when the action failed.
    """
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover - coverage does not see children
        os.close(read_fd)
        text = "!0"
        try:
            try:
                syscalls.unshare(flags)
            except OSError as error:
                text = f"!{error.errno}"
            else:
                text = action()
        finally:
            os.write(write_fd, text.encode()[:4000])
            os._exit(0)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(pid, 0)
    return text
