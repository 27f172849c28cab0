"""The order in which packets are sent, and what a replay window makes of it: against the dataplane's own window."""

from __future__ import annotations

import pytest

from dataplane import Sa, SaParams, open_batch, seal_batch
from gateway.reorder import dropped, sending_order


def test_an_order_without_detours() -> None:
    assert list(sending_order(5)) == [1, 2, 3, 4, 5]


def test_the_last_of_every_four_goes_two_packets_later() -> None:
    assert list(sending_order(9, hold_every=4, hold_for=2)) == [1, 2, 3, 5, 6, 4, 7, 9, 8]


def test_the_last_of_every_three_does_not_go() -> None:
    assert list(sending_order(7, lose_every=3)) == [1, 2, 4, 5, 7]


def test_a_window_takes_what_is_younger_than_itself() -> None:
    order = [1, 40, 8, 9]  # 40 - 8 = 32
    assert dropped(iter(order), 32) == 1
    assert dropped(iter(order), 33) == 0


@pytest.mark.parametrize("window", [32, 64, 256])
@pytest.mark.parametrize("late", [1, 30, 31, 32, 33, 63, 64, 300])
def test_the_dataplane_agrees(window: int, late: int) -> None:
    def sa(direction: str) -> Sa:
        return Sa(SaParams(300, "null", direction, enc_key=b"", lab=True, esn=False, replay_window=window))

    with sa("out") as sender, sa("in") as receiver:
        packet = bytes([0x45, 0, 0, 28]) + bytes(24)
        sealed = [one.esp for one in seal_batch([(sender, packet)] * 600)]
        order = list(sending_order(600, hold_every=7, hold_for=late, lose_every=50))
        opened = open_batch([(receiver, sealed[sequence - 1]) for sequence in order])
    # null has no ICV that could be wrong: with ESN an old packet would be taken for one of the next 2^32
    refused = sum(one.status == "state_seq_error" for one in opened)
    assert refused == dropped(iter(order), window)
    assert sum(one.status == "ok" for one in opened) == len(order) - refused
