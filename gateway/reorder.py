"""What a replay window drops of packets that took a detour: RFC 4303 3.4.3 on the generator's order. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def sending_order(count: int, *, hold_every: int = 0, hold_for: int = 0, lose_every: int = 0) -> Iterator[int]:
    """Sequence numbers from 1 in the order in which csrc/bench/gen.c sends them: of hold_every packets the last goes
    after hold_for others, of lose_every the last does not go."""
    held: list[tuple[int, int]] = []
    for number in range(count):
        if lose_every and number % lose_every == lose_every - 1:
            pass
        elif hold_every and number % hold_every == hold_every - 1:
            held.append((number + 1 + hold_for, number + 1))
        else:
            yield number + 1
        while held and held[0][0] <= number + 1:
            yield held.pop(0)[1]
    for _, sequence in held:
        yield sequence


def dropped(order: Iterator[int], window: int) -> int:
    """How many of these a window of so many packets refuses."""
    top, refused = 0, 0
    for sequence in order:
        if sequence > top:
            top = sequence
        elif top - sequence >= window:
            refused += 1
    return refused
