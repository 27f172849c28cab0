"""What this machine has and lacks for measuring IPsec; nothing is changed.

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
    """--json [FILE]."""
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Prints the findings."""
    from gateway.doctor import FAIL, as_json, examine

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
