"""Published figures beside ours, row by row, in 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from gateway.measure.crypto_compare import Pair
from gateway.measure.published import Table
from gateway.measure.rivals import BATCH
from gateway.measure.rivals import Row as RivalRow
from gateway.output.plain import COLUMNS, short, table, wrap

MODES = ("ecb_enc", "ecb_dec", "cbc_enc", "cbc_dec", "ctr_enc", "ctr_dec", "xts_enc", "xts_dec")


BASELINES = (
    "The baselines differ: published, the kernel's aes-generic, by the gcc of 2015; ours, our generic C, by clang -O2 "
    "where estimated. A compiler alone moves such ratios by a quarter."
)


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def render(published: Table, pairs: Sequence[Pair], estimate: str) -> list[str]:
    """``estimate``: where counts come from; empty when ours was measured here."""
    lines = textwrap.wrap(f"Published: {published.cpu}, {published.year}", COLUMNS)
    lines += wrap(f"{published.source}; {published.summary}")
    if estimate:
        lines += wrap(
            f"Ours: ESTIMATE for that processor, from {estimate} (one request at a time) and cycles per instruction "
            "of each class of code. Not measured on it."
        )
    else:
        lines += wrap("Ours: measured on this machine, which is another one: compare ratios, not MB/s.")
    lines.append("")
    if published.name == "wdr4900":
        return lines + _speedups(pairs, estimate) + _means(pairs) + wrap(BASELINES)
    if published.name in ("rpi3", "hikey960"):
        return lines + _order(pairs, estimate)
    lines += _rows(pairs, estimate, published.name)
    return lines + ([] if published.name == "sm8650" else _means(pairs)) + _notes(published, pairs, estimate)


def _speedups(pairs: Sequence[Pair], estimate: str) -> list[str]:
    """The table of 15 rows and 8 columns, each row twice."""
    word = "est." if estimate else "ours"
    lines = [
        "speed-up over generic C, published and ours",
        f"key bytes {'':6}" + "".join(f"{c.replace('_', ' '):>8}" for c in MODES),
    ]
    rows: dict[tuple[int, int], dict[str, Pair]] = {}
    for pair in pairs:
        bits = pair.row.key_bits // (2 if pair.row.label.startswith("xts") else 1)
        rows.setdefault((bits, pair.row.bytes), {})[pair.row.label] = pair
    for (bits, size), cells in rows.items():
        for name, which in (("publ.", "row"), (word, "pair")):
            values = [(cells[c].row.ratio if which == "row" else cells[c].ratio) if c in cells else None for c in MODES]
            head = f"{bits:3} {size:5}" if which == "row" else " " * 9
            lines.append(f"{head} {name:6}" + "".join(f"{_number(v):>8}" for v in values))
    return lines


def _means(pairs: Sequence[Pair]) -> list[str]:
    """In one line: how far ours is from what was published."""
    both = [(p.row.ratio, p.ratio) for p in pairs if p.row.ratio and p.ratio]
    if not both:
        return []
    ahead = sum(ours > theirs for theirs, ours in both)
    drivers = ", ".join(dict.fromkeys(short(p.implementation) for p in pairs if p.implementation))
    return ["", f"ours gains more in {ahead} of {len(both)} rows", *wrap(f"with {drivers}")]


def _rows(pairs: Sequence[Pair], estimate: str, name: str) -> list[str]:
    """Absolute figures and ratios."""
    unit = 1.0
    speed = "MB/s"
    if name == "sm8650":
        unit, speed = 1e6 / (1 << 20), "MiB/s"
    head = ["algorithm", "op", "key", "bytes", f"pub {speed}", "pub x"]
    head += ["est c/B", "est x"] if estimate else [f"our {speed}", "our x"]
    body = []
    for pair in pairs:
        r = pair.row
        ours = pair.cycles_per_byte if estimate else pair.mb_per_s and pair.mb_per_s * unit
        body.append(
            [
                r.algorithm,
                r.op,
                str(r.key_bits),
                str(r.bytes),
                _number(r.mb_per_s and r.mb_per_s * unit, 1),
                _number(r.ratio),
                _number(ours, 1),
                _number(pair.ratio),
            ]
        )
    return table(head, body, left=2)


def _order(pairs: Sequence[Pair], estimate: str) -> list[str]:
    """Fastest first, as published; ours in the same lines, with its own place."""
    lines = []
    for op in dict.fromkeys(p.row.op for p in pairs):
        some = sorted((p for p in pairs if p.row.op == op), key=lambda p: -(p.row.mb_per_s or 0))
        costs = {id(p): _cost(p, estimate) for p in some}
        whole = all(p.cycles_per_byte is not None for p in some if p.implementation)
        if estimate and not whole:  # cycles and instructions do not compare: then instructions for all
            costs = {id(p): p.insns_per_byte for p in some}
        known = sorted(cost for cost in costs.values() if cost is not None)
        head = [
            op,
            "pub MB/s",
            "pub x",
            *(["insns/B", "est c/B"] if estimate else ["our MB/s"]),
            "our x",
            "place",
            "with",
        ]
        body = []
        for number, pair in enumerate(some, 1):
            cost = costs[id(pair)]
            place = "-" if cost is None else str(known.index(cost) + 1)
            ours = (
                [_number(pair.insns_per_byte, 1), _number(pair.cycles_per_byte, 1)]
                if estimate
                else [_number(pair.mb_per_s, 0)]
            )
            body.append(
                [
                    _label(pair.row.label),
                    _number(pair.row.mb_per_s, 1),
                    _number(pair.row.ratio),
                    *ours,
                    _number(pair.ratio),
                    f"{number}/{place}",
                    short(pair.implementation).rpartition("-")[2] or "none",
                ]
            )
        lines += [*table(head, body), ""]
        if estimate and not whole:
            lines += wrap("place by instructions: no cycles per instruction are published for some of these classes")
    return [*lines, "place: published/ours. x: over generic C of the same cipher."]


def _label(label: str) -> str:
    for long, brief in (("Crypto Extensions", "CE"), ("bit-sliced", "bs"), ("-XTS", ""), ("(", ""), (")", "")):
        label = label.replace(long, brief)
    return label


def _cost(pair: Pair, estimate: str) -> float | None:
    if estimate:
        return pair.cycles_per_byte
    return None if pair.mb_per_s is None else 1 / pair.mb_per_s


BEAGLEBONE_SCALAR_XTS = (39.8, 0.59)
"""Scalar assembly AES-128-XTS: instructions per byte of today's best, cycles per instruction of its class on an A8."""


