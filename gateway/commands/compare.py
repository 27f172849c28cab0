"""Results against each other: before and after per row, its confidence interval, and which rows really moved.

Reads gwbench's JSON (iperf, crypto, esp), the kernel's raw tcrypt log (seconds, cycles, operations/s) and the output of
cryptsetup benchmark. Saved results are found by name and date: iperf, iperf@2026-11-30. The first is "before"; each
further one is compared with it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench compare before.json after.json --format cryptsetup"

FORMATS = ("table", "cryptsetup", "csv", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files, --baseline, --noise, --relative-to, --format, --json."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="two or more; with --baseline one is enough")
    parser.add_argument(
        "--baseline", metavar="NAME", help="before: a file, or a saved result; exit status 1 when a row got slower"
    )
    parser.add_argument(
        "--noise",
        type=_percent,
        metavar="PERCENT",
        help="changes up to this never count (default: 1, or 5 where nothing was measured twice)",
    )
    parser.add_argument(
        "--relative-to",
        metavar="WORD",
        help="each row over the row of the same round that has WORD where it has something else (generic, aesni, "
        "plain): a machine that drifts drifts for both",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="(default: table)")
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Reads, compares, prints."""
    from gateway.compare.readers import read
    from gateway.compare.saved import find
    from gateway.compare.series import compare, relative
    from gateway.output import compare as output
    from gateway.output import document
    from gateway.result import results_directory

    directory = results_directory()
    paths = [find(word, directory) for word in arguments.files]
    if arguments.baseline is not None:
        # A baseline by name is the newest that is older than what it is compared with.
        older_than = paths[0] if paths[0].parent == directory else None
        paths.insert(0, find(arguments.baseline, directory, before=older_than))
    if len(paths) < 2:
        raise UnusableError("there is only one result", "name two, or --baseline NAME")
    results = [read(path) for path in paths]
    if arguments.relative_to:
        results = [relative(one, arguments.relative_to) for one in results]
        for one in results:
            if not one.rows:
                raise UnusableError(
                    f"{one.name} has no row that '{arguments.relative_to}' is the other side of, round by round",
                    "a word of a row's name: generic, aesni, plain",
                )
    first, *others = results
    comparisons = [compare(first, other, arguments.noise) for other in others]
    for comparison in comparisons:
        if not comparison.rows:
            raise UnusableError(
                f"{first.name} and {comparison.after.name} have no row in common",
                f"one is {first.kind}, the other {comparison.after.kind}",
            )
    if arguments.json is not None or arguments.format == "json":
        found = [output.as_dict(one) for one in comparisons]
        content = found[0] if len(found) == 1 else {"schema": "gwbench-compare/1", "comparisons": found}
        document.write(arguments.json or "-", content)
    if arguments.format == "csv":
        sys.stdout.write(output.as_csv(comparisons))
    elif arguments.format != "json" and arguments.json != "-":
        render = output.cryptsetup if arguments.format == "cryptsetup" else output.table
        for comparison in comparisons:
            if len(comparisons) > 1:
                print(f"{Path(first.name).name} -> {Path(comparison.after.name).name}")
            for line in render(comparison):
                print(line.encode("ascii", "replace").decode())
    failed = arguments.baseline is not None and any(one.regressions for one in comparisons)
    return EXIT_FAILED if failed else EXIT_OK


def _percent(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 100")
    return value / 100
