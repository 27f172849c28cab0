"""systemd's notification protocol (sd_notify(3)); silence where systemd did not start us."""

from __future__ import annotations

import os
import socket


def tell(message: str) -> None:
    """Sends ``message`` to NOTIFY_SOCKET."""
    path = os.environ.get("NOTIFY_SOCKET", "")
    if not path:
        return
    if path.startswith("@"):
        path = "\0" + path[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.sendto(message.encode(), path)
        except OSError:
            return  # systemd's own timeout says so


def ready(status: str = "") -> None:
    """Started, or reloaded."""
    tell("READY=1" + (f"\nSTATUS={status}" if status else ""))


def reloading() -> None:
    """Followed by :func:`ready`."""
    import time

    tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")


def stopping() -> None:
    """Going down in order."""
    tell("STOPPING=1")
