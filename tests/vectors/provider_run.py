"""Runs this directory's known answers and differential tests, and provider_suites.py, on one provider's rows:

``python provider_run.py openssl|ipsec-mb|af_alg [pytest's arguments]``, in a process of its own, for rows of providers
stay in the registry once loaded, and other tests shall not meet them. Exit status: pytest's; 5 (nothing was run) when
the provider is not here.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

import kat  # noqa: E402
import pytest  # noqa: E402

import dataplane  # noqa: E402

FILES = ("test_differential.py", "test_known_answers.py", "provider_suites.py")
NOT_HERE = 5


def within_limits(tag: str, alg: str, question: kat.Question) -> bool:
    """What a provider does not do: OpenSSL refuses XTS keys of equal halves, has no XTS-AES-192, takes GCM nonces of
    at most 128 bytes (3.x); the kernel's GCM takes nonces of 12 bytes, and tags of 4, 8 or 12 to 16."""
    if tag == "openssl" and alg == "xts(aes)":
        half = len(question.key) // 2
        return half in (16, 32) and question.key[:half] != question.key[half:]
    if tag == "openssl" and alg == "gcm(aes)":
        return len(question.iv) <= 128
    if tag == "af_alg" and alg == "gcm(aes)":
        return len(question.iv) == 12 and len(question.tag) in (4, 8, 12, 13, 14, 15, 16)
    return True


def narrow(tag: str) -> None:
    """Keeps both test modules within the provider's limits."""
    import test_differential
    import test_known_answers

    everything, shape = test_known_answers.all_questions, test_differential.shape

    def answerable(stem: str, alg: str) -> list[kat.Question]:
        return [question for question in everything(stem, alg) if within_limits(tag, alg, question)]

    def shorter(rng: Any, impl: dataplane.Impl) -> dict[str, object]:
        arguments = shape(rng, impl)
        return arguments | {"iv": rng.randbytes(12)} if impl.kind == "aead" else arguments

    test_known_answers.all_questions = answerable
    if tag == "openssl":
        test_differential.KEY_BYTES["xts(aes)"] = (32, 64)
    if tag == "af_alg":
        test_differential.shape = shorter


class Only:
    """Keeps the tests whose names hold one of these words."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if any(word in item.nodeid for word in self.words)]


def main() -> int:
    tag, arguments = sys.argv[1], sys.argv[2:]
    loaded = dataplane.load_providers(tag)
    print(f"{loaded.rows} rows; {loaded.absent or 'nothing absent'}", flush=True)
    rows = [impl for impl in dataplane.implementations() if impl.tag == tag]
    for row in rows:
        print(f"{row.driver}: known answers {row.checked}", flush=True)
    if not rows:
        return NOT_HERE
    os.environ["GWBENCH_TEST_PROVIDER"] = tag
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # a key of AF_ALG is an open file or two
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    narrow(tag)
    only = Only([*(row.driver for row in rows), "provider_suites"])
    files = [str(HERE / name) for name in FILES]
    return int(pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", *files, *arguments], plugins=[only]))


if __name__ == "__main__":
    sys.exit(main())
