"""A crude two-issue model of the e500v2: estimated cycles of code that was profiled block by block under qemu.

Facts from the PowerPC e500 Core Family Reference Manual (chapter 4): two instructions a cycle are dispatched into a
four-entry issue queue (GIQ) and a 14-entry completion queue (CQ), and two a cycle complete, in order. GIQ0 issues to
SU1, MU or LSU, GIQ1 to SU2, MU or LSU; each unit has one reservation station, so units start in order but overtake one
another. SU2 knows no vector operation: a vector operation in GIQ1 waits until it has moved to GIQ0. Latencies: simple
1, load 3 (one a cycle), multiply 4; one store completes a cycle; lwzu and its kin take two rename registers.

What it leaves out: caches, misaligned accesses (a load across 8 bytes takes 3 cycles), fetch and mispredicted
branches. A 32-bit load into the low half of a register is taken not to wait for the upper half. Each profiled block is
simulated on its own, following itself. The result is an *estimate*, good for choosing between two ways to do one thing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SIMPLE, VECTOR, MULTI, LOAD, STORE, BRANCH = "simple", "vector", "multi", "load", "store", "branch"
LATENCY = {SIMPLE: 1, VECTOR: 1, MULTI: 4, LOAD: 3, STORE: 1, BRANCH: 1}
GIQ_ENTRIES, CQ_ENTRIES, WIDTH, BIQ_ENTRIES = 4, 14, 2, 2

# Resources besides the 32 registers
CR, CTR, LR, CA = 32, 33, 34, 35


@dataclass(frozen=True)
class Insn:
    """What the model needs to know of an instruction; ``busy``: cycles that it keeps its unit."""

    kind: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    latency: int = 1
    busy: int = 1
    renames: int = 1


def _insn(kind: str, reads: Iterable[int] = (), writes: Iterable[int] = (), busy: int = 1) -> Insn:
    targets = tuple(writes)
    renames = sum(1 for t in targets if t < 32)
    return Insn(kind, tuple(reads), targets, max(LATENCY[kind], busy), busy, renames)


# ---- decoding: enough of Book E for compiled C and our assembly ------------------------------------------------------

_CARRY_IN = {136, 138, 200, 202, 232, 234}
_CARRY_OUT = {8, 10, 136, 138, 200, 202, 232, 234}
_ARITHMETIC = {8, 10, 11, 40, 75, 104, 136, 138, 200, 202, 232, 234, 235, 266, 459, 491}
_ONE_SOURCE = {104, 200, 202, 232, 234}
_MULTIPLY, _DIVIDE = {11, 75, 235}, {459, 491}
_LOGICAL = {24, 28, 60, 124, 284, 316, 412, 444, 476, 536, 792}
_UNARY = {26, 824, 922, 954}
_LOADS_X = {20, 23, 55, 87, 119, 279, 311, 343, 375, 534, 790}
_STORES_X = {150, 151, 183, 215, 247, 407, 439, 662, 918}
_UPDATE_X = {55, 119, 183, 247, 311, 375, 439}
_CACHE = {54, 86, 246, 278, 470, 598, 758, 854, 982, 1014}
_DIVIDE_CYCLES = 14


def _base(register: int) -> list[int]:
    return [register] if register else []


def _spe(d: int, a: int, b: int, xo: int) -> Insn:
    if 0x300 <= xo < 0x340:
        address = _base(a) + ([b] if xo % 2 == 0 else [])
        return _insn(LOAD, address, [d]) if xo < 0x320 else _insn(STORE, [*address, d])
    if xo >= 0x400:
        return _insn(MULTI, [a, b], [d])
    if 0x230 <= xo <= 0x234:
        return _insn(VECTOR, [a, b], [CR])
    if xo in (0x222, 0x223, 0x226, 0x22A):  # shifts and rotations by a constant
        return _insn(VECTOR, [a], [d])
    if xo in (0x229, 0x22B):  # splat of a constant
        return _insn(VECTOR, [], [d])
    if xo in (0x202, 0x206):
        return _insn(VECTOR, [b], [d])
    if 0x278 <= xo < 0x280:
        return _insn(VECTOR, [a, b, CR], [d])
    return _insn(SIMPLE if xo == 0x20F else VECTOR, [a, b], [d])


def _extended(word: int, d: int, a: int, b: int) -> Insn:
    xo, record = word >> 1 & 0x3FF, [CR] if word & 1 else []
    if xo & 0x1F == 15:  # isel
        return _insn(SIMPLE, [*_base(a), b, CR], [d])
    if xo in _LOADS_X:
        return _insn(LOAD, [*_base(a), b], [d, a] if xo in _UPDATE_X else [d])
    if xo in _STORES_X:
        return _insn(STORE, [*_base(a), b, d], [a] if xo in _UPDATE_X else [])
    if xo in _CACHE:
        return _insn(LOAD, [*_base(a), b])
    if xo & 0x1FF in _ARITHMETIC:
        xo &= 0x1FF
        kind = MULTI if xo in _MULTIPLY | _DIVIDE else SIMPLE
        reads = [a] if xo in _ONE_SOURCE else [a, b]
        return _insn(
            kind,
            reads + ([CA] if xo in _CARRY_IN else []),
            [d, *record] + ([CA] if xo in _CARRY_OUT else []),
            _DIVIDE_CYCLES if xo in _DIVIDE else 1,
        )
    if xo in _LOGICAL:
        return _insn(SIMPLE, [d, b], [a, *record])
    if xo in _UNARY:
        return _insn(SIMPLE, [d], [a, *record] + ([CA] if xo == 824 else []))
    if xo in (0, 32):
        return _insn(SIMPLE, [a, b], [CR])
    if xo in (467, 339):
        special = {8: LR, 9: CTR, 1: CA}.get(a, CR)
        return _insn(SIMPLE, [d], [special]) if xo == 467 else _insn(SIMPLE, [special], [d])
    if xo in (19, 144):
        return _insn(VECTOR, [CR], [d]) if xo == 19 else _insn(VECTOR, [d], [CR])  # SU1 only, as vector operations
    return _insn(SIMPLE, [a, b], [d])


def _displacement(op: int, d: int, a: int) -> Insn:
    """Opcodes 32 to 47: loads and stores with a displacement."""
    if op in (46, 47):
        n = 32 - d
        return _insn(LOAD, _base(a), range(d, 32), n) if op == 46 else _insn(STORE, [*_base(a), *range(d, 32)], [], n)
    update = [a] if op & 1 else []
    if op in (36, 37, 38, 39, 44, 45):
        return _insn(STORE, [*_base(a), d], update)
    return _insn(LOAD, _base(a), [d, *update])


@cache
def decode(word: int) -> Insn:
    op, d, a, b = word >> 26, word >> 21 & 31, word >> 16 & 31, word >> 11 & 31
    record = [CR] if word & 1 else []
    if op == 4:
        return _spe(d, a, b, word & 0x7FF)
    if op == 31:
        return _extended(word, d, a, b)
    if 32 <= op <= 47:
        return _displacement(op, d, a)
    if op in (14, 15):
        return _insn(SIMPLE, _base(a), [d])
    if op in (8, 12, 13):
        return _insn(SIMPLE, [a], [d, CA] + ([CR] if op == 13 else []))
    if op in (10, 11):
        return _insn(SIMPLE, [a], [CR])
    if op == 7:
        return _insn(MULTI, [a], [d])
    if op == 20:
        return _insn(SIMPLE, [d, a], [a, *record])
    if op in (21, 23):
        return _insn(SIMPLE, [d] if op == 21 else [d, b], [a, *record])
    if 24 <= op <= 29:
        return _insn(SIMPLE, [d], [a] + ([CR] if op > 27 else []))
    if op in (16, 18, 19):
        counts = op == 16 and not d & 4
        reads = [CTR] if counts else []
        if op == 19:
            reads = [CTR if word >> 1 & 0x3FF == 528 else LR]
        return _insn(BRANCH, reads + ([] if d & 16 else [CR]), ([CTR] if counts else []) + ([LR] if word & 1 else []))
    return _insn(SIMPLE, [a], [d])


# ---- simulation ------------------------------------------------------------------------------------------------------


class _Slot:
    """A dispatched instruction. ``sources``: slots whose results it needs."""

    __slots__ = ("finished", "insn", "sources")

    def __init__(self, insn: Insn, sources: list[_Slot]) -> None:
        self.insn, self.sources = insn, sources
        self.finished = 1 << 60

    def ready(self, cycle: int) -> bool:
        return all(s.finished <= cycle for s in self.sources)


def _unit(kind: str, entry: int) -> str | None:
    """The unit to which entry 0 or 1 of the issue queue may send an instruction."""
    if kind in (LOAD, STORE):
        return "LSU"
    if kind == MULTI:
        return "MU"
    if entry == 0:
        return "SU1"
    return "SU2" if kind == SIMPLE else None


class Core:
    """Runs a straight sequence of instructions; ``cycles(seq)`` is what they take from the first to the last."""

    def __init__(self) -> None:
        self.cq: list[_Slot] = []
        self.giq: list[_Slot] = []
        self.biq: list[_Slot] = []
        self.station: dict[str, _Slot] = {}
        self.free_at = {"SU1": 0, "SU2": 0, "MU": 0, "LSU": 0, "BU": 0}
        self.last: dict[int, _Slot] = {}

    def _execute(self, cycle: int) -> None:
        for unit, slot in list(self.station.items()):
            if self.free_at[unit] <= cycle and slot.ready(cycle):
                slot.finished = cycle + slot.insn.latency
                self.free_at[unit] = cycle + slot.insn.busy
                slot.sources = []
                del self.station[unit]

    def _complete(self, cycle: int) -> None:
        stores = renames = 0
        for _ in range(WIDTH):
            if not self.cq or self.cq[0].finished > cycle:
                return
            stores += self.cq[0].insn.kind == STORE
            renames += min(self.cq[0].insn.renames, WIDTH)
            if stores > 1 or renames > WIDTH:
                return
            self.cq.pop(0)

    def _issue(self) -> None:
        issued = []
        for entry, slot in enumerate(self.giq[:2]):
            unit = _unit(slot.insn.kind, entry)
            if unit is not None and unit not in self.station:
                self.station[unit] = slot
                issued.append(slot)
        self.giq = [s for s in self.giq if s not in issued]
        if self.biq and "BU" not in self.station:
            self.station["BU"] = self.biq.pop(0)

    def _dispatch(self, stream: Sequence[Insn], at: int) -> int:
        branches = renames = 0
        for _ in range(WIDTH):
            if at >= len(stream) or len(self.cq) > CQ_ENTRIES - WIDTH:
                break
            insn = stream[at]
            queue = self.biq if insn.kind == BRANCH else self.giq
            branches += insn.kind == BRANCH
            renames += min(insn.renames, WIDTH)
            if branches > 1 or renames > WIDTH or len(queue) >= (BIQ_ENTRIES if queue is self.biq else GIQ_ENTRIES):
                break
            slot = _Slot(insn, [self.last[r] for r in insn.reads if r in self.last])
            for r in insn.writes:
                self.last[r] = slot
            queue.append(slot)
            self.cq.append(slot)
            at += 1
        return at

    def run(self, stream: Sequence[Insn], marks: Sequence[int]) -> list[int]:
        """Cycles at which the instructions before each mark (ascending positions) had been dispatched."""
        at, cycle = 0, 0
        found: list[int] = []
        while len(found) < len(marks):
            self._execute(cycle)
            self._complete(cycle)
            self._issue()
            at = self._dispatch(stream, at)
            cycle += 1
            while len(found) < len(marks) and at >= marks[len(found)]:
                found.append(cycle)
        return found


WARM, TIMED = 2, 4


@cache
def block_cycles(words: tuple[int, ...]) -> float:
    """Cycles of one pass of a block that follows itself."""
    body = [decode(w) for w in words]
    stream = body * (WARM + TIMED + 1)
    first, last = Core().run(stream, [WARM * len(body), (WARM + TIMED) * len(body)])
    return (last - first) / TIMED


@dataclass(frozen=True)
class Block:
    address: int
    count: int
    words: tuple[int, ...]


def read_profile(path: Path) -> list[Block]:
    """Reads bbprof's lines: address (hex), executions, instructions, their bytes (hex, big-endian)."""
    blocks = []
    for line in path.read_text().splitlines():
        address, count, _, code = line.split()
        words = tuple(int(code[i : i + 8], 16) for i in range(0, len(code), 8))
        blocks.append(Block(int(address, 16), int(count), words))
    return blocks


