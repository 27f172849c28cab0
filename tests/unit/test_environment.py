"""The machine as it is recorded: from fixture trees, and from this very machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gateway import environment

X86 = "processor : 0\nmodel name\t: Some CPU @ 3.00GHz\nflags : fpu hypervisor\n\nprocessor : 1\nmodel name : other\n"
E500 = "processor\t: 0\ncpu\t\t: e500v2\nclock\t\t: 800.000000MHz\n\ntimebase : 50000000\nplatform : P1014\n"
ARM = "processor : 0\nBogoMIPS : 38.40\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n"
MIPS = "system type : MediaTek MT7621\ncpu model\t\t: MIPS 1004Kc V2.15\n"


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        (X86, "Some CPU @ 3.00GHz"),
        (E500, "e500v2"),
        (ARM, "implementer 0x41 part 0xd03"),
        (MIPS, "MIPS 1004Kc V2.15"),
        ("", "unknown"),
    ],
)
def test_cpu_model(cpuinfo: str, model: str) -> None:
    assert environment.cpu_model(cpuinfo) == model


@pytest.fixture
def fake(tmp_path: Path) -> tuple[Path, Path]:
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    files = {
        "cpuinfo": X86,
        "loadavg": "0.50 0.25 0.10 1/100 1234\n",
        "stat": "cpu  100 0 200 3000 5 0 50 25 0 0\ncpu0 1 2 3\n",
        "meminfo": "MemTotal: 2048 kB\nMemAvailable:    1024 kB\n",
        "sys/net/core/rmem_max": "212992\n",
        "sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
    }
    for name, text in files.items():
        (proc / name).parent.mkdir(parents=True, exist_ok=True)
        (proc / name).write_text(text)
    for cpu, governor in (("cpu0", "powersave"), ("cpu1", "performance"), ("cpu2", "powersave")):
        directory = sys / "devices/system/cpu" / cpu / "cpufreq"
        directory.mkdir(parents=True)
        (directory / "scaling_governor").write_text(governor + "\n")
        (directory / "scaling_cur_freq").write_text("1800000\n")
    return proc, sys


def test_machine_from_a_fixture_tree(fake: tuple[Path, Path]) -> None:
    machine = environment.machine(*fake)
    assert machine["cpu_model"] == "Some CPU @ 3.00GHz" and machine["hypervisor"] is True
    assert machine["sysctl"] == {"net.core.rmem_max": "212992", "net.ipv4.tcp_rmem": "4096 131072 6291456"}
    assert machine["governors"] == ["performance", "powersave"]
    assert machine["kernel"] == os.uname().release
    assert machine["dataplane"]["failed_known_answers"] == []
    json.dumps(machine)


def test_moment_from_a_fixture_tree(fake: tuple[Path, Path]) -> None:
    moment = environment.moment(*fake)
    assert moment["load"] == [0.5, 0.25, 0.1]
    assert moment["cpu_s"]["system"] == 200 / os.sysconf("SC_CLK_TCK")
    assert moment["cpu_s"]["steal"] == 25 / os.sysconf("SC_CLK_TCK")
    assert moment["memory_available_bytes"] == 1024 * 1024
    assert moment["cpu_khz"] == [1800000] * 3


def test_a_bare_tree_is_recorded_as_unknown_not_as_an_error(tmp_path: Path) -> None:
    assert environment.machine(tmp_path, tmp_path)["cpu_model"] == "unknown"
    assert environment.moment(tmp_path, tmp_path)["load"] == []


def test_before_and_after_of_this_machine() -> None:
    before = environment.record()
    after = environment.record(before)
    assert set(after) == {"machine", "before", "after"}
    assert after["before"] == before["before"]
    assert after["after"]["cpu_s"]["user"] >= after["before"]["cpu_s"]["user"]


def test_program_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "iperf3"
    tool.write_text("#!/bin/sh\necho 'iperf 3.99.1 (cJSON 1.7)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert environment.program_version("iperf3", r"iperf (\S+)") == "3.99.1"
    tool.write_text("#!/bin/sh\necho nothing\n")
    assert environment.program_version("iperf3", r"iperf (\S+)") == ""
    assert environment.program_version("no-such-program", r"(.*)") == ""
