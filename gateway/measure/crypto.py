"""Implementations side by side, in memory: which cells are measured, in interleaved rounds, within a time limit.

A cell is one implementation, direction, key size and request size. All cells take turns in every round, so that a
machine that drifts drifts for all; ratios are taken within a round.
"""

from __future__ import annotations

import itertools
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import dataplane
from gateway.errors import UnusableError
from gateway.stats import Summary, median_ratio

SIZES = (16, 64, 256, 1024, 1408, 4096, 8192)
TCRYPT_SIZES = (16, 64, 128, 256, 1024, 1420, 4096)
CRYPTSETUP_SIZE = 1 << 20
SHORT_SIZES = (64, 1408, 8192)
"""Without --algo: a page or two instead of ten."""
BATCH, BATCH_BYTES = 32, 1 << 17
"""As a data path has them: 32 packets, and no more bytes than fit its caches."""
DEFAULT_BUDGET_S = 11.0
"""What the measuring proper may take without options: start, making keys and printing come on top."""
SLICE_S = 0.0003
"""Shorter than a scheduler's turn: a slice is whole or it is an outlier, and the median of many rounds drops those."""
OVERHEAD_S = 0.0006
"""A cell's allocation, keys and first run."""
ROUNDS = (5, 15)
"""Fewest and most; as many as the time allows."""
OWN = "/gwbench"
KERNEL = "/kernel"

KEY_BITS = {
    "aes": (128, 192, 256),
    "xts(aes)": (256, 384, 512),
    "rfc7539(chacha20,poly1305)": (256,),
    "xts(speck64)": (256,),
    "xts(speck128)": (512,),
    "hmac": (256,),
}
BLOCK_BYTES = {"ecb(aes)": 16, "cbc(aes)": 16}
TCRYPT_BLOCK_BYTES = {**BLOCK_BYTES, "xts(aes)": 16, "xts(speck64)": 8, "xts(speck128)": 16}


def key_bits_of(impl: dataplane.Impl) -> tuple[int, ...]:
    """Key sizes that are measured; 0 for a plain hash."""
    if impl.kind == "hash":
        return (0,)
    if impl.kind == "mac":
        return KEY_BITS["hmac"]
    return KEY_BITS.get(impl.alg, KEY_BITS["aes"])


def ops_of(impl: dataplane.Impl) -> tuple[str, ...]:
    """Directions, as ``--json`` names them."""
    if impl.kind in ("hash", "mac"):
        return ("hash",)
    return ("seal", "open") if impl.kind == "aead" else ("encrypt", "decrypt")


def fits(impl: dataplane.Impl, size: int) -> bool:
    """Can a request have this size? tcrypt's 1420 is no whole number of blocks."""
    return size % BLOCK_BYTES.get(impl.alg, 1) == 0 and (not impl.alg.startswith("xts") or size >= 16)


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing to measure."""

    algorithm: str
    driver: str
    tag: str
    op: str
    key_bits: int
    bytes: int
    batch: int

    @property
    def place(self) -> tuple[str, str, int, int, int]:
        """What cells of other implementations share with it."""
        return self.algorithm, self.op, self.key_bits, self.bytes, self.batch


def rounded_up(cells: Sequence[Cell]) -> list[Cell]:
    """As tcrypt does: to whole blocks, so that its 1420 bytes are 1424 for block modes."""
    return list(
        dict.fromkeys(replace(c, bytes=c.bytes + -c.bytes % TCRYPT_BLOCK_BYTES.get(c.algorithm, 1)) for c in cells)
    )


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asked for; empty means all, or what fits the time."""

    algorithms: tuple[str, ...] = ()
    implementations: tuple[str, ...] = ()
    """Tags or driver names."""
    key_bits: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    batch: int = 0
    """0: :data:`BATCH`, less for long requests."""
    round_up: bool = False
    """Sizes that are no whole number of blocks are made so instead of left out."""
    rounds: int = 0
    """0: as many as fit the budget."""
    slice_s: float = SLICE_S
    budget_s: float | None = DEFAULT_BUDGET_S
    """None: no limit."""


