"""A fleet's results as a matrix, and the playbooks that gather them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gateway.errors import UnusableError
from gateway.metrics.names import PORT
from gateway.report import fleet

ROOT = Path(__file__).resolve().parents[2]
ANSIBLE = ROOT / "config" / "ansible"


def result(*rows: tuple[str, str, float | None, bool]) -> str:
    body = [
        {"role": role, "suite": suite, "mbit_per_s": None if speed is None else {"median": speed}, "valid": valid}
        for role, suite, speed, valid in rows
    ]
    return json.dumps({"schema": "gwbench/1", "results": body})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    plain = ("plain", "", 900.0, True)
    (tmp_path / "a--b.json").write_text(
        result(plain, ("generic", "aes128gcm16", 50.0, True), ("accelerated", "aes128gcm16", 400.0, True))
    )
    (tmp_path / "b--a.json").write_text(result(plain, ("accelerated", "aes128gcm16", 300.0, False)))
    (tmp_path / "b--c-d.json").write_text(
        result(plain, ("null", "null", 800.0, True), ("accelerated", "aes256-sha256", 120.0, True))
    )
    (tmp_path / "c-d--a.failed").write_text("gwbench: c-d does not answer\n")
    (tmp_path / "a--b.failed").write_text("of an earlier run\n")
    (tmp_path / "notes.txt").write_text("not ours")
    return tmp_path


def test_the_matrix(results: Path) -> None:
    report = fleet.build(results)
    tables = {table.title: table for table in report.sections[0].tables}
    assert set(tables) == {"aes128gcm16", "aes256-sha256"}
    assert tables["aes128gcm16"].head == ("from \\ to", "a", "b", "c-d")
    assert tables["aes128gcm16"].rows == (
        ("a", None, 400.0, None),
        ("b", "INVALID", None, None),
        ("c-d", "failed", None, None),
    )
    assert tables["aes256-sha256"].rows[1] == ("b", None, None, 120.0)
    assert not report.valid
    assert report.verdict == (
        "3 pairs measured, 1 failed.",
        "The slowest: b to c-d, 120 Mbit/s with aes256-sha256.",
        "INVALID, packets did not add up: b to a.",
        "c-d to a: gwbench: c-d does not answer",
    )


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateway.cli", "report", *words], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_the_command(results: Path) -> None:
    done = command("--fleet", str(results))
    assert done.returncode == 1 and "| a " in done.stdout and "INVALID" in done.stdout
    for name in ("b--a.json", "c-d--a.failed"):
        (results / name).unlink()
    page = results / "fleet.html"
    done = command("--fleet", str(results), "-o", str(page))
    assert done.returncode == 0 and "400" in page.read_text()


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "other"}', '{"schema": "gwbench/1", "results": [{}]}'])
def test_what_is_no_result_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a--b.json").write_text(content)
    with pytest.raises(UnusableError, match=r"a--b\.json: not a whole result"):
        fleet.build(tmp_path)


def test_nothing_to_show(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match="no FROM--TO"):
        fleet.build(tmp_path)
    done = command()
    assert done.returncode == 2 and "--fleet DIR" in done.stderr


# ---- Ansible ----


def playbook(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    program = shutil.which("ansible-playbook", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("no ansible-playbook")
    env = {**os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "ANSIBLE_LOCALHOST_WARNING": "0"}
    return subprocess.run(
        [program, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=ANSIBLE,
        env={**env, **(environment or {})},
    )


def test_every_file_is_yaml() -> None:
    files = [*ANSIBLE.rglob("*.yml")]
    assert len(files) >= 8
    for path in files:
        assert yaml.safe_load(path.read_text()) is not None, path


@pytest.mark.parametrize("name", ["site.yml", "measure.yml"])
def test_the_playbooks_parse(name: str) -> None:
    done = playbook("--syntax-check", name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("more", "pairs"), [((), 2), (("-e", "hub=nowhere"), 0)], ids=["mesh", "none"])
def test_the_plan_is_said_first_and_nothing_is_measured(tmp_path: Path, more: tuple[str, ...], pairs: int) -> None:
    done = playbook("measure.yml", "--check", "-e", f"results={tmp_path}/results", *more)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{pairs} pairs, one at a time, at 10M" in done.stdout and "minutes in all" in done.stdout
    assert not (tmp_path / "results").exists()


def inventory(tmp_path: Path) -> Path:
    """Two gateways that are this machine, and a gwbench that says what it was asked."""
    fake = tmp_path / "gwbench"
    fake.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/asked\n'
        'case "$*" in *@nowhere*) echo "gwbench: nowhere does not answer" >&2; exit 2;; esac\n'
        f"cat {tmp_path}/result.json\n"
    )
    fake.chmod(0o755)
    (tmp_path / "result.json").write_text(result(("accelerated", "aes128gcm16", 9.9, True)))
    hosts = {
        "gateways": {
            "hosts": {
                "one": {"ansible_host": "127.0.0.1"},
                "two": {"ansible_host": "nowhere"},
            },
            "vars": {
                "ansible_connection": "local",
                "ansible_python_interpreter": sys.executable,
                "gwbench_listen": "0.0.0.0:12345",
                "ansible_user": "root",
            },
        },
        "prometheus": {
            "hosts": {"here": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}
        },
    }
    path = tmp_path / "hosts.yml"
    path.write_text(yaml.safe_dump(hosts))
    return path


@pytest.mark.slow
def test_a_fleet_is_measured_one_pair_after_another(tmp_path: Path) -> None:
    hosts = inventory(tmp_path)
    words = (
        "measure.yml",
        "-i",
        str(hosts),
        "-e",
        f"results={tmp_path}/results",
        "-e",
        f"gwbench_bin={tmp_path}/gwbench",
    )
    done = playbook(*words, "-e", "seconds=3")
    assert done.returncode == 0, done.stdout + done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[2] for line in asked] == ["root@nowhere", "root@127.0.0.1"]
    assert all(line.endswith("-b 10M") and "-t 3" in line for line in asked)
    assert sorted(os.listdir(tmp_path / "results")) == ["one--two.failed", "two--one.json"]
    report = fleet.build(tmp_path / "results")
    assert "one to two: gwbench: nowhere does not answer" in report.verdict
    done = playbook(*words, "-e", "saturate=true", "-e", '{"pairs": [["two", "one"]]}')
    assert "as fast as they can" in done.stdout
    assert not any("-b" in line.split() for line in (tmp_path / "asked").read_text().splitlines()[2:])


def test_the_defaults_are_the_exporters() -> None:
    defaults = yaml.safe_load((ANSIBLE / "roles/gwbench/defaults/main.yml").read_text())
    assert defaults["gwbench_listen"] == f"127.0.0.1:{PORT}"
