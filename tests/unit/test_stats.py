"""Medians and ratios."""

from __future__ import annotations

import pytest

from gateway.stats import Summary, median_ratio, summary_or_none


def test_summary_keeps_its_samples_in_order() -> None:
    summary = Summary((3.0, 1.0, 2.0, 10.0))
    assert summary.as_dict() == {"median": 2.5, "min": 1.0, "max": 10.0, "samples": [3.0, 1.0, 2.0, 10.0]}


def test_nothing_measured_is_none_never_zero() -> None:
    assert summary_or_none([]) is None
    assert summary_or_none([None, None]) is None
    with pytest.raises(ValueError, match="at least one"):
        Summary(())


def test_unknown_samples_are_left_out() -> None:
    summary = summary_or_none([None, 2.0])
    assert summary is not None and summary.samples == (2.0,)


def test_the_ratio_is_of_rounds_not_of_medians() -> None:
    # The machine was twice as fast in round 1: the ratio of medians would say 3 / 2.
    assert median_ratio({0: 2.0, 1: 4.0, 2: 3.0}, {0: 1.0, 1: 2.0, 2: 2.0}) == 2.0


def test_rounds_without_both_sides_do_not_count() -> None:
    assert median_ratio({0: 9.0, 1: 4.0}, {1: 2.0, 2: 7.0}) == 2.0
    assert median_ratio({0: 9.0}, {0: 0.0}) is None
    assert median_ratio({}, {0: 1.0}) is None
