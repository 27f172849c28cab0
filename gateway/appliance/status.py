"""What the gateway does, for people and programs. No key is in it."""

from __future__ import annotations

import os
from typing import Any

from gateway import __version__
from gateway.appliance.gateway import Appliance, ChildState


def status(appliance: Appliance, started_s: float, now_s: float, monotonic_s: float) -> dict[str, Any]:
    """The answer to ``status``."""
    counters = appliance._read_sas()
    return {
        "schema": "gwbench-status/1",
        "name": appliance.config.gateway.name,
        "version": __version__,
        "pid": os.getpid(),
        "up_s": round(now_s - started_s, 1),
        "peers": [
            {"name": name, "connected": state.node is not None, "problem": state.problem}
            for name, state in appliance.peers.items()
        ],
        "tunnels": [_tunnel(appliance, child, counters, monotonic_s) for child in appliance.children.values()],
    }


def _tunnel(appliance: Appliance, child: ChildState, counters: Any, monotonic_s: float) -> dict[str, Any]:
    one, pair, peer = child.config, child.pair, appliance.peers[child.config.peer]
    state = "up" if pair else "stopped" if child.stopped else "down"
    age_s = monotonic_s - pair.created_monotonic_s if pair else None
    return {
        "tunnel": one.tunnel,
        "child": one.name,
        "peer": one.peer,
        "local": one.local,
        "remote": one.remote,
        "suite": one.suite,
        "state": state,
        "problem": "" if pair else (child.problem or peer.problem),
        "implementation": pair.implementation if pair else None,
        "age_s": None if age_s is None else round(age_s, 1),
        "rekey_in_s": None if age_s is None else round(appliance.config.rekey.seconds - age_s, 1),
        "rekeys": child.rekeys,
        "sas": [
            {
                "spi": f"{spi:08x}",
                "direction": direction,
                "going": which is not pair,
                "packets": sa.packets,
                "bytes": sa.bytes,
                "drops": sa.drops,
                "state": sa.state,
            }
            for which in (*([pair] if pair else []), *(old for old, _ in child.old))
            for spi, direction in ((which.spi_out, "out"), (which.spi_in, "in"))
            if (sa := counters.get((spi, direction))) is not None
        ],
    }
