"""One self-contained page from results: verdict, plots, tables, environment, and the data itself.

Several results stand in one page, in the order given, with what moved from each to the next. Names and dates of saved
results work as for compare: iperf, iperf@2026-11-30.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

EXAMPLE = "gwbench report iperf -o report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Results, -o, --format."""
    parser.add_argument("results", nargs="*", metavar="RESULT", help="files, or names of saved results")
    parser.add_argument(
        "--fleet", type=Path, metavar="DIR", help="instead: FROM--TO.json of a fleet's gateways, as a matrix"
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="(default: stdout)")
    parser.add_argument(
        "--format", choices=("html", "markdown", "json"), help="(default: by FILE's suffix: .md, .json, else html)"
    )
    parser.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="what the page shows, as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Reads, draws, writes."""
    from gateway.compare.saved import find
    from gateway.output import document
    from gateway.report import fleet
    from gateway.report.build import build
    from gateway.report.page import page, shown
    from gateway.report.text import markdown
    from gateway.result import results_directory

    for to in (arguments.output, arguments.json):
        document.check_writable(to)
    directory = results_directory()
    if bool(arguments.results) == bool(arguments.fleet):
        raise UnusableError("report takes results, or --fleet DIR", "gwbench report iperf")
    if arguments.fleet:
        report = fleet.build(arguments.fleet)
    else:
        report = build([find(word, directory) for word in arguments.results])
    if arguments.json is not None:
        document.write(arguments.json, shown(report))
        if arguments.json == "-" and arguments.output == "-":
            return EXIT_OK
    suffix = arguments.output.rpartition(".")[2]
    # A fleet's matrix is looked at in the terminal first.
    usual = "markdown" if arguments.fleet and arguments.output == "-" else "html"
    form = arguments.format or {"md": "markdown", "json": "json"}.get(suffix, usual)
    if form == "json":
        document.write(arguments.output, shown(report))
    elif form == "markdown":
        document.write_text(arguments.output, markdown(report))
    else:
        from gateway.report.plots import svg

        document.write_text(arguments.output, page(report, svg))
    return EXIT_FAILED if arguments.fleet and not report.valid else EXIT_OK
