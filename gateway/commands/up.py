"""The gateway from a configuration file: tunnels between gwbench ends, with fresh keys, rekeyed before their limits.

It stays in the foreground, as systemd wants it; keys are made here, sent to the peers over ssh, and stored nowhere.
Started as root it becomes the configured user and keeps CAP_NET_ADMIN alone (CAP_NET_RAW, too, for bare ESP).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_OK

EXAMPLE = "gwbench up /etc/gwbench/gateway.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The configuration, and what to do with it."""
    parser.add_argument(
        "config", type=Path, metavar="CONFIG", help="TOML as config/gateway.toml, or UCI as config/gateway.uci"
    )
    parser.add_argument("--check", action="store_true", help="reads the configuration, says what it means, and ends")
    parser.add_argument(
        "--reload", action="store_true", help="tells the gateway that runs to read it again; only what changed changes"
    )
    parser.add_argument("--socket", type=Path, metavar="FILE", help="control socket (default: /run/gwbench/NAME.sock)")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="with --check or --reload: as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs until ``gwbench down`` or a signal."""
    from gateway.appliance import config, control, gateway, supervise

    if not (arguments.check or arguments.reload):
        supervise.run(arguments.config, arguments.socket)
        return EXIT_OK
    read = config.load(arguments.config)
    if arguments.check:
        lines = [
            f"{child.name}: {child.local} to {child.remote} by {child.peer}, {child.suite}" for child in read.children
        ]
        lines.append(f"inner MTU {gateway.mtu(read)} bytes")
    else:
        path = arguments.socket or supervise.socket_path(read)
        lines = control.ask(path, {"op": "reload"})["changes"] or ["nothing changed"]
    if arguments.json is not None:
        from gateway.output import document

        document.write(arguments.json, {"schema": "gwbench-up/1", "lines": lines})
    else:
        print("\n".join(lines))
    return EXIT_OK
