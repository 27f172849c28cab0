"""Generated assembly proved without running it: the S-box circuits gate by gate, the look-up tables from the field."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import armv7_build
import pytest

ALL = (1 << 256) - 1  # one bit for each value of a byte


# ---- FIPS 197, 4.2 and 5.1.1 -----------------------------------------------------------------------------------------


def multiply(a: int, b: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def power(a: int, n: int) -> int:
    result = 1
    for _ in range(n):
        result = multiply(result, a)
    return result


def affine(x: int) -> int:
    """The S-box after the inversion, without its constant."""
    result = 0
    for n in range(5):
        result ^= x << n | x >> (8 - n)
    return result & 0xFF


INVERSE = [power(x, 254) for x in range(256)]
S_BOX = [affine(x) for x in INVERSE]  # less 0x63
INVERSE_S_BOX = [0] * 256
for value, image in enumerate(S_BOX):
    INVERSE_S_BOX[image] = value


# ---- the circuits ----------------------------------------------------------------------------------------------------


def macro(name: str) -> list[tuple[str, str]]:
    text = (armv7_build.SOURCES / "aes_neonbs_sbox.inc").read_text()
    body = text.split(f".macro {name}\n")[1].split(".endm")[0]
    lines = [line.split("@")[0].split(None, 1) for line in body.splitlines()]
    return [(line[0], line[1]) for line in lines]


def outputs(prefix: str) -> list[int]:
    text = (armv7_build.SOURCES / "aes_neonbs_sbox.inc").read_text()
    return [int(n) for n in re.findall(rf"#define {prefix}\dQ q(\d+)", text)]


GATES: dict[str, Callable[[int, int], int]] = {
    "veor": lambda a, b: a ^ b,
    "vand": lambda a, b: a & b,
    "vorr": lambda a, b: a | b,
    "vorn": lambda a, b: a | (b ^ ALL),
}


def choose(where: int, then: int, otherwise: int) -> int:
    return (where & then) | (where ^ ALL) & otherwise


def bit_columns(values: list[int]) -> list[int]:
    """Bit 7 of every value as one number, then bit 6, ..."""
    return [sum((v >> bit & 1) << i for i, v in enumerate(values)) for bit in range(7, -1, -1)]


def simulate(program: list[tuple[str, str]]) -> dict[int, int]:
    """Runs the program on all 256 bytes at once, slices in q0-q7. Nothing is read that was not written."""
    q = dict(enumerate(bit_columns(list(range(256)))))
    slots: dict[str, int] = {}
    for name, operands in program:
        regs = [int(n) for n in re.findall(r"\bq(\d+)", operands)]
        if name in ("vst1.64", "vld1.64"):
            found = re.fullmatch(r"\{d(\d+), d(\d+)\}, \[(r[6-9]|r1[0-2]|lr):128\]", operands.strip())
            assert found and int(found[1]) % 2 == 0 and int(found[2]) == int(found[1]) + 1, operands
            if name == "vst1.64":
                slots[found[3]] = q[int(found[1]) // 2]
            else:
                q[int(found[1]) // 2] = slots[found[3]]
        elif name == "vmvn":
            q[regs[0]] = q[regs[1]] ^ ALL
        elif name == "vbsl":
            q[regs[0]] = choose(q[regs[0]], q[regs[1]], q[regs[2]])
        elif name == "vbit":
            q[regs[0]] = choose(q[regs[2]], q[regs[1]], q[regs[0]])
        elif name == "vbif":
            q[regs[0]] = choose(q[regs[2]], q[regs[0]], q[regs[1]])
        else:
            q[regs[0]] = GATES[name](q[regs[1]], q[regs[2]])
    return q


@pytest.mark.parametrize(
    "name, prefix, table, most",
    [
        ("sbox_forward", "FWD", S_BOX, 121),
        ("sbox_inverse", "INV", [INVERSE_S_BOX[v] for v in range(256)], 128),
    ],
)
def test_circuit_computes_the_s_box(name: str, prefix: str, table: list[int], most: int) -> None:
    program = macro(name)
    assert len(program) <= most
    registers = outputs(prefix)
    assert sorted(registers) == list(range(8, 16))
    end = simulate(program)
    assert [end[r] for r in registers] == bit_columns(table)


@pytest.mark.parametrize("name", ["sbox_forward", "sbox_inverse"])
def test_gates_seldom_wait_for_the_one_before(name: str) -> None:
    """In-order cores forward a result after two cycles."""
    program, stalls = macro(name), 0
    for (_, before), (kind, operands) in itertools.pairwise(program):
        written = re.findall(r"\bq(\d+)", before)[:1]
        read = re.findall(r"\bq(\d+)", operands)
        stalls += bool(written) and written[0] in (read if kind in ("vbsl", "vbit", "vbif") else read[1:])
    assert stalls <= 6


# ---- the tables of aes_neonvp.S --------------------------------------------------------------------------------------


def vp_tables() -> list[list[int]]:
    text = (armv7_build.SOURCES / "aes_neonvp.S").read_text().split(".Ltables:")[1].split(".macro rows")[0]
    rows = re.findall(r"\.byte\s+((?:0x[0-9a-f]{2}(?:, )?){16})|\.fill\s+16, 1, (0x[0-9a-f]{2})", text)
    return [[int(b, 16) for b in row.split(", ")] if row else [int(fill, 16)] * 16 for row, fill in rows]


def pairs() -> tuple[list[int], list[int], int]:
    """Bytes as pairs over GF(16), the elements of GF(16) as bytes, and the z of the representation."""
    subfield = [y for y in range(256) if power(y, 16) == y]
    g = next(y for y in subfield if power(y, 4) ^ y ^ 1 == 0)
    element = [0] * 16
    for v in range(16):
        for bit in range(4):
            element[v] ^= power(g, bit) if v >> bit & 1 else 0
    z = next(y for y in range(256) if y ^ power(y, 16) == 1)
    pair = [0] * 256
    for i in range(16):
        for j in range(16):
            pair[multiply(element[i], z) ^ multiply(element[j], z ^ 1)] = i << 4 | i ^ j
    return pair, element, z


def test_register_look_up_tables_follow_from_the_field() -> None:
    inverse, over, s_io, s_jo, s2_io, s2_jo, mask, out_io, out_jo, low, high = vp_tables()
    pair, element, z = pairs()
    number = {e: v for v, e in enumerate(element)}
    norm = multiply(z, z ^ 1)
    assert inverse == [0x80] + [number[INVERSE[element[v]]] for v in range(1, 16)]
    assert over == [0x80] + [number[multiply(INVERSE[norm], INVERSE[element[v]])] for v in range(1, 16)]
    assert mask == [0x0F] * 16
    assert low == [pair[v] for v in range(16)] and high == [pair[v << 4] for v in range(16)]

    def look_up(table: list[int], index: int) -> int:
        return table[index] if index < 16 else 0  # as vtbl does

    for x in range(256):
        i, k = pair[x] >> 4, pair[x] & 15
        j = i ^ k
        io = look_up(inverse, look_up(inverse, i) ^ look_up(over, k)) ^ j
        jo = look_up(inverse, look_up(inverse, j) ^ look_up(over, k)) ^ i
        assert look_up(out_io, io) ^ look_up(out_jo, jo) == S_BOX[x]
        assert look_up(s_io, io) ^ look_up(s_jo, jo) == pair[S_BOX[x]]
        assert look_up(s2_io, io) ^ look_up(s2_jo, jo) == pair[multiply(2, S_BOX[x])]
