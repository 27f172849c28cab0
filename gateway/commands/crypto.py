"""Implementations side by side, in memory: MB/s, cycles per byte, gain over generic C, in interleaved rounds.

Without options it ends within 20 seconds and names what it skipped. Exit status 1 when an implementation gave a wrong
known answer (GWBENCH_INJECT_FAULT=DRIVER, a test hook, makes one count as wrong).
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

if TYPE_CHECKING:
    from gateway.measure.crypto import Options, Row
    from gateway.output.console import Console

EXAMPLE = "gwbench crypto --algo 'gcm(aes)' --impl all"

FORMATS = ("table", "tcrypt", "cryptsetup", "json")
PUBLISHED = ("wdr4900", "beaglebone", "rpi3", "hikey960", "sm8650")


def _numbers(text: str) -> tuple[int, ...]:
    try:
        values = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is no list of numbers") from None
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no list of positive numbers")
    return values


def _sizes(text: str) -> tuple[int, ...]:
    sizes = _numbers(text)
    if max(sizes) > 16 << 20:
        raise argparse.ArgumentTypeError(f"{max(sizes)} bytes is more than the 16777216 that are measured at most")
    return sizes


def _batch(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 4096:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 4096")
    return value


def _seconds(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 60:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 60")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is measured, how long, and what it is set beside."""
    what = parser.add_argument_group("what is measured")
    what.add_argument(
        "--algo", default="", metavar="A,B", help="kernel names: 'cbc(aes)', 'gcm(aes)', sha256, ... (default: all)"
    )
    what.add_argument("--impl", default="all", metavar="all|A,B", help="tags or driver names (default: all)")
    what.add_argument("--key-bits", type=_numbers, default=(), metavar="N,N", help="XTS counts both halves")
    what.add_argument("--bytes", type=_sizes, default=(), metavar="N,N", help="request sizes")
    what.add_argument(
        "--batch",
        type=_batch,
        metavar="N",
        help="requests at a time (default: 32, less from 8192 bytes; 1 in the other formats)",
    )
    what.add_argument(
        "--provider",
        choices=("af_alg",),
        help="the kernel's drivers by AF_ALG, several requests under way: see --depth",
    )
    what.add_argument(
        "--depth", type=_numbers, metavar="N,N", help="with --provider: requests under way (default: 1,4,16,64)"
    )
    how = parser.add_argument_group("how long")
    how.add_argument("--sec", type=_seconds, metavar="S", help="seconds a measurement; 0: cycles, as tcrypt has it")
    how.add_argument("--full", action="store_true", help="all keys and sizes, 31 rounds; says first how long it takes")
    beside = parser.add_argument_group("beside")
    beside.add_argument("--compare", choices=PUBLISHED, help="published figures of that machine")
    beside.add_argument(
        "--from-icount",
        nargs="?",
        const="",
        metavar="FILE",
        help="estimates for that machine from instruction counts instead of measuring here "
        "(default: build/icount.json, else those shipped)",
    )
    beside.add_argument(
        "--compare-rivals", action="store_true", help="OpenSSL and intel-ipsec-mb, in whole ESP packets"
    )
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=FORMATS, default="table", help="(default: table)")
    output.add_argument("-J", "--json", nargs="?", const="-", metavar="FILE", help="as JSON, to stdout without FILE")


def run(arguments: argparse.Namespace) -> int:
    """Checks the combination of options, measures, prints."""
    from gateway.measure.faults import inject_from_environment, load_providers, out_of_selection
    from gateway.output.console import human
    from gateway.output.document import check_writable, write

    json_to = "-" if arguments.format == "json" and arguments.json is None else arguments.json
    if arguments.from_icount is not None and not arguments.compare:
        raise UnusableError("--from-icount estimates for a published machine", "add --compare wdr4900, for example")
    if arguments.compare_rivals and (arguments.compare or arguments.format in ("tcrypt", "cryptsetup")):
        raise UnusableError("--compare-rivals has a table of its own", "leave --compare and --format away")
    if arguments.depth and not arguments.provider:
        raise UnusableError("--depth is of the kernel's drivers", "add --provider af_alg")
    check_writable(json_to)
    console = human(json_to == "-")
    absent = load_providers()
    if arguments.provider:
        return _depth(arguments, absent, console, json_to)
    out = _concerned(arguments, inject_from_environment())
    if arguments.compare_rivals:
        lines, document = _rivals(arguments)
    elif arguments.from_icount is not None:
        lines, document = _estimate(arguments)
    else:
        lines, document = _measure(arguments)
    from gateway.output.plain import wrap

    notes = wrap(absent) if absent and arguments.from_icount is None else []
    for line in [*lines, *notes, *out_of_selection(out)]:
        console.print(line)
    if json_to is not None:
        write(
            json_to,
            {"schema": "gwbench-crypto/1", "command": sys.argv, "out_of_selection": out, "absent": absent, **document},
        )
    return EXIT_FAILED if out else EXIT_OK


