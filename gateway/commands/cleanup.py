"""Undoes what a run that was killed left on this machine: priorities of the kernel's crypto drivers (--driver).

Everything else dies with its processes. It is safe at any time, and says what it did.
"""

from __future__ import annotations

import argparse
import sys

from gateway.errors import EXIT_OK, UnusableError

EXAMPLE = "gwbench cleanup"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[HOST], --json."""
    parser.add_argument("host", nargs="?", metavar="HOST", help="a router instead of this machine")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Replays the journal."""
    if arguments.host:
        # gwnode's watchdog undoes it there within seconds; this is for a router where even that was killed.
        raise UnusableError("on a router gwnode undoes it", f"ssh {arguments.host} /tmp/gwnode cleanup")
    from gateway.node.priorities import restore_stale
    from gateway.output import document

    changed = restore_stale()
    if arguments.json is not None:
        document.write(arguments.json, {"schema": "gwbench-cleanup/1", "command": sys.argv, "priorities": changed})
    if arguments.json != "-":
        print(f"put back the priority of {', '.join(changed)}" if changed else "nothing was left here")
    return EXIT_OK
