"""Selection by measurement: what it may choose, how it is cached; a wish and the environment stand above it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import dataplane
from gateway import selection
from gateway.errors import UnusableError


@pytest.fixture(autouse=True)
def priorities_again() -> Iterator[None]:
    dataplane.reset_selection()
    yield
    dataplane.reset_selection()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def contested() -> dict[str, list[dataplane.Impl]]:
    """Algorithms with more than one constant-time implementation here, fused ones left out."""
    found: dict[str, list[dataplane.Impl]] = {}
    for impl in dataplane.implementations():
        own = impl.driver.endswith("/gwbench") and impl.kind != "authenc"
        if own and impl.constant_time and impl.runnable and impl.checked == "passed":
            found.setdefault(impl.alg, []).append(impl)
    return {alg: impls for alg, impls in found.items() if len(impls) > 1}


def files(environ: dict[str, str]) -> list[Path]:
    return sorted(Path(environ["XDG_CACHE_HOME"]).rglob("*.json"))


def test_every_contested_algorithm_is_settled_among_its_own(environ: dict[str, str]) -> None:
    chosen = selection.select(environ)
    assert chosen.source == "measured"
    assert set(chosen.preferred) == set(contested())
    for alg, driver in chosen.preferred.items():
        assert driver in [impl.driver for impl in contested()[alg]]
        assert dataplane.preferred(alg) == driver


def test_second_start_reads_the_cache(environ: dict[str, str]) -> None:
    first = selection.select(environ)
    dataplane.reset_selection()
    second = selection.select(environ)
    assert (second.source, second.preferred) == ("cache", first.preferred)
    assert {alg: dataplane.preferred(alg) for alg in first.preferred} == first.preferred
    assert len(files(environ)) == 1


def test_measure_does_not_read_the_cache(environ: dict[str, str]) -> None:
    selection.select(environ)
    assert selection.select(environ | {"GWBENCH_SELECT": "measure"}).source == "measured"


def test_static_measures_nothing_and_writes_nothing(environ: dict[str, str]) -> None:
    selection.select(environ)
    before = [path.read_bytes() for path in files(environ)]
    chosen = selection.select(environ | {"GWBENCH_SELECT": "static"})
    assert chosen == selection.Selection("static", {})
    assert all(dataplane.preferred(alg) is None for alg in contested())
    assert [path.read_bytes() for path in files(environ)] == before


def test_unknown_word_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(UnusableError, match="GWBENCH_SELECT is 'fastest'; there is: cached, measure, static"):
        selection.select(environ | {"GWBENCH_SELECT": "fastest"})


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "gwbench-selection/1"}', "\x00"])
def test_broken_cache_is_measured_again(environ: dict[str, str], text: str) -> None:
    selection.select(environ)
    (path,) = files(environ)
    path.write_text(text)
    assert selection.select(environ).source == "measured"
    assert json.loads(path.read_text())["schema"] == selection.SCHEMA


@pytest.mark.parametrize("wrong", ["no-such-driver/gwbench", "gcm-aes-generic/gwbench"])
def test_cached_driver_that_may_not_be_chosen_is_measured_again(environ: dict[str, str], wrong: str) -> None:
    """Unknown; or table-based, which a measurement never chooses, however the file came by it."""
    selection.select(environ)
    (path,) = files(environ)
    document = json.loads(path.read_text())
    document["preferred"]["gcm(aes)"] = wrong
    path.write_text(json.dumps(document))
    chosen = selection.select(environ)
    assert chosen.source == "measured"
    assert wrong not in chosen.preferred.values()
    assert dataplane.preferred("gcm(aes)") != wrong


def test_other_cpu_has_a_cache_of_its_own(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name\t: Another CPU\n")
    selection.select(environ)
    assert selection.select(environ, proc=tmp_path).source == "measured"
    assert len(files(environ)) == 2
    assert selection.select(environ, proc=tmp_path).source == "cache"


def test_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert selection.select({"XDG_CACHE_HOME": str(blocked)}).source == "measured"


def test_preference_decides_auto_and_a_wish_stands_above_it() -> None:
    suites = {"gcm(aes)": "aes128gcm16", "cbc(aes)": "aes128-sha256", "hmac(sha256)": "null-sha256"}
    tried = 0
    for alg, suite in suites.items():
        impls = contested().get(alg, [])
        for impl in impls:
            dataplane.prefer(impl.driver)
            assert impl.driver in dataplane.resolve(suite, "auto").split(" + ")
            assert impl.driver in dataplane.resolve(suite, "accelerated").split(" + ") or impl.tag == "generic"
            other = next(i for i in impls if i.driver != impl.driver)
            assert other.driver in dataplane.resolve(suite, other.tag).split(" + ")
            tried += 1
        dataplane.reset_selection()
        if impls:
            best = max(impls, key=lambda i: i.priority)
            assert best.driver in dataplane.resolve(suite, "auto").split(" + ")
    assert tried == sum(len(contested().get(alg, [])) for alg in suites)


def test_what_is_not_constant_time_cannot_be_preferred() -> None:
    with pytest.raises(dataplane.DataplaneError):
        dataplane.prefer("gcm-aes-generic/gwbench")
    with pytest.raises(dataplane.DataplaneError):
        dataplane.prefer("no-such-driver/gwbench")
    assert dataplane.preferred("gcm(aes)") is None


def test_a_fault_does_not_stay_in_the_cache(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was chosen while one gave wrong answers is not what the next, sound process takes."""
    contested = max(selection._candidates(), key=lambda i: (i.alg == "gcm(aes)", i.priority))
    first = selection.select(environ)
    sound = dataplane.implementations
    faulty = tuple(dataclasses.replace(i, checked="failed") if i.driver == contested.driver else i for i in sound())
    monkeypatch.setattr(dataplane, "implementations", lambda: faulty)
    assert selection.select(environ).source == "measured"
    monkeypatch.setattr(dataplane, "implementations", sound)
    again = selection.select(environ)
    assert (again.source, again.preferred) == ("cache", first.preferred)
    assert len(files(environ)) == 2
