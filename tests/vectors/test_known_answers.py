"""Published known answers on every implementation that this CPU runs.

Each case runs alone, aligned and whole; then all cases of a file run as one batch of mixed keys and lengths, off
alignment, split into spans, and in place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kat
import pytest

import dataplane

# The two Monte Carlo kinds have 1000 steps a round; some rounds are enough to walk every S-box entry many times.
MCT_ROUNDS = 2
LAYOUTS = {
    "mixed": [
        kat.Layout(first_span=64, misalign=1),
        kat.Layout(misalign=15, in_place=True),
        kat.Layout(first_span=192),
    ],
    "in place": [kat.Layout(in_place=True)],
}

CASES: dict[tuple[str, str], list[dict[str, Any]]] = {}
for file in kat.FILES:
    for known in kat.load(file):
        CASES.setdefault((file.stem, kat.table_algorithm(known["alg"])), []).append(known)

SETS = [(stem, alg, driver) for stem, alg in sorted(CASES) for driver in kat.runnable(alg)]


def ask(driver: str, asked: list[kat.Question], layouts: list[kat.Layout], alone: bool) -> list[str]:
    """Runs the questions, batched by direction or one by one; what was wrong."""
    wrong: list[str] = []
    for opening in (False, True):
        some = [q for q in asked if q.opening == opening]
        if not some:
            continue  # a hash has one direction
        keys = [dataplane.Key(driver, q.key) if q.kind != "hash" else None for q in some]
        ops = [q.op(driver, layouts[i % len(layouts)], keys[i]) for i, q in enumerate(some)]
        for group in [[i] for i in range(len(ops))] if alone else [list(range(len(ops)))]:
            results = dataplane.run(driver, [ops[i] for i in group], opening=opening)
            wrong += [text for i, r in zip(group, results, strict=True) if (text := some[i].wrong(r))]
        for key in keys:
            if key:
                key.close()
    return wrong


def all_questions(stem: str, alg: str) -> list[kat.Question]:
    return [q for case in CASES[stem, alg] for q in kat.questions(case)]


@pytest.mark.parametrize(("stem", "alg", "driver"), SETS)
def test_each_case_alone(stem: str, alg: str, driver: str) -> None:
    asked = [q for q in all_questions(stem, alg) if q.exists]
    assert ask(driver, asked, [kat.Layout()], alone=True) == []


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("stem", "alg", "driver"), SETS)
def test_all_cases_as_one_batch(stem: str, alg: str, driver: str, layout: str) -> None:
    asked = [q for q in all_questions(stem, alg) if q.exists]
    assert ask(driver, asked, LAYOUTS[layout], alone=False) == []


@pytest.mark.parametrize(("stem", "alg", "driver"), [s for s in SETS if s[1] in kat.AEAD.values()])
def test_nonces_of_other_lengths_are_refused(stem: str, alg: str, driver: str) -> None:
    for question in (q for q in all_questions(stem, alg) if not q.exists):
        with dataplane.Key(driver, question.key) as key, pytest.raises(dataplane.DataplaneError):
            dataplane.run(driver, [question.op(driver, kat.Layout(), key)], opening=question.opening)


def test_no_case_is_left_out() -> None:
    """Every algorithm in the data that has an implementation is asked; the count of cases is the files' own."""
    assert sum(len(cases) for cases in CASES.values()) == sum(len(kat.load(file)) for file in kat.FILES)
    for (_, alg), cases in CASES.items():
        assert cases, alg
        assert kat.runnable(alg), f"nothing implements {alg}"


def cbc_rounds(driver: str, case: dict[str, Any]) -> None:
    """AESAVS 6.4.2: a thousand encryptions (or decryptions) a round, each fed with the block before."""
    opening = case["direction"] == "dec"
    for number, expected in enumerate(case["results"][:MCT_ROUNDS]):
        key, iv, text = (bytes.fromhex(expected[f]) for f in ("key", "iv", "ct" if opening else "pt"))
        with dataplane.Key(driver, key) as expanded:
            before = iv
            for _ in range(1000):
                out = dataplane.run(driver, [dataplane.Op(data=text, key=expanded, iv=iv)], opening=opening)[0].out
                iv = text if opening else out
                text, before = before, out
        assert out.hex() == expected["pt" if opening else "ct"].lower(), f"round {number}"


def ecb_rounds(driver: str, case: dict[str, Any]) -> None:
    """AESAVS 6.4.1."""
    opening = case["direction"] == "dec"
    for number, expected in enumerate(case["results"][:MCT_ROUNDS]):
        block = bytes.fromhex(expected["ct" if opening else "pt"])
        with dataplane.Key(driver, bytes.fromhex(expected["key"])) as key:
            for _ in range(1000):
                block = dataplane.run(driver, [dataplane.Op(data=block, key=key)], opening=opening)[0].out
        assert block.hex() == expected["pt" if opening else "ct"].lower(), f"round {number}"


MONTE_CARLO = [
    (case, driver)
    for cases in CASES.values()
    for case in cases
    if case["kind"] == "cipher-mct"
    for driver in kat.runnable(kat.table_algorithm(case["alg"]))
]


@pytest.mark.parametrize(("case", "driver"), MONTE_CARLO, ids=[f"{c['id']}-{d}" for c, d in MONTE_CARLO])
def test_monte_carlo(case: dict[str, Any], driver: str) -> None:
    (cbc_rounds if case["alg"] == "aes-cbc" else ecb_rounds)(driver, case)


@pytest.mark.parametrize("driver", kat.runnable("sha256"))
def test_sha256_monte_carlo(driver: str) -> None:
    """SHAVS 6.4: each round hashes the last three digests, a thousand times."""
    case = next(c for cases in CASES.values() for c in cases if c["kind"] == "hash-mct")
    seed = bytes.fromhex(case["seed"])
    for expected in case["checkpoints"][:MCT_ROUNDS]:
        last = [seed, seed, seed]
        for _ in range(1000):
            op = dataplane.Op(data=b"".join(last), tag_bytes=32)
            last = [last[1], last[2], dataplane.run(driver, [op])[0].tag]
        seed = last[2]
        assert seed.hex() == expected


def test_data_has_its_origin() -> None:
    notice = (kat.DATA / "NOTICE").read_text()
    assert all(Path(file).name in notice for file in kat.FILES)
