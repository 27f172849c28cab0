"""What this machine, or a router over ssh, has and lacks for measuring IPsec; nothing is changed.

Lines begin with ok, info, WARN (works, with less) or FAIL (something does not work), and end with the command that
helps. Exit status 1 when something fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench doctor --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """A router, and --json [FILE]."""
    parser.add_argument(
        "host", nargs="?", metavar="[USER@]HOST[:PORT]", help="a router, over ssh (default: this machine)"
    )
    parser.add_argument("--gwnode", default="", metavar="FILE", help="the binary for it (default: by its processor)")
    parser.add_argument("--remote-dir", default="/tmp", metavar="DIR", help="where gwnode goes there (default: /tmp)")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings."""
    from gateway.doctor import examine
    from gateway.findings import FAIL, as_json

    if arguments.host:
        from gateway.peer.address import parse
        from gateway.peer.doctor import examine as examine_router

        findings = examine_router(parse(arguments.host), arguments.gwnode, arguments.remote_dir)
    else:
        findings = examine()
    if arguments.json is not None:
        text = json.dumps({"schema": "gwbench-doctor/1", "findings": as_json(findings)}, indent=2) + "\n"
        if arguments.json == "-":
            sys.stdout.write(text)
        else:
            try:
                Path(arguments.json).write_text(text, encoding="utf-8")
            except OSError as error:
                raise UnusableError(f"cannot write {arguments.json}: {error.strerror}") from None
    if arguments.json != "-":
        for finding in findings:
            print(finding.line().encode("ascii", "replace").decode())
    return EXIT_FAILED if any(finding.level == FAIL for finding in findings) else EXIT_OK
