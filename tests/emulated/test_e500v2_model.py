"""The model of the core: its documented limits hold for sequences whose cost is known."""

from __future__ import annotations

from pathlib import Path

import e500v2_model as model
import pytest

EVXOR, ADD, LWZ, STW, MULLW = 0x10000216, 0x7C000214, 0x80000000, 0x90000000, 0x7C0001D6


def three(word: int, d: int, a: int, b: int) -> int:
    return word | d << 21 | a << 16 | b << 11


def adds(n: int) -> tuple[int, ...]:
    return tuple(three(ADD, 3 + i, 20, 21) for i in range(n))


def test_two_independent_instructions_a_cycle() -> None:
    assert model.block_cycles(adds(16)) == 8


def test_a_chain_takes_a_cycle_each() -> None:
    assert model.block_cycles((three(ADD, 3, 3, 4),) * 16) == 16


def test_vector_operations_have_one_unit() -> None:
    assert model.block_cycles(tuple(three(EVXOR, 3 + i, 20, 21) for i in range(16))) == 16


def test_a_vector_operation_pairs_with_what_follows_it() -> None:
    """Only the first of two queue entries reaches SU1: vector then scalar is a pair for ever."""
    pair = [(three(EVXOR, 3 + i, 20, 21), three(ADD, 12 + i, 20, 21)) for i in range(8)]
    assert model.block_cycles(tuple(w for p in pair for w in p)) == 8


def test_one_load_a_cycle_and_three_until_it_is_used() -> None:
    assert model.block_cycles(tuple(LWZ | (3 + i) << 21 | 20 << 16 | 4 * i for i in range(8))) == 8
    chase = (LWZ | 3 << 21 | 3 << 16,) * 4
    assert model.block_cycles(chase) == 12


def test_one_store_a_cycle() -> None:
    assert model.block_cycles((STW | 3 << 21 | 20 << 16,) * 8) == 8


def test_a_multiplication_takes_four() -> None:
    assert model.block_cycles((three(MULLW, 3, 3, 4),) * 4) == 16


@pytest.mark.parametrize(
    "word, kind, reads, writes",
    [
        (0x10A62301, model.LOAD, (6,), (5,)),  # evldd 5, 32(6)
        (0x10C53A2C, model.VECTOR, (5, 7), (6,)),  # evmergehi 6, 5, 7
        (0x10C5CA22, model.VECTOR, (5,), (6,)),  # evsrwiu 6, 5, 25
        (0x51C66CF4, model.SIMPLE, (14, 6), (6,)),  # rlwimi 6, 14, 13, 19, 26
        (0x80C40004, model.LOAD, (4,), (6,)),  # lwz 6, 4(4)
        (0x94C40010, model.STORE, (4, 6), (4,)),  # stwu 6, 16(4)
        (0x7CC53A78, model.SIMPLE, (6, 7), (5,)),  # xor 5, 6, 7
        (0x7CA53114, model.SIMPLE, (5, 6, model.CA), (5, model.CA)),  # adde 5, 5, 6
        (0x4200FFFC, model.BRANCH, (model.CTR,), (model.CTR,)),  # bdnz
    ],
)
def test_decoding(word: int, kind: str, reads: tuple[int, ...], writes: tuple[int, ...]) -> None:
    insn = model.decode(word)
    assert (insn.kind, insn.reads, insn.writes) == (kind, reads, writes)


def test_difference_leaves_what_was_repeated(tmp_path: Path) -> None:
    code = "".join(f"{w:08x}" for w in adds(4))
    one, three_times = tmp_path / "1", tmp_path / "3"
    one.write_text(f"1000 5 4 {code}\n2000 1 4 {code}\n")
    three_times.write_text(f"1000 5 4 {code}\n2000 3 4 {code}\n")
    left = model.difference(model.read_profile(three_times), model.read_profile(one))
    assert [(b.address, b.count) for b in left] == [(0x2000, 2)]
    assert model.estimate(left).insns == 8
    assert model.estimate(left).dispatch_bound == 4
