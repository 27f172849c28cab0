"""Writes cbc_sha256_spe_{enc,dec}{128,256}.S: AES-CBC of one packet interleaved with SHA-256 of two others.

Why: on the e500 a vector operation issues on one unit only, two instructions issue a cycle. Two SHA-256 streams in the
halves of 64-bit registers need 18 instructions a byte instead of 30, but nearly all of them on that unit; table AES
is mostly loads and scalar operations. Together they fill both slots. No order by hand does that for 29 registers and a
thousand instructions, so a list scheduler does it: in each slot the instruction that is ready, keeps the two streams
in step, and, when it is a vector operation, stands first of its pair (only then can it issue beside its neighbour).

One body is 8 rounds of SHA-256 and one AES block. Per 64 bytes of the two streams a body with loads runs twice and one
with the message schedule six times. ``python3 cbc_sha256_spe.py`` rewrites the files; a test compares them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Every register but r1 (stack), r2 (thread), r13 (small data). w: next schedule word; ka: key or temporary.
NAMES = ["t1", "rk", "in", "w", "k", "x0", "x1", "t2", "t3", "p", "mx", "my"]
NAMES += [f"{group}{i}" for group in "cg" for i in range(4)] + ["ka"] + [f"s{i}" for i in range(8)]
NUMBERS = dict(zip(NAMES, [0, *range(3, 13), *range(14, 32)], strict=True))

# Stack frame, and the struct gw_spe_mix that the caller fills (spe.h)
OUT, DATA_A, DATA_B, UNITS, ARGUMENT, WORDS, FRAME = 88, 92, 96, 100, 104, 112, 624
VECTOR_LATENCY = {"load": 3}
WINDOW = 16  # instructions of a stream that the scheduler looks ahead


def look_up(last: bool, dec: bool, target: str, column: str, byte: int) -> list[str]:
    """Byte of a column into both halves for the even output column, its neighbour into the low half for the odd."""
    low = (byte + (1 if dec else 3)) & 3
    index = [f"rlwimi {x}, {column}, {(13, 21, 29, 5)[b]}, 19, 26" for x, b in (("x0", byte), ("x1", low))]
    if not last:
        return [*index, f"evlwwsplat {target}, {4 * byte}(x0)", f"lwz {target}, {4 * low}(x1)"]
    splat = ("evlhhesplat {}, 18(x0)", "evlhhesplat {}, 22(x0)", "evlhhousplat {}, 18(x0)", "evlhhousplat {}, 22(x0)")
    return [*index, splat[byte].format(target), f"lwz {target}, {(18, 17, 16, 20)[low]}(x1)"]


def aes_round(slot: int, last: bool, dec: bool) -> list[str]:
    """As ROUND_ of aes_spe_round.h, with one temporary less."""
    o1, o3 = (3, 1) if dec else (1, 3)

    def look(target: str, column: str, byte: int) -> list[str]:
        return look_up(last, dec, target, column, byte)

    return [
        f"evldd ka, {16 * slot}(rk)",
        *look("g0", "c0", 0),
        *look("g1", "c1", o1),
        *look("g2", "c0", 2),
        *look("g3", "c1", o3),
        "evxor c1, g0, ka",
        f"evldd ka, {16 * slot + 8}(rk)",
        "evxor c1, c1, g1",
        *look("g0", "c2", 2),
        "evxor g2, g2, ka",
        *look("g1", "c3", o3),
        "evxor g2, g2, g3",
        *look("g3", "c2", 0),
        "evxor c1, c1, g0",
        *look("g0", "c3", o1),
        "evxor c1, c1, g1",
        "evmergehi c0, c1, c1",
        "evxor g2, g2, g3",
        "evxor c3, g2, g0",
        "evmergehi c2, c3, c3",
    ]


def aes_block(rounds: int, dec: bool) -> list[str]:
    """Encryption begins with the chain in c0-c3. Decryption goes from the last block to the first, begins with the
    whitened ciphertext there, and reads the block before it: this one's IV and the next one's input."""
    whitening = 16 * (14 - rounds)
    body = [line for r in range(1, rounds + 1) for line in aes_round(14 - rounds + r, r == rounds, dec)]
    read = [f"lwz g{i}, {4 * i}(in)" for i in range(4)]
    if not dec:
        head = read
        for i in range(4):
            head += [f"lwz ka, {whitening + 4 * i}(rk)", f"xor c{i}, c{i}, g{i}", f"xor c{i}, c{i}, ka"]
        tail = [f"lwz ka, {OUT}(1)", *(f"stw c{i}, {4 * i}(ka)" for i in range(4)), "addi ka, ka, 16"]
        return [*head, "addi in, in, 16", *body, *tail, f"stw ka, {OUT}(1)"]
    tail = [*read, f"lwz ka, {OUT}(1)"]
    for i in range(4):
        tail += [f"xor c{i}, c{i}, g{i}", f"stw c{i}, {4 * i}(ka)"]
    tail += ["addi ka, ka, -16", f"stw ka, {OUT}(1)"]
    for i in range(4):
        tail += [f"lwz ka, {whitening + 4 * i}(rk)", f"xor c{i}, g{i}, ka"]
    return [*body, *tail, "addi in, in, -16"]


def sigma(target: str, spare: str, source: str, rotations: tuple[int, int, int]) -> list[str]:
    """Exclusive or of three right rotations; the third is a shift when negative. Overwrites source then."""
    first, second, third = rotations
    lines = [f"evrlwi {target}, {source}, {32 - first}", f"evrlwi {spare}, {source}, {32 - second}"]
    lines.append(f"evxor {target}, {target}, {spare}")
    if third < 0:
        return [*lines, f"evsrwiu {source}, {source}, {-third}", f"evxor {target}, {target}, {source}"]
    return [*lines, f"evrlwi {spare}, {source}, {32 - third}", f"evxor {target}, {target}, {spare}"]


def sha_rounds(schedule: bool) -> list[str]:
    """Eight rounds of two streams; words at w: the one of 16 rounds before at 8i, the new one at 8i + 128."""
    lines = []
    for i in range(8):
        a, b, _, d, e, f, g, h = (f"s{(j - i) % 8}" for j in range(8))
        x, y = ("mx", "my") if i % 2 == 0 else ("my", "mx")
        if schedule:
            lines += [f"evldd p, {8 * i}(w)", f"evldd t1, {8 * i + 8}(w)", *sigma("t2", "t3", "t1", (7, 18, -3))]
            lines += [f"evldd t1, {8 * i + 72}(w)", "evaddw p, p, t2", "evaddw p, p, t1"]
            lines += [f"evldd t1, {8 * i + 112}(w)", *sigma("t2", "t3", "t1", (17, 19, -10)), "evaddw p, p, t2"]
        else:
            lines += [f"lwz t2, {DATA_A}(1)", f"lwz t3, {DATA_B}(1)", f"lwz t1, {4 * i}(t2)", f"lwz p, {4 * i}(t3)"]
            lines += ["evmergelo p, t1, p"]
        lines += [f"evstdd p, {8 * i + 128}(w)", f"evlwwsplat t1, {4 * i}(k)"]
        lines += [f"evaddw {h}, {h}, p", f"evaddw {h}, {h}, t1", *sigma("t1", "t2", e, (6, 11, 25))]
        lines += [f"evxor t3, {f}, {g}", f"evand t3, t3, {e}", f"evxor t3, t3, {g}", f"evaddw {h}, {h}, t1"]
        lines += [f"evaddw {h}, {h}, t3", f"evaddw {d}, {d}, {h}", *sigma("t1", "t2", a, (2, 13, 22))]
        lines += [f"evxor {x}, {a}, {b}", f"evand {y}, {y}, {x}", f"evaddw {h}, {h}, t1", f"evxor {y}, {y}, {b}"]
        lines += [f"evaddw {h}, {h}, {y}"]
    if not schedule:
        for t, slot in (("t2", DATA_A), ("t3", DATA_B)):
            lines += [f"lwz {t}, {slot}(1)", f"addi {t}, {t}, 32", f"stw {t}, {slot}(1)"]
    return [*lines, "addi w, w, 64", "addi k, k, 32"]


# ---- scheduling ------------------------------------------------------------------------------------------------------


def effects(line: str) -> tuple[str, list[str], list[str]]:
    """Kind, what is read, what is written; memory that this code reads back is named like a register."""
    op, rest = line.split(" ", 1)
    args = [a.strip() for a in rest.split(",")]
    match = re.fullmatch(r"(\d+)\((\w+)\)", args[-1])
    if match:
        place = [args[-1]] if match[2] in ("1", "w") else []
        store = op.startswith(("st", "evst"))
        return ("store", [args[0], match[2]], place) if store else ("load", [match[2], *place], [args[0]])
    kind = "vector" if op.startswith("ev") else "simple"
    sources = [a for a in args[1:] if a in NUMBERS]
    return kind, [args[0], *sources] if op == "rlwimi" else sources, [args[0]]


class Stream:
    """One of the two instruction streams: what waits for what."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.kinds: list[str] = []
        self.before: list[set[int]] = [set() for _ in lines]
        self.finish: dict[int, int] = {}
        self.next = 0
        writers: dict[str, list[int]] = {}
        readers: dict[str, list[int]] = {}
        for i, line in enumerate(lines):
            kind, reads, writes = effects(line)
            self.kinds.append(kind)
            for name in reads:
                self.before[i].update(writers.get(name, []))
                readers.setdefault(name, []).append(i)
            for name in writes:
                self.before[i].update(j for j in readers.get(name, []) if j != i)
                self.before[i].update(writers.get(name, []))
                # lwz leaves the upper half that a splat has just written: both make the value
                half = line.startswith("lwz") and not readers.get(name) and len(writers.get(name, [])) == 1
                merged = half and "splat" in lines[writers[name][0]]
                writers[name] = [*writers[name], i] if merged else [i]
                readers[name] = []
            if line.startswith("addi w"):
                self.before[i].update(j for j in range(i) if "(w)" in lines[j])

    @property
    def progress(self) -> float:
        return len(self.finish) / len(self.lines)

    def ready(self) -> list[int]:
        """Those of the next WINDOW unscheduled instructions whose predecessors are scheduled."""
        waiting = [i for i in range(self.next, min(self.next + 4 * WINDOW, len(self.lines))) if i not in self.finish]
        return [i for i in waiting[:WINDOW] if self.before[i] <= self.finish.keys()]

    def take(self, i: int, cycle: int) -> str:
        self.finish[i] = cycle + VECTOR_LATENCY.get(self.kinds[i], 1)
        while self.next in self.finish:
            self.next += 1
        return self.lines[i]


