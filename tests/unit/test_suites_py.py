"""--suite and --impl as typed by a person."""

from __future__ import annotations

import os
import subprocess
import sys

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


def test_legacy_suites_stand_behind_a_flag() -> None:
    with pytest.raises(UnusableError, match="'aes256-sha1' is legacy: SHA-1 is for old peers only") as caught:
        parse_suites("aes256-sha1")
    assert "--legacy" in caught.value.hint
    assert parse_suites("aes256-sha1", legacy=True)[0].legacy
    with pytest.raises(UnusableError) as caught:
        parse_suites("rot13")
    assert "sha1" not in caught.value.hint and "sha256" in caught.value.hint


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
    said = caught.value.message
    assert said.startswith("no implementation is called 'abacus'; there are: auto, accelerated, generic")
    s = parse_suites("aes256-sha256")[0]
    fitting = {i.tag for i in implementations() if i.runnable and i.alg in (s.enc_alg, s.auth_alg)}
    listed = said.split(": ", 1)[1].split(", ")
    assert fitting | {"auto", "accelerated"} == set(listed) and len(listed) == len(set(listed))


@pytest.mark.parametrize("mask", ["aesni,foo", "foo", " , AES-NI"])
def test_an_unknown_cpu_feature_is_refused(mask: str) -> None:
    """Ignored, it would measure something else than was asked."""
    done = subprocess.run(
        [sys.executable, "-m", "gateway.cli", "esp", "--suite", "aes128gcm16"],
        env={**os.environ, "GWBENCH_CPU_DISABLE": mask},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    wrong = mask.replace(",", " ").split()[-1]
    line = f"gwbench: GWBENCH_CPU_DISABLE: no CPU feature is called '{wrong}'; there are: aesni pclmul"
    assert done.stderr.startswith(line) and done.stderr.count("\n") == 1


def test_tags_are_those_that_run_here() -> None:
    runnable = {impl.tag for impl in implementations() if impl.runnable}
    assert set(implementation_tags()) == runnable
    assert "generic" in runnable
