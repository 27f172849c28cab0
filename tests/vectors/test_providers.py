"""Implementations of others pass the same tests as ours; each provider in a process of its own (provider_run.py)."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent / "provider_run.py"
# Installed by `make test` where Debian has them; AF_ALG is the kernel's to have.
PROVIDERS = ["openssl", *(["ipsec-mb"] if platform.machine() == "x86_64" else [])]


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_provider_passes_what_ours_pass(provider: str) -> None:
    done = python(str(RUN), provider)
    if done.returncode == 5:
        pytest.skip(done.stdout.splitlines()[0])  # another version, on another distribution
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "known answers failed" not in done.stdout
    assert " passed" in done.stdout.splitlines()[-1]


def test_af_alg_is_used_where_the_kernel_has_it_and_said_to_be_absent_elsewhere() -> None:
    done = python(str(RUN), "af_alg")
    if done.returncode == 5:
        assert done.stdout.startswith("0 rows; af_alg: "), done.stdout
    else:
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


LOAD = "import dataplane, sys; p = dataplane.load_providers(sys.argv[1]); print(p.rows); print(p.absent)"


@pytest.mark.parametrize(("name", "variable"), [("openssl", "GWBENCH_LIBCRYPTO"), ("ipsec-mb", "GWBENCH_LIBIPSEC_MB")])
def test_absent_library_is_one_line_and_no_failure(name: str, variable: str) -> None:
    done = python("-c", LOAD, name, **{variable: "/nonexistent/library.so"})
    rows, absent = done.stdout.splitlines()
    assert (done.returncode, rows) == (0, "0")
    assert absent.startswith(f"{name}: ")


def test_absent_library_does_not_keep_others_out() -> None:
    done = python("-c", LOAD, "ipsec-mb,openssl", GWBENCH_LIBIPSEC_MB="/nonexistent/library.so")
    rows, absent = done.stdout.splitlines()
    assert int(rows) == 12
    assert absent.startswith("ipsec-mb: ")


def test_other_library_under_the_name_is_refused() -> None:
    """A file that loads but is something else: the C library itself."""
    done = python("-c", LOAD, "all", GWBENCH_LIBCRYPTO="libc.so.6", GWBENCH_LIBIPSEC_MB="libc.so.6")
    absent = done.stdout.splitlines()[1]
    assert "openssl: this libcrypto has no EVP_" in absent
    assert "ipsec-mb: " in absent
    assert done.returncode == 0


def test_unknown_word_is_refused() -> None:
    done = python("-c", LOAD, "libressl")
    assert done.returncode == 1
    assert 'no provider is called "libressl"; there is: openssl, ipsec-mb, af_alg, all' in done.stderr


def test_loading_twice_adds_nothing() -> None:
    code = (
        "import dataplane as d; a = d.load_providers('openssl'); n = len(d.implementations());"
        "b = d.load_providers('openssl'); print(a.rows == b.rows == 12, n == len(d.implementations()))"
    )
    assert python("-c", code).stdout.split() == ["True", "True"]


def test_a_provider_that_fails_its_known_answers_is_not_selected() -> None:
    code = (
        "import dataplane as d; d.load_providers('openssl'); d.inject_fault('gcm-aes-openssl/openssl')\n"
        "print(d.find_impl('gcm-aes-openssl/openssl').checked)\n"
        "try: d.resolve('aes128gcm16', 'openssl')\n"
        "except d.DataplaneError as e: print(e)"
    )
    checked, refusal = python("-c", code).stdout.splitlines()
    assert checked == "failed"
    assert "openssl" in refusal
