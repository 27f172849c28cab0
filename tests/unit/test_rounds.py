"""The order of candidates, and how often a disturbed measurement is repeated."""

from __future__ import annotations

from gateway.rounds import Case, Repeats, plan, run


def test_plan_is_plain_null_generic_accelerated_for_each_suite() -> None:
    cases = plan(["a", "b", "a"], [])
    assert [(c.role, c.suite, c.implementation) for c in cases] == [
        ("plain", "", ""),
        ("null", "null", "auto"),
        ("generic", "a", "generic"),
        ("accelerated", "a", "accelerated"),
        ("generic", "b", "generic"),
        ("accelerated", "b", "accelerated"),
    ]


def test_wishes_replace_the_default_and_null_comes_once() -> None:
    cases = plan(["null", "a"], ["aesni", "generic", "aesni"])
    assert [(c.role, c.implementation) for c in cases] == [
        ("plain", ""),
        ("null", "auto"),
        ("accelerated", "aesni"),
        ("generic", "generic"),
    ]


def test_candidates_take_turns() -> None:
    order: list[tuple[str, int]] = []
    cases = plan(["a"], [])
    taken = run(cases, 2, lambda c, n: order.append((c.role, n)), lambda v: "", Repeats(9))
    assert order == [(c.role, n) for n in range(2) for c in cases]
    assert [len(v) for v in taken.values()] == [2, 2, 2, 2]


def test_a_disturbed_measurement_is_repeated_and_the_clean_one_kept() -> None:
    values = iter(["noisy", "noisy", "quiet", "quiet"])
    told: list[str] = []
    taken = run(
        [Case("plain")],
        2,
        lambda c, n: next(values),
        lambda v: "steal" if v == "noisy" else "",
        Repeats(9),
        lambda c, n, why: told.append(f"{n} {why}"),
    )
    kept = taken[Case("plain")]
    assert [(t.round, t.value, t.dirty, t.attempts) for t in kept] == [(0, "quiet", "", 3), (1, "quiet", "", 1)]
    assert told == ["0 steal", "0 steal"]


def test_repeats_are_bounded_and_the_last_is_kept_and_marked() -> None:
    count = 0

    def measure(case: Case, number: int) -> int:
        nonlocal count
        count += 1
        return count

    repeats = Repeats(3)
    taken = run([Case("plain"), Case("null", "null")], 3, measure, lambda v: "always", repeats)
    assert count == 6 + 3
    assert repeats.left == 0 and repeats.used == 3
    assert all(t.dirty == "always" for v in taken.values() for t in v)
    assert [t.attempts for t in taken[Case("plain")]] == [3, 1, 1]


def test_a_run_may_repeat_a_third() -> None:
    assert Repeats.for_run(6, 5).left == 10
    assert Repeats.for_run(1, 1).left == 2
