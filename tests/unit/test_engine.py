"""The offload queue: every strategy carries every packet, in order, and what it sealed opens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dataplane
from gateway.cli import main
from gateway.compare import readers


@pytest.mark.parametrize("strategy", dataplane.HANDOVERS)
@pytest.mark.parametrize(("batch", "depth"), [(1, 1), (1, 64), (32, 4)])
def test_every_strategy_seals_what_opens(strategy: str, batch: int, depth: int) -> None:
    found = dataplane.bench_engine(
        "aes128gcm16", "auto", strategy, inner_len=256, batch=batch, depth=depth, min_ns=5_000_000
    )
    assert found.sample.ops >= batch and found.sample.ops % batch == 0
    assert found.sample.bytes == found.sample.ops * 256
    assert len(found.latency_ns) == min(65536, found.sample.ops // batch)
    assert found.submitter_cpu_ns > 0
    assert (found.worker_cpu_ns == 0) == (strategy == "inline")


@pytest.mark.parametrize(("inner", "batch", "depth"), [(19, 1, 1), (9001, 1, 1), (64, 65, 1), (64, 1, 3), (64, 0, 1)])
def test_what_cannot_be_is_refused(inner: int, batch: int, depth: int) -> None:
    with pytest.raises(dataplane.DataplaneError, match="20 to 9000 bytes"):
        dataplane.bench_engine("aes128gcm16", "auto", "ring", inner_len=inner, batch=batch, depth=depth, min_ns=1)


def test_the_command_prints_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "e.json"
    words = ["engine", "--bytes", "64", "--rounds", "3", "--suite", "aes128gcm16", "--before", "inline"]
    assert main([*words, "--after", "ring", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "inline -> ring" in out and "aes128gcm16" in out and "MiB/s" in out and "95 % interval" in out
    document = json.loads(file.read_text())
    assert {row["strategy"] for row in document["rows"]} == set(dataplane.HANDOVERS)
    assert len(document["comparison"]["rows"]) == 1
    assert len(readers.read(file).rows) == len(dataplane.HANDOVERS)


@pytest.mark.parametrize("words", [["--before", "luck"], ["--bytes", "x"], ["--depth", "3"], ["--suite", "none"]])
def test_bad_input_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
