"""Memory of SAs and keys: zeroed, on cache lines of its own, wiped when it goes, used again, side by side."""

from __future__ import annotations

import itertools
import random

import pytest
from cffi import FFI
from esp_internals import CSRC, PLAIN_FLAGS, compile_objects, link

ffi = FFI()
ffi.cdef("void *gw_alloc(size_t n); void gw_free_wipe(void *p, size_t n);")
lib = ffi.dlopen(str(link(compile_objects(PLAIN_FLAGS, [CSRC / "core" / "mem.c"]), ("-shared",), "mem.so")))


def address(p: object) -> int:
    return int(ffi.cast("uintptr_t", p))


def test_pieces_of_all_sizes_in_any_order() -> None:
    rng = random.Random(1)
    held: list[tuple[object, int, int]] = []
    for _ in range(4000):
        if held and rng.random() < 0.45:
            p, n, mark = held.pop(rng.randrange(len(held)))
            assert bytes(ffi.buffer(p, n)) == bytes([mark]) * n, "nobody else wrote into it"
            lib.gw_free_wipe(p, n)
            continue
        n = rng.choice([1, 63, 64, 65, 400, 1100, 3071, 3072, 3073, 5000, 70_000])
        p = lib.gw_alloc(n)
        assert p != ffi.NULL and address(p) % 64 == 0
        assert bytes(ffi.buffer(p, n)) == bytes(n)
        mark = rng.randrange(1, 256)
        ffi.memmove(p, bytes([mark]) * n, n)
        held.append((p, n, mark))
    spans = sorted((address(p), address(p) + n) for p, n, _ in held)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
    for p, n, _ in held:
        lib.gw_free_wipe(p, n)


@pytest.mark.parametrize("n", [64, 1000, 3000])
def test_what_was_freed_is_wiped_and_used_again(n: int) -> None:
    p = lib.gw_alloc(n)
    ffi.memmove(p, b"k" * n, n)
    lib.gw_free_wipe(p, n)
    assert b"k" not in bytes(ffi.buffer(p, n)), "small pieces stay with the program, so this may be read"
    assert lib.gw_alloc(n) == p


def test_ten_thousand_lie_close() -> None:
    """An SA, its keys, its counters: each size side by side, in chunks of 2 MB that huge pages can hold."""
    pieces = [(n, lib.gw_alloc(n)) for _ in range(10_000) for n in (192, 832, 256)]
    for n in (192, 832, 256):
        huge = {address(p) >> 21 for size, p in pieces if size == n}
        # The first chunks are smaller, and pieces that were freed are used again wherever they lie.
        assert len(huge) <= 10_000 * n / (2 << 20) + 13


def test_nonsense_is_refused() -> None:
    assert lib.gw_alloc(2**64 - 1) == ffi.NULL
    lib.gw_free_wipe(ffi.NULL, 7)
    assert lib.gw_alloc(0) != ffi.NULL
