"""What ``status``, ``sa`` and ``down`` ask of a gateway that runs."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from gateway.appliance import control
from gateway.errors import MeasurementError, UnusableError

DOWN_S = 30.0


def status(socket: Path | None) -> dict[str, Any]:
    """See :mod:`gateway.appliance.status`."""
    return control.ask(control.find(socket), {"op": "status"})


def sas(socket: Path | None, tunnel: str = "") -> list[dict[str, Any]]:
    """Every SA with its tunnel's labels."""
    tunnels = status(socket)["tunnels"]
    if tunnel not in ("", "all"):
        known = [one for one in tunnels if tunnel in (one["tunnel"], one["child"])]
        if not known:
            raise UnusableError(
                f"no tunnel is called '{tunnel}'", f"there are: {', '.join(t['tunnel'] for t in tunnels)}"
            )
        tunnels = known
    return [
        {"tunnel": one["tunnel"], "child": one["child"], "peer": one["peer"], "suite": one["suite"], **sa}
        for one in tunnels
        for sa in one["sas"]
    ]


def change(socket: Path | None, action: str, tunnel: str) -> int:
    """``rekey`` or ``del``; returns how many pairs of SAs."""
    if not tunnel:
        raise UnusableError(f"sa {action} needs a tunnel's name, or all")
    op = "rekey" if action == "rekey" else "delete"
    return int(control.ask(control.find(socket), {"op": op, "name": tunnel})["pairs"])


def down(socket: Path | None) -> str:
    """Returns the gateway's name when its process has ended."""
    path = control.find(socket)
    pid = int(control.ask(path, {"op": "down"})["pid"])
    deadline = time.monotonic() + DOWN_S
    while os.path.exists(f"/proc/{pid}") and not _zombie(pid):
        if time.monotonic() > deadline:
            raise MeasurementError(f"the gateway (process {pid}) does not end")
        time.sleep(0.05)
    return path.stem


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
