"""Takes the gateway down: SAs wiped at both ends, TUNs and routes gone. Returns when it has ended."""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_OK

EXAMPLE = "gwbench down"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which gateway."""
    parser.add_argument("--socket", type=Path, metavar="FILE", help="control socket, where several gateways run")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Asks, and waits."""
    from gateway.appliance import client

    name = client.down(arguments.socket)
    if arguments.json is not None:
        from gateway.output import document

        document.write(arguments.json, {"schema": "gwbench-down/1", "name": name})
    else:
        print(f"gateway {name} is down")
    return EXIT_OK