def interleave(first: Stream, second: Stream) -> list[str]:
    order: list[str] = []
    pair = (first, second)
    while any(s.next < len(s.lines) for s in pair):
        cycle, odd = divmod(len(order), 2)
        best: tuple[float, int, int] | None = None
        for n, stream in enumerate(pair):
            ahead = (stream.progress - pair[1 - n].progress) * len(stream.lines)
            for i in stream.ready():
                wait = max((stream.finish[j] for j in stream.before[i]), default=0) - cycle
                price = 6 * max(wait, 0) + 0.6 * ahead + 0.3 * (i - stream.next)
                if stream.kinds[i] == "vector":
                    price += 20 if odd else -4
                if best is None or (price, n, i) < best:
                    best = (price, n, i)
        assert best is not None
        order.append(pair[best[1]].take(best[2], cycle))
    return order


# ---- output ----------------------------------------------------------------------------------------------------------


def numbered(line: str) -> str:
    op, rest = line.split(" ", 1)
    return op + " " + re.sub(r"\b[a-z]\w*\b", lambda m: str(NUMBERS[m[0]]), rest).replace(", ", ",")


def packed(lines: list[str]) -> str:
    """Several instructions a line, at most 116 columns."""
    rows = [""]
    for line in map(numbered, lines):
        if len(rows[-1]) + len(line) > 112:
            rows.append("")
        rows[-1] += ("; " if rows[-1] else "\t") + line
    return "\n".join(rows)