@dataclass(slots=True)
class Plan:
    """Cells in the order of a round, and what was left out."""

    cells: list[Cell]
    skipped: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Implementations that are compiled in and cannot run or may not be selected."""

    def rounds(self, options: Options) -> int:
        """How often every cell is measured."""
        if options.rounds:
            return options.rounds
        if options.budget_s is None:
            return ROUNDS[1]
        fitting = options.budget_s / max(self.seconds(options, 1), 1e-9)
        return round(min(max(fitting, ROUNDS[0]), ROUNDS[1]))

    def seconds(self, options: Options, rounds: int) -> float:
        """Expected duration."""
        return len(self.cells) * rounds * (options.slice_s + OVERHEAD_S)


def chosen(options: Options) -> tuple[list[dataplane.Impl], list[str]]:
    """(implementations to measure, lines about those that are not). UnusableError for unknown names."""
    everything = [i for i in dataplane.implementations() if i.kind != "authenc"]
    algorithms = dict.fromkeys(i.alg for i in everything)
    for name in options.algorithms:
        if name not in algorithms:
            raise UnusableError(f"no algorithm is called '{name}'", f"there are: {', '.join(algorithms)}")
    wanted = [i for i in everything if not options.algorithms or i.alg in options.algorithms]
    for name in options.implementations:
        if not any(name in (i.tag, i.driver, i.driver.removesuffix(OWN)) for i in everything):
            tags = ", ".join(dict.fromkeys(i.tag for i in wanted))
            raise UnusableError(f"no implementation is called '{name}'", f"there are: all, {tags}, and driver names")
    if options.implementations:
        names = options.implementations
        wanted = [i for i in wanted if i.tag in names or i.driver in names or i.driver.removesuffix(OWN) in names]
        if not wanted:
            raise UnusableError(f"{', '.join(names)}: not for {', '.join(options.algorithms)}")
    missing = [f"{i.driver}: this CPU lacks {i.isa}" for i in wanted if not i.runnable]
    usable = [i for i in wanted if i.runnable and i.checked != "failed"]
    if not usable:
        raise UnusableError("no implementation is left to measure", "; ".join(missing))
    return usable, missing


def batch_of(options: Options, size: int) -> int:
    """Requests at a time."""
    return options.batch or max(1, min(BATCH, BATCH_BYTES // size))


def plan(options: Options) -> Plan:
    """Everything, then less and less until it fits the budget; says what it left out."""
    impls, missing = chosen(options)
    keys = options.key_bits or tuple(sorted({k for i in impls for k in key_bits_of(i)}))
    for bits in options.key_bits:
        if not any(bits in key_bits_of(i) for i in impls):
            known = ", ".join(str(k) for k in sorted({k for i in impls for k in key_bits_of(i)} - {0}))
            raise UnusableError(f"no algorithm that was asked for has keys of {bits} bits", f"there are: {known}")
    sizes = options.sizes or SIZES

    def build(dropped_keys: Iterable[int], kept_sizes: Sequence[int]) -> Plan:
        cells = [
            Cell(i.alg, i.driver, i.tag, op, bits, size, batch_of(options, size))
            for i in impls
            for bits in key_bits_of(i)
            if bits == 0 or (bits in keys and bits not in dropped_keys) or len(key_bits_of(i)) == 1
            for op in ops_of(i)
            for size in kept_sizes
            if fits(i, size) or options.round_up
        ]
        return Plan(_interleaved(rounded_up(cells) if options.round_up else cells), missing=missing)

    middle = () if options.key_bits else (192, 384)
    if not options.algorithms and not options.sizes and options.budget_s is not None:
        sizes, middle_now = SHORT_SIZES, middle
    else:
        middle_now = ()
    full = build(middle_now, sizes)
    if not full.cells:
        raise UnusableError("nothing that was asked for has requests of these sizes and keys")
    fewest = options.rounds or ROUNDS[0]
    trims: list[tuple[tuple[int, ...], Sequence[int]]] = [(middle_now, sizes), (middle, sizes)]
    if not options.sizes:
        trims += [(middle, SHORT_SIZES), (middle, (1408,))]
    for dropped, kept in trims:
        result = full if (dropped, kept) == trims[0] else build(dropped, kept)
        result.skipped = [f"keys of {b} bits" for b in dropped if b in keys]
        result.skipped += [f"{s}-byte requests" for s in options.sizes or SIZES if s not in kept]
        if options.budget_s is None or result.seconds(options, fewest) <= options.budget_s:
            break
    return result


def _interleaved(cells: list[Cell]) -> list[Cell]:
    """Rivals for one place next to each other: what the machine does meanwhile, it does to both."""
    order = {place: n for n, place in enumerate(dict.fromkeys(c.place for c in cells))}
    return sorted(cells, key=lambda c: order[c.place])


Samples = dict[Cell, dict[int, dataplane.BenchSample]]
Bench = Callable[[Cell, int], dataplane.BenchSample]


def bench(cell: Cell, min_ns: int) -> dataplane.BenchSample:
    """One measurement."""
    return dataplane.bench_impl(
        cell.driver,
        opening=cell.op in ("decrypt", "open"),
        key_len=cell.key_bits // 8,
        bytes_=cell.bytes,
        batch=cell.batch,
        min_ns=min_ns,
    )


def measure(
    cells: Sequence[Cell],
    options: Options,
    rounds: int,
    progress: Callable[[str], None] = lambda _: None,
    run: Bench = bench,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Samples, list[str]]:
    """Every cell once a round: (samples by cell and round, what could not be measured). The first round is always
    completed; later ones stop at the budget."""
    samples: Samples = {cell: {} for cell in cells}
    trouble: dict[str, None] = {}
    limit = None if options.budget_s is None else clock() + options.budget_s * 1.15
    min_ns = round(options.slice_s * 1e9)
    for number, (at, cell) in itertools.product(range(rounds), enumerate(cells)):
        if number and limit is not None and clock() > limit:
            trouble[f"the time limit came in round {number + 1} of {rounds}"] = None
            break
        progress(f"round {number + 1}/{rounds}, {at + 1}/{len(cells)}: {cell.driver} {cell.op} {cell.bytes}")
        try:
            samples[cell][number] = run(cell, min_ns)
        except dataplane.DataplaneError as error:
            trouble[f"{cell.driver}: {error.message}"] = None
    return {cell: taken for cell, taken in samples.items() if taken}, list(trouble)


@dataclass(frozen=True, slots=True)
class Row:
    """A cell's result."""

    cell: Cell
    mb_per_s: Summary
    """10^6 bytes a second."""
    cycles_per_byte: Summary | None
    """None where user space can read no cycle counter."""
    ratio: float | None
    """Speed over generic's, the median of the ratios within each round."""
    ops: int
    ns: float

    @property
    def spread(self) -> float:
        """Distance of the quartiles, of the median: what the middle half of the rounds differ by."""
        if len(self.mb_per_s.samples) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.mb_per_s.samples, n=4, method="inclusive")
        return (high - low) / self.mb_per_s.median

    def as_dict(self) -> dict[str, object]:
        c = self.cell
        return {
            "algorithm": c.algorithm,
            "implementation": c.driver,
            "tag": c.tag,
            "op": c.op,
            "key_bits": c.key_bits,
            "bytes": c.bytes,
            "batch": c.batch,
            "mb_per_s": self.mb_per_s.as_dict(),
            "cycles_per_byte": self.cycles_per_byte.as_dict() if self.cycles_per_byte else None,
            "ratio_to_generic": self.ratio,
            "includes_system_calls": c.driver.endswith(KERNEL),
        }


