"""The search for a rate without loss: a simulated device of known capacity, and the real MLRsearch."""

from __future__ import annotations

import random

import pytest

from gateway.errors import UnusableError
from gateway.search import GOALS, Counts, Effort, Goal, Outcome, search

EFFORT = Effort(first_s=0.3, last_s=1.0, sum_s=4.0, warmup_s=0.5, limit_s=30.0)


class Device:
    """Forwards what it can; each trial meets it a little faster or slower."""

    def __init__(self, capacity_per_s: float, noise: float = 0.0, most_per_s: float = 1e9, seed: int = 1) -> None:
        self.capacity_per_s, self.noise, self.most_per_s = capacity_per_s, noise, most_per_s
        self.random = random.Random(seed)
        self.trials: list[tuple[float, float]] = []

    def __call__(self, seconds: float, packets_per_s: float) -> Counts:
        self.trials.append((seconds, packets_per_s))
        intended = round(seconds * packets_per_s)
        offered = min(intended, round(seconds * self.most_per_s))
        can = seconds * self.capacity_per_s * self.random.gauss(1, self.noise)
        return Counts(intended, offered, min(offered, int(can)), seconds)


def run(device: Device, most: float = 3.6e6, goals: tuple[Goal, ...] = GOALS, effort: Effort = EFFORT) -> Outcome:
    return search(device, min_per_s=200, max_per_s=most, goals=goals, effort=effort)


@pytest.mark.parametrize("capacity", [1000.0, 20_000.0, 351_234.0, 3.0e6])
def test_the_capacity_lies_between_what_is_found(capacity: float) -> None:
    outcome = run(Device(capacity))
    assert outcome.complete
    for found in outcome.found:
        assert found.lower_per_s is not None and found.upper_per_s is not None
        # What meets a goal loses at most its share.
        assert found.lower_per_s * (1 - found.goal.loss_ratio) <= capacity * 1.001
        assert found.upper_per_s > capacity * 0.999
        assert found.narrow and found.width is not None and found.width <= found.goal.width * 1.001


def test_a_partial_drop_rate_is_not_below_the_rate_without_loss() -> None:
    for seed in range(5):
        ndr, pdr = run(Device(100_000, noise=0.01, seed=seed)).found
        assert ndr.lower_per_s and pdr.lower_per_s and pdr.lower_per_s >= ndr.lower_per_s


def test_noise_moves_the_answer_by_less_than_itself_times_three() -> None:
    rates = [run(Device(200_000, noise=0.01, seed=seed)).found[1].lower_per_s or 0 for seed in range(8)]
    assert max(rates) - min(rates) < 0.06 * 200_000
    assert 0.95 < sum(rates) / len(rates) / 200_000 < 1.05


def test_a_device_that_is_faster_than_the_generator() -> None:
    outcome = run(Device(5e6), most=1e6)
    for found in outcome.found:
        assert found.lower_per_s == pytest.approx(1e6)
        assert found.upper_per_s is None and found.width is None and not found.narrow


def test_what_a_late_generator_did_not_send_counts_as_lost() -> None:
    outcome = run(Device(5e6, most_per_s=300_000), most=1e6)
    for found in outcome.found:
        assert found.upper_per_s is not None and found.upper_per_s >= 300_000
        assert found.lower_per_s is not None and found.lower_per_s <= 303_000


def test_a_device_that_forwards_nothing() -> None:
    outcome = run(Device(0.0))
    assert outcome.complete
    assert all(found.lower_per_s is None and found.forwarded_per_s is None for found in outcome.found)


def test_when_the_time_is_up_the_few_trials_speak() -> None:
    device = Device(100_000)
    outcome = run(device, effort=Effort(sum_s=1000.0, limit_s=1e-9))
    assert not outcome.complete
    for found in outcome.found:
        assert not found.judged and not found.narrow
        good = [load for _, load in device.trials if load <= 100_000]
        assert found.lower_per_s == (max(good) if good else None)


def test_rates_that_leave_no_room() -> None:
    with pytest.raises(UnusableError, match="no rates to search"):
        search(Device(1.0), min_per_s=200, max_per_s=100)


def test_a_measurement_that_fails_ends_the_search() -> None:
    def fails(seconds: float, packets_per_s: float) -> Counts:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        search(fails, min_per_s=1, max_per_s=100)