def _depth(arguments: argparse.Namespace, absent: str, console: Console, json_to: str | None) -> int:
    """--provider af_alg: another table."""
    from gateway import environment
    from gateway.measure import depth
    from gateway.measure.faults import end_progress, progress
    from gateway.output import depth as output
    from gateway.output.document import write
    from gateway.words import words

    for line in absent.splitlines():
        if line.startswith("af_alg:"):
            raise UnusableError(line.removeprefix("af_alg: "), "modprobe af_alg algif_skcipher algif_aead algif_hash")
    depths = arguments.depth or depth.DEPTHS
    if max(depths) > 256 or min(depths) < 1:
        raise UnusableError("--depth is between 1 and 256")
    sizes = arguments.bytes or depth.SIZES
    if max(sizes) > 65536:
        raise UnusableError("AF_ALG takes requests of at most 65536 bytes", "--bytes 65536")
    names = () if arguments.impl == "all" else words(arguments.impl, "implementation", "all, or driver names")
    chosen = depth.drivers(_algorithms(arguments), names)
    slice_ns = round(arguments.sec * 1e9) if arguments.sec else depth.SLICE_NS
    try:
        report = depth.run(chosen, sizes, depths, depth.ROUNDS, slice_ns, progress())
    finally:
        end_progress()
    for line in output.render(report):
        console.print(line)
    if json_to is not None:
        document = {"schema": "gwbench-af_alg/1", "command": sys.argv, "environment": environment.record()}
        write(json_to, {**document, **output.as_dict(report)})
    return EXIT_FAILED if report.trouble else EXIT_OK


def _concerned(arguments: argparse.Namespace, out: list[str]) -> list[str]:
    """Of the implementations that are out of selection those of the algorithms that were asked for."""
    import dataplane

    algorithms = _algorithms(arguments)
    return [driver for driver in out if not algorithms or dataplane.find_impl(driver).alg in algorithms]


