"""gwbench doctor: each finding with its consequence and the command that helps; nothing changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway import doctor
from gateway.lab.syscalls import CLONE_NEWNET
from gateway.lab.trial import in_child

BIG = {"net.core.rmem_max": str(64 << 20), "net.ipv4.tcp_available_congestion_control": "reno cubic"}


def test_this_machine() -> None:
    findings = doctor.examine()
    assert {finding.level for finding in findings} <= {"ok", "info", "WARN", "FAIL"}
    assert any("known answers" in finding.what and finding.level == "ok" for finding in findings)
    for finding in findings:
        assert "\n" not in finding.line()
        if finding.level in ("WARN", "FAIL"):
            assert finding.consequence


def test_tun(tmp_path: Path) -> None:
    assert doctor.check_tun(str(tmp_path / "tun"))[0] == doctor.Finding(
        "FAIL", f"{tmp_path}/tun is missing", "no tunnel can be made", "modprobe tun"
    )
    (tmp_path / "tun").touch(mode=0o600)
    assert doctor.check_tun(str(tmp_path / "tun"))[0].level == "ok"


def test_iperf3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert doctor.check_iperf3("3.12")[0].what == "iperf3 3.12"
    monkeypatch.setenv("PATH", str(tmp_path))
    (finding,) = doctor.check_iperf3()
    assert finding.level == "FAIL" and finding.command == "apt install iperf3"


@pytest.mark.parametrize(
    ("values", "sysctl"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "kernel.apparmor_restrict_unprivileged_userns=1"),
        ({"kernel/unprivileged_userns_clone": "0"}, "kernel.unprivileged_userns_clone=0"),
        ({"user/max_user_namespaces": "0"}, "user.max_user_namespaces=0"),
        ({}, "refused"),
    ],
)
def test_the_sysctl_that_forbids_user_namespaces_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, values: dict[str, str], sysctl: str
) -> None:
    for name, value in values.items():
        (tmp_path / "sys" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / name).write_text(value + "\n")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(doctor, "in_child", lambda action, flags: "!1")
    (finding,) = doctor.check_privilege(tmp_path)
    assert finding.level == "FAIL" and sysctl in finding.what and "sudo" in finding.command


def test_small_receive_buffers_matter_without_root_only(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**BIG, "net.core.rmem_max": "212992"}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert doctor.check_sockets(small)[0].command == "sudo sysctl net.core.rmem_max=8388608"
    assert doctor.check_sockets(BIG)[0].level == "ok"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert doctor.check_sockets(small)[0].level == "ok"


def test_no_cubic() -> None:
    values = {**BIG, "net.ipv4.tcp_available_congestion_control": "bbr", "net.ipv4.tcp_congestion_control": "bbr"}
    assert doctor.check_sockets(values)[1].level == "WARN"


def test_kernel_esp() -> None:
    assert doctor.check_kernel_esp("")[0].level == "ok"
    assert "esp4" in doctor.check_kernel_esp("this kernel has no ESP: module esp4 is missing")[0].what
    assert "without root" in doctor.check_kernel_esp("!1")[0].what


def test_governors() -> None:
    (finding, *_) = doctor.check_quiet(governors=["ondemand", "performance"])
    assert finding.level == "WARN" and "ondemand" in finding.what and "performance" not in finding.what


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_probes_happen_elsewhere() -> None:
    here = os.readlink("/proc/self/ns/net")
    there = in_child(lambda: os.readlink("/proc/self/ns/net"), CLONE_NEWNET)
    assert there.startswith("net:") and there != here
    assert os.readlink("/proc/self/ns/net") == here


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_probe_that_fails_answers_too() -> None:
    assert in_child(lambda: str(1 // 0), CLONE_NEWNET) == "!0"
    assert in_child(lambda: "never", 1 << 31) == "!22"  # EINVAL


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "doctor.json"
    command = [sys.executable, "-m", "gateway.cli", "doctor", "--json"]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    document = json.loads(file.read_text())
    assert document["schema"] == "gwbench-doctor/1"
    assert len(done.stdout.splitlines()) == len(document["findings"])
    assert done.returncode == int(any(finding["level"] == "FAIL" for finding in document["findings"]))
    assert json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)["findings"]
    refused = subprocess.run([*command, "/nowhere/x"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