def difference(more: Iterable[Block], less: Iterable[Block]) -> list[Block]:
    """What the longer of two runs did beyond the shorter: isolates the repeated part."""
    before = {(b.address, b.words): b.count for b in less}
    found = [Block(b.address, b.count - before.get((b.address, b.words), 0), b.words) for b in more]
    return [b for b in found if b.count > 0]


@dataclass(frozen=True)
class Estimate:
    """Instructions and estimated cycles of a profile, and the least that single resources would allow."""

    insns: int
    cycles: float
    dispatch_bound: float
    su1_bound: float
    lsu_bound: float


def estimate(blocks: Iterable[Block]) -> Estimate:
    insns = vector = memory = 0
    cycles = 0.0
    for block in blocks:
        kinds = [decode(w).kind for w in block.words]
        insns += block.count * len(kinds)
        vector += block.count * kinds.count(VECTOR)
        memory += block.count * (kinds.count(LOAD) + kinds.count(STORE))
        cycles += block.count * block_cycles(block.words)
    return Estimate(insns, cycles, insns / WIDTH, float(vector), float(memory))


def main(argv: Sequence[str]) -> int:
    """Arguments: a profile, and optionally a shorter run's to subtract."""
    blocks = read_profile(Path(argv[0]))
    if len(argv) > 1:
        blocks = difference(blocks, read_profile(Path(argv[1])))
    e = estimate(blocks)
    print(f"instructions {e.insns}  estimated cycles {e.cycles:.0f}  ({e.cycles / e.insns:.3f} a piece)")
    print(f"bounds: dispatch {e.dispatch_bound:.0f}  vector unit {e.su1_bound:.0f}  load/store unit {e.lsu_bound:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
