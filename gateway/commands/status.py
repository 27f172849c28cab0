"""What the gateway does: peers, tunnels, when they are rekeyed, what they carried.

Exit status 1 when a tunnel is down.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK

EXAMPLE = "gwbench status --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which gateway."""
    parser.add_argument("--socket", type=Path, metavar="FILE", help="control socket, where several gateways run")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Prints it."""
    from gateway.appliance import client
    from gateway.output import appliance, document

    found = client.status(arguments.socket)
    if arguments.json is not None:
        document.write(arguments.json, found)
    if arguments.json != "-":
        print("\n".join(appliance.status_lines(found)))
    return EXIT_FAILED if any(tunnel["state"] == "down" for tunnel in found["tunnels"]) else EXIT_OK