def _algorithms(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Empty: all."""
    from gateway.words import words

    return words(arguments.algo, "algorithm", "'gcm(aes)', for example") if arguments.algo else ()


def _options(arguments: argparse.Namespace) -> Options:
    from gateway.measure import crypto
    from gateway.words import words

    single = arguments.format in ("tcrypt", "cryptsetup") or arguments.compare
    sizes = arguments.bytes
    if not sizes and arguments.format == "tcrypt" and not arguments.compare:
        sizes = crypto.TCRYPT_SIZES
    algorithms = _algorithms(arguments)
    if arguments.format == "cryptsetup":
        sizes = (crypto.CRYPTSETUP_SIZE,)
        algorithms = algorithms or ("cbc(aes)", "xts(aes)")
    wanted = words(arguments.impl, "implementation", "all, a tag, or driver names")
    slice_s, rounds = crypto.SLICE_S, 0
    limit: float | None = crypto.DEFAULT_BUDGET_S
    if arguments.full:
        slice_s, rounds, limit = 0.001, 31, None
    if arguments.sec:
        slice_s, rounds, limit = float(arguments.sec), 1, None
    return crypto.Options(
        algorithms=algorithms,
        implementations=() if "all" in wanted else wanted,
        key_bits=arguments.key_bits,
        sizes=sizes,
        batch=arguments.batch or (1 if single else 0),
        round_up=arguments.format == "tcrypt",
        rounds=rounds,
        slice_s=slice_s,
        budget_s=limit,
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _measure(arguments: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from gateway.environment import record
    from gateway.measure import crypto, crypto_compare, published, verify
    from gateway.measure.faults import end_progress, progress
    from gateway.output import comparison
    from gateway.output import crypto as output
    from gateway.output.plain import wrap

    if arguments.sec == 0 and not crypto.has_cycle_counter():
        raise UnusableError("user space can read no cycle counter on this processor", "--sec 1 counts operations")
    options = _options(arguments)
    table = published.load(arguments.compare) if arguments.compare else None
    rows_wanted = crypto_compare.wanted(table, options) if table else []
    plan = crypto.plan(options) if not table else crypto.Plan(crypto_compare.cells(rows_wanted, options))
    if arguments.format == "cryptsetup":
        plan.cells = [c for c in plan.cells if c.op != "hash" and c.key_bits not in (192, 384)]
    rounds = plan.rounds(options)
    _say(f"{len(plan.cells)} measurements in {rounds} interleaved rounds, about {plan.seconds(options, rounds):.1f} s")
    before = record()
    unfit = verify.wrong(plan.cells)
    cells = [cell for cell in plan.cells if cell not in unfit]
    samples, trouble = crypto.measure(cells, options, rounds, progress())
    trouble = [*dict.fromkeys(unfit.values()), *trouble]
    end_progress()
    rows = crypto.evaluate(samples)
    crossed = crypto.crossovers(rows)
    lines = _lines(arguments, rows)
    document: dict[str, Any] = {
        "rounds": rounds,
        "environment": record(before),
        "rows": [row.as_dict() for row in rows],
        "crossovers": [c.as_dict() for c in crossed],
        "skipped": plan.skipped,
        "missing": plan.missing,
        "trouble": trouble,
    }
    if table:
        pairs = crypto_compare.measured(rows_wanted, rows)
        document["comparison"] = {"name": table.name, "estimate": False, "rows": [p.as_dict() for p in pairs]}
        lines = [*(lines if arguments.format != "table" else []), *comparison.render(table, pairs, "")]
    if arguments.format in ("table", "json") and not table:
        lines += output.crossover_lines(crossed)
        lines += output.constant_time_lines(rows)
        if plan.skipped:
            lines += wrap(f"Skipped for time: {', '.join(plan.skipped)}. --full measures all.")
        lines += [line for text in plan.missing for line in wrap(f"Not measured: {text}")]
    mark = "" if arguments.format in ("table", "json") else "# "
    lines += [mark + line.strip() for text in trouble for line in wrap(f"Not measured: {text}")]
    return lines, document


def _lines(arguments: argparse.Namespace, rows: list[Row]) -> list[str]:
    from gateway.output import crypto as output

    if arguments.format == "tcrypt":
        return output.tcrypt(rows, arguments.sec)
    if arguments.format == "cryptsetup":
        return output.cryptsetup(rows)
    return output.table(rows)


def _estimate(arguments: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from gateway.measure import crypto_compare, icount, published
    from gateway.output import comparison

    table = published.load(arguments.compare)
    counts = icount.load(arguments.from_icount)
    rows = crypto_compare.wanted(table, _options(arguments))
    pairs = crypto_compare.estimated(table, rows, counts)
    if arguments.from_icount == "" and not any(pair.implementation for pair in pairs):
        # What was built here counted other targets, or is older than the implementations.
        counts = icount.load()
        pairs = crypto_compare.estimated(table, rows, counts)
    document = {
        "comparison": {
            "name": table.name,
            "estimate": True,
            "source": counts.source,
            "rows": [pair.as_dict() for pair in pairs],
        }
    }
    return comparison.render(table, pairs, counts.source), document


def _rivals(arguments: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from gateway.environment import record
    from gateway.measure import rivals
    from gateway.measure.faults import end_progress, progress
    from gateway.output import comparison
    from gateway.selection import select

    selection = select()
    taking_part = rivals.sides()
    absent = rivals.absent()
    rounds, slice_s = (101, 0.002) if arguments.full else (41, 0.0005)
    if taking_part:
        expected_s = len(taking_part) * rounds * (slice_s + 0.001)
        _say(f"{len(taking_part)} measurements in {rounds} rounds, about {expected_s:.0f} s")
    before = record()
    rows = rivals.measure(taking_part, rounds, slice_s, progress())
    end_progress()
    document = {
        "batch": rivals.BATCH,
        "rounds": rounds,
        "environment": record(before),
        "selection": {"source": selection.source, "preferred": selection.preferred},
        "rows": [row.as_dict() for row in rows],
        "missing": absent,
    }
    return comparison.rivals(rows, absent), document