HEAD = """/* SPDX-License-Identifier: MIT
 * Written by cbc_sha256_spe.py, which explains it: AES-{bits} CBC {verb} interleaved with SHA-256 of two streams.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe_asm.h"

	.text
	FUNC {name}
"""


def plain(text: str) -> str:
    return "\n".join("\t" + (numbered(line) if " " in line else line) for line in text.split("\n"))


def routine(bits: int, dec: bool) -> str:
    rounds = bits // 32 + 6
    states = range(8)
    entry = [f"stwu 1, {-FRAME}(1)", "stmw 14, 16(1)", f"stw 3, {ARGUMENT}(1)", "mr t3, 3"]
    load = ["lwz in, 4(t3)", "lwz t2, 8(t3)", f"stw t2, {OUT}(1)", "lwz x0, 12(t3)", "mr x1, x0"]
    load += [f"lwz c{i}, {16 + 4 * i}(t3)" for i in range(4)]
    for slot, at in ((DATA_A, 32), (DATA_B, 36), (UNITS, 40)):
        load += [f"lwz t2, {at}(t3)", f"stw t2, {slot}(1)"]
    load += ["lwz k, 44(t3)", *(f"evldd s{i}, {48 + 8 * i}(t3)" for i in states)]
    load += [f"addi w, 1, {WORDS - 128}", "lwz rk, 0(t3)"]
    add = ["addi w, w, -512", "addi k, k, -256", f"lwz t3, {ARGUMENT}(1)"]
    for i in states:
        t = ("t1", "p")[i % 2]
        add += [f"evldd {t}, {48 + 8 * i}(t3)", f"evaddw s{i}, s{i}, {t}", f"evstdd s{i}, {48 + 8 * i}(t3)"]
    count = [f"lwz t2, {UNITS}(1)", "addic. t2, t2, -1", f"stw t2, {UNITS}(1)"]
    leave = ["stw in, 4(t3)", f"lwz t2, {OUT}(1)", "stw t2, 8(t3)", *(f"stw c{i}, {16 + 4 * i}(t3)" for i in range(4))]
    for slot, at in ((DATA_A, 32), (DATA_B, 36)):
        leave += [f"lwz t2, {slot}(1)", f"stw t2, {at}(t3)"]
    bodies = [packed(interleave(Stream(aes_block(rounds, dec)), Stream(sha_rounds(s)))) for s in (False, True)]
    name = f"gw_spe_cbc_sha256_{'dec' if dec else 'enc'}{bits}"
    return "\n".join(
        [
            HEAD.format(bits=bits, verb="decryption" if dec else "encryption", name=name) + packed(entry + load),
            "1:" + packed(["evxor my, s1, s2", "li t2, 2"]) + "; mtctr 9",
            f"/* Rounds 0-15, words loaded. */\n2:\n{bodies[0]}\n\tbdnz 2b",
            "\tli 9,6; mtctr 9",
            f"/* Rounds 16-63, words computed. */\n3:\n{bodies[1]}\n\tbdnz 3b",
            packed(add + count) + "; bne 1b",
            packed([*leave, "lmw 14, 16(1)", f"addi 1, 1, {FRAME}"]) + "; blr",
            '#endif\n\t.section .note.GNU-stack, "", @progbits\n',
        ]
    )


def files() -> dict[str, str]:
    """File name -> text."""
    return {
        f"cbc_sha256_spe_{'dec' if dec else 'enc'}{bits}.S": routine(bits, dec)
        for dec in (False, True)
        for bits in (128, 256)
    }


def main() -> int:
    here = Path(__file__).resolve().parent
    for name, text in files().items():
        (here / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