def has_cycle_counter() -> bool:
    """x86's time stamp counter ticks at the nominal clock; elsewhere user space sees slower clocks only."""
    return platform.machine() in ("x86_64", "i386", "i586", "i686", "AMD64")


def evaluate(samples: Samples) -> list[Row]:
    """Rows in the order of the cells."""
    generic: dict[tuple[str, str, int, int, int], Mapping[int, dataplane.BenchSample]] = {
        cell.place: taken for cell, taken in samples.items() if cell.tag == "generic"
    }
    counted = has_cycle_counter()
    rows = []
    for cell, taken in samples.items():
        speeds = {r: s.bytes / s.ns * 1e3 for r, s in taken.items()}
        base = {r: s.bytes / s.ns * 1e3 for r, s in generic.get(cell.place, {}).items()}
        cycles = tuple(s.cycles / s.bytes for s in taken.values() if s.cycles)
        rows.append(
            Row(
                cell,
                Summary(tuple(speeds.values())),
                Summary(cycles) if cycles and counted else None,
                median_ratio(speeds, base),
                sum(s.ops for s in taken.values()),
                sum(s.ns for s in taken.values()),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where another implementation becomes the fastest."""

    algorithm: str
    op: str
    key_bits: int
    upto_bytes: int
    first: str
    from_bytes: int
    then: str

    def as_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


MARGIN = 1.05
"""A lead below five per cent is noise."""


def crossovers(rows: Sequence[Row]) -> list[Crossover]:
    """For each algorithm, direction and key size, the sizes between which the fastest implementation changes."""
    groups: dict[tuple[str, str, int], dict[int, list[Row]]] = {}
    for row in rows:
        c = row.cell
        groups.setdefault((c.algorithm, c.op, c.key_bits), {}).setdefault(c.bytes, []).append(row)
    found = []
    for (algorithm, op, bits), sizes in groups.items():
        leader, last = "", 0
        for size in sorted(sizes):
            best = max(sizes[size], key=lambda r: r.mb_per_s.median)
            mine = next((r for r in sizes[size] if r.cell.driver == leader), None)
            if mine is not None and best.mb_per_s.median < mine.mb_per_s.median * MARGIN:
                best = mine
            if leader and best.cell.driver != leader:
                found.append(Crossover(algorithm, op, bits, last, leader, size, best.cell.driver))
            leader, last = best.cell.driver, size
    return found
