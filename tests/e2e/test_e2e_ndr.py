"""gwbench ndr in the laboratory: real packets, real searches, books that close, and what others make of the result."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

SHORT = ("ndr", "--lab", "--no-save", "-t", "3", "--trial", "0.2")


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return {}


def test_both_ways_of_one_frame_size(start: Callable[..., Run], tmp_path: Path, kept: dict[str, Any]) -> None:
    path = tmp_path / "ndr.json"
    finished = start(*SHORT, "--frames", "512", "--latency", "--json", str(path)).wait(120)
    assert finished.status == 0, finished.stdout + finished.stderr
    document = kept["document"] = json.loads(path.read_text())
    assert (document["schema"], document["test"], document["valid"]) == ("gwbench/1", "ndr", True)
    assert [row["direction"] for row in document["results"]] == ["seal", "open"]
    for row in document["results"]:
        assert row["reasons"] == [] and row["packet_bytes"] == [494]
        assert row["generator_packets_per_s"][row["direction"]] > 0
        trials = [trial for search in row["searches"] for trial in search["trials"]]
        assert len(trials) >= 2
        for trial in trials:
            assert 0 < trial["offered"] <= trial["intended"]
            assert 0 < trial["forwarded"] <= trial["offered"]
            assert trial["content_checked"] > 0 or trial["forwarded"] < 64
            # What a queue of packets refused is counted to the packet; sockets count trains.
            if set(trial["drops"]) == {f"{row['direction']}: tun_queue"}:
                assert trial["offered"] - trial["forwarded"] == sum(trial["drops"].values())
        for goal in ("ndr", "pdr"):
            rates = row[goal]["packets_per_s"]
            for lower, upper in zip(rates["samples"] if rates else [], row[goal]["upper_packets_per_s"], strict=False):
                assert upper is None or lower < upper
        for one in row["latency"]:
            assert sum(n for _, n in one["histogram_ns"]) == one["packets"] > 0
            values = [*one["percentiles_us"].values(), one["max_us"]]
            assert values == sorted(values)
    assert "NDR packets/s" in finished.stdout and "512" in finished.stdout
    finished.stdout.encode("ascii")


def test_report_and_compare_read_it(start: Callable[..., Run], tmp_path: Path, kept: dict[str, Any]) -> None:
    path = tmp_path / "ndr.json"
    path.write_text(json.dumps(kept["document"]))
    page = tmp_path / "report.html"
    finished = start("report", str(path), "-o", str(page)).wait(60)
    assert finished.status == 0, finished.stderr
    text = page.read_text()
    assert "Rates</h3>" in text and "Trials of the searches" in text
    if any(row["latency"] for row in kept["document"]["results"]):
        assert "Latency of 512 B" in text
    finished = start("compare", str(path), str(path)).wait(60)
    assert finished.status == 0, finished.stderr
    assert "PDR" in finished.stdout


def test_interrupted_it_leaves_nothing(start: Callable[..., Run]) -> None:
    run = start(*SHORT, "-t", "60", "--frames", "64", "--direction", "both")
    run.wait_for_line("% lost")
    run.process.send_signal(signal.SIGINT)
    finished = run.wait(20)
    assert finished.status == 130
    assert finished.stderr.splitlines() == ["gwbench: interrupted by SIGINT"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--frames", "63"), "frames have 64 to 1456 bytes here, not 63"),
        (("--frames", "1518"), "frames have 64 to 1456 bytes here, not 1518"),
        (("--frames", "jumbo"), "'jumbo' is no frame size"),
        (("--direction", "up"), "no direction is called 'up' (there are: seal, open, both)"),
        (("--suite", "rot13"), "no suite is called 'rot13'"),
        (("--trial", "0"), "--trial 0 is not between"),
    ],
)
def test_one_line_and_exit_2(start: Callable[..., Run], arguments: tuple[str, ...], says: str) -> None:
    finished = start("ndr", "--lab", "--no-save", *arguments).wait(30)
    assert finished.status == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert says in finished.stderr


def test_many_sas_end_to_end(start: Callable[..., Run], tmp_path: Path) -> None:
    """Every packet of twenty SAs in random order is opened and forwarded; the books close."""
    path = tmp_path / "sas.json"
    finished = start("esp", "--sas", "20", "--lab", "--suite", "aes128gcm16", "--json", str(path)).wait(120)
    assert finished.status == 0, finished.stdout + finished.stderr
    document = json.loads(path.read_text())
    (row,) = document["end_to_end"]
    assert (row["suite"], row["sas"], row["valid"], row["reasons"]) == ("aes128gcm16", 20, True, [])
    for order in ("cpu_ns_one_sa", "cpu_ns_random_order", "cpu_ns_runs_of_8"):
        assert len(row[order]["samples"]) == 7 and min(row[order]["samples"]) > 0
    assert row["loss_ratio"] < 1
    assert "end to end" in finished.stdout


def test_lab_alone_is_refused(start: Callable[..., Run]) -> None:
    finished = start("esp", "--lab").wait(20)
    assert finished.status == 2 and "--sas" in finished.stderr


def test_replay_windows_against_reordering(start: Callable[..., Run], tmp_path: Path) -> None:
    path = tmp_path / "reorder.json"
    finished = start(
        "ndr", "--lab", "--no-save", "--reorder", "16,64", "--windows", "32,128", "--json", str(path)
    ).wait(60)
    assert finished.status == 0, finished.stdout + finished.stderr
    rows = json.loads(path.read_text())["results"]
    assert [(row["replay_window_packets"], row["held_for_packets"]) for row in rows] == [
        (32, 16), (32, 64), (128, 16), (128, 64)
    ]  # fmt: skip
    assert all(row["valid"] and row["dropped"] == row["expected"] for row in rows)
    assert [row["dropped"] > 0 for row in rows] == [False, True, False, False]
    assert 470 < rows[1]["dropped"] <= rows[1]["held"] == 480  # the last ones are followed by too few
    assert "All 4 cells" in finished.stdout
