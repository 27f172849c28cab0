"""libFuzzer with sanitizers on gw_open_batch, for FUZZ_SECONDS (default 20); the corpus is published packets."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

from esp_internals import PLAIN_FLAGS, compile_objects, link, sources

HERE = Path(__file__).parent
VECTORS = HERE.parent / "vectors" / "data" / "esp"
SECONDS = int(os.environ.get("FUZZ_SECONDS", "20"))
SANITIZERS = "-fsanitize=address,undefined"
FLAGS = ("-O1", "-g", f"{SANITIZERS},fuzzer-no-link", "-fno-sanitize-recover=all")


@functools.cache
def compiler() -> str:
    for name in ("clang", "clang-14", "clang-15", "clang-16", "clang-19"):
        if shutil.which(name):
            return name
    raise AssertionError("fuzzing needs clang: apt-get install clang")


def corpus(folder: Path) -> None:
    """Every published packet under every kind of SA, and the plaintexts where the null suite reads them as they are."""
    folder.mkdir()
    number = 0
    for name in ("esp_rfc", "esp_dpdk", "esp_odp", "esp_captures"):
        for case in json.loads((VECTORS / f"{name}.json").read_text())["cases"]:
            plaintext = bytes.fromhex(case["plaintext"] or "")
            for choice, rest in (
                (0, b"\0\0\0\1" + plaintext),
                (8, b"\0\0\0\1" + plaintext),
                (32, b"\0\0\0\1" + plaintext),
            ):
                (folder / f"{number}").write_bytes(bytes([choice, 3]) + rest)
                number += 1
            for choice in (1, 2, 3, 6):
                (folder / f"{number}").write_bytes(bytes([choice, 0]) + bytes.fromhex(case["esp"])[4:])
                number += 1


def test_open_batch(tmp_path: Path) -> None:
    # The ciphers run under sanitizers in test_sanitizers.py; instrumented for coverage they take clang minutes.
    objects = compile_objects(FLAGS, [*sources(("core", "esp")), HERE / "fuzz_open.c"], compiler())
    objects += compile_objects(PLAIN_FLAGS, sources(("crypto",)))
    program = link(objects, (f"{SANITIZERS},fuzzer",), "fuzz-open", compiler())
    corpus(tmp_path / "corpus")
    command = [
        program,
        f"-max_total_time={SECONDS}",
        "-max_len=2000",
        "-print_final_stats=1",
        f"-artifact_prefix={tmp_path}/",
    ]
    done = subprocess.run([*command, str(tmp_path / "corpus")], capture_output=True, text=True, timeout=SECONDS + 120)
    assert done.returncode == 0, done.stderr[-3000:]
    runs = int(done.stderr.split("stat::number_of_executed_units:")[1].split()[0])
    assert runs > 1000, done.stderr[-2000:]
