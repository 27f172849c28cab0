"""--suite and --impl as typed by a person."""

from __future__ import annotations

import pytest

from dataplane import implementations
from gateway.errors import UnusableError
from gateway.suites import check_implementation, implementation_tags, parse_suites, suite_names


def test_bench_only_suites_are_offered_in_the_laboratory_only() -> None:
    assert "null" not in suite_names()
    assert "null" in suite_names(bench_only=True)
    assert set(suite_names()) < set(suite_names(bench_only=True))


def test_a_list_keeps_its_order_and_loses_repetitions() -> None:
    chosen = parse_suites(" aes256-sha256, aes128gcm16,aes256-sha256,")
    assert [suite.name for suite in chosen] == ["aes256-sha256", "aes128gcm16"]


@pytest.mark.parametrize("text", ["rot13", "aes128gcm16,rot13", "AES128GCM16", "aes128gcm16;null"])
def test_unknown_suites_list_what_exists(text: str) -> None:
    with pytest.raises(UnusableError) as caught:
        parse_suites(text)
    assert "no suite is called" in caught.value.message
    assert all(name in caught.value.hint for name in suite_names(bench_only=True))


@pytest.mark.parametrize("text", ["", " , "])
def test_no_suite_at_all(text: str) -> None:
    with pytest.raises(UnusableError, match="no suite is named"):
        parse_suites(text)


def test_null_is_refused_outside_the_laboratory() -> None:
    assert parse_suites("null", lab=True)[0].bench_only
    with pytest.raises(UnusableError, match="does not encrypt"):
        parse_suites("null", lab=False)


def test_generic_runs_everywhere_and_is_named() -> None:
    found = check_implementation(parse_suites("aes256-sha256,aes128gcm16"), "generic")
    assert list(found) == ["aes256-sha256", "aes128gcm16"]
    assert found["aes256-sha256"] == "cbc-aes-generic/gwbench + hmac-sha256-generic/gwbench"
    assert found["aes128gcm16"] == "gcm-aes-generic/gwbench"


def test_unknown_implementations_list_what_exists() -> None:
    with pytest.raises(UnusableError) as caught:
        check_implementation(parse_suites("aes256-sha256"), "abacus")
    assert "abacus" in caught.value.message
    assert all(tag in caught.value.hint for tag in ("auto", "generic", *implementation_tags()))


def test_tags_are_those_that_run_here() -> None:
    runnable = {impl.tag for impl in implementations() if impl.runnable}
    assert set(implementation_tags()) == runnable
    assert "generic" in runnable