def _notes(published: Table, pairs: Sequence[Pair], estimate: str) -> list[str]:
    if published.name != "beaglebone" or not estimate:
        return []
    lines = wrap(
        "published baselines: xts(ecb(aes-arm)) is scalar assembly, gcm's is generic C. Ours is generic C for both."
    )
    mine = next((p for p in pairs if (p.row.algorithm, p.row.key_bits, p.row.bytes) == ("xts(aes)", 256, 8192)), None)
    if mine and mine.cycles_per_byte:
        insns, cost = BEAGLEBONE_SCALAR_XTS
        lines += wrap(
            f"Over scalar assembly ({insns} instructions/byte, {insns * cost:.1f} cycles/byte) the estimate for "
            f"AES-128-XTS of 8192 bytes is {insns * cost / mine.cycles_per_byte:.2f}x."
        )
    return lines


def rivals(rows: Sequence[RivalRow], absent: Sequence[str]) -> list[str]:
    """Ratios above 1: ours is faster."""
    lines = [f"batches of {BATCH}, one core; x: ours over the rival, above 1 where ours is faster"]
    head = ["", "op", "bytes", "rival", "x", "Gbit/s", "rival's"]
    called = {r.contest: r.contest.name.replace("rfc7539(chacha20,poly1305)", "chacha20-poly1305") for r in rows}
    body = [
        [
            called[r.contest],
            r.contest.op,
            str(r.contest.bytes),
            r.rival,
            f"{r.ratio:.2f}",
            f"{r.ours_gbit_per_s.median:.2f}",
            f"{r.rival_gbit_per_s.median:.2f}",
        ]
        for r in rows
    ]
    lines += table(head, body, left=2) if body else []
    for name, implementation in dict.fromkeys((called[r.contest], short(r.implementation)) for r in rows):
        lines += wrap(f"{name}: {implementation}")
    return [*lines, *absent]
