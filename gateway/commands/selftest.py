"""Known answers on every implementation; with --vectors, files of published test vectors.

Exit status: 1 when an answer is wrong, 2 when a file is malformed or of an unknown schema.
GWBENCH_INJECT_FAULT=DRIVER (or several, separated by commas) is a test hook: gwbench then treats the known answers of
that implementation as wrong and takes it out of selection, as it would a faulty one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK

EXAMPLE = "gwbench selftest --vectors tests/vectors/data --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--vectors, --legacy, --json [FILE]."""
    parser.add_argument(
        "--vectors", type=Path, metavar="DIR_OR_FILE", help="files of vectors (.json), as tests/vectors/data has"
    )
    parser.add_argument(
        "--legacy", action="store_true", help="runs vectors of legacy suites (SHA-1) instead of refusing"
    )
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Reads all files first, so that a malformed one is said before minutes are spent."""
    from gateway.measure import faults
    from gateway.output import selftest as output
    from gateway.output.console import human
    from gateway.output.document import check_writable, write
    from gateway.vectors import builtin
    from gateway.vectors import run as vectors

    console = human(arguments.json == "-")
    check_writable(arguments.json)
    documents = vectors.load(arguments.vectors, arguments.legacy) if arguments.vectors else []
    absent = faults.load_providers()
    out = faults.inject_from_environment()
    outcomes = [*builtin.run(), *vectors.run(documents, faults.progress())]
    for line in output.render(outcomes, out, absent):
        console.print(line)
    if arguments.json is not None:
        write(arguments.json, output.as_json(outcomes, out))
    return EXIT_FAILED if out or any(o.failed for o in outcomes) else EXIT_OK
