"""The command line: help, errors, statuses, and that nothing heavy is loaded for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gateway import cli, errors
from gateway.lab import userns

ROOT = Path(__file__).resolve().parents[2]


def test_help_lists_only_what_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    for _, name, _ in cli.available():
        assert f"\n  {name} " in text
    assert "example:" in text and text.isascii()


def test_every_command_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for _, name, _ in cli.available()]
    assert "iperf" in names
    for name in names:
        assert cli.main([name, "--help"]) == 0
        assert f"gwbench {name}" in capsys.readouterr().out.split("example:")[1]


def test_no_command_is_unusable_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "usage" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    heavy = ("pyroute2", "cffi", "dataplane", "rich", "json", "asyncio", "prometheus_client")
    code = f"import sys, gateway.cli as c; c.main(['--help']); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_the_console_script_answers_with_next_to_no_imports(word: str) -> None:
    """0.3 s on a small router are a handful of modules; Python without its site has some thirty."""
    code = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['gwbench', {word!r}]\n"
        "before = set(sys.modules)\n"
        "from gateway.entry import main\nstatus = main()\nprint(sorted(set(sys.modules) - before)); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert "gwbench" in done.stdout
    assert done.stdout.splitlines()[-1] == "['__future__', 'gateway', 'gateway.entry', 'gateway.usage']"


def test_the_console_script_s_help_survives_a_reader_that_went_away_and_a_full_disk() -> None:
    program = "from gateway.entry import main; import sys; sys.argv = ['gwbench', '--help']; sys.exit(main())"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False
        )
    assert (done.returncode, done.stderr) == (2, "gwbench: cannot write the output: No space left on device\n")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.UnusableError("no such thing", "try another"), 2),
        (errors.MeasurementError("it broke\nhalf way"), 1),
        (KeyboardInterrupt(), 130),
        (ImportError("the C extension dataplane._gwdp is not built; run `make build`"), 2),
    ],
)
def test_an_error_is_one_line_and_a_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, status: int
) -> None:
    def fail(argv: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "_main", fail)
    assert cli.main([]) == status
    text = capsys.readouterr().err
    assert text.startswith("gwbench: ") and text.count("\n") == 1


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(argv: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "_main", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main([])


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("kernel/unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", 0, "user.max_user_namespaces=15000"),
        ("kernel/apparmor_restrict_unprivileged_userns", 1, "kernel.apparmor_restrict_unprivileged_userns=0"),
    ],
)
def test_a_forbidden_user_namespace_names_its_sysctl(tmp_path: Path, name: str, value: int, fix: str) -> None:
    for other, allowed in (
        ("kernel/unprivileged_userns_clone", 1),
        ("user/max_user_namespaces", 9),
        ("kernel/apparmor_restrict_unprivileged_userns", 0),
    ):
        path = tmp_path / other
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{value if other == name else allowed}\n")
    error = userns.explain(PermissionError(1, "Operation not permitted"), tmp_path)
    assert f"{name.replace('/', '.')} = {value}" in error.message
    assert fix in error.hint and "sudo" in error.hint


def test_forbidden_by_something_else_still_offers_sudo(tmp_path: Path) -> None:
    error = userns.explain(PermissionError(1, "Operation not permitted"), tmp_path)
    assert "seccomp" in error.message and "sudo" in error.hint


def test_privileged_needs_both_capabilities() -> None:
    assert userns.privileged("CapEff:\t000001ffffffffff\n")
    assert not userns.privileged("CapEff:\t0000000000000000\n")
    assert not userns.privileged("CapEff:\t0000000000001000\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "x"], "'x' is no usable number"),
        (["-t", "-1"], "-1 is not at least 1"),
        (["-b", "1X"], "1X is not a number"),
        (["--rou", "3"], "unrecognized arguments"),
    ],
)
def test_a_bad_argument_is_one_line(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert cli.main(["iperf", *words]) == 2
    line = capsys.readouterr().err
    assert said in line and line.count("\n") == 1 and "_" not in line and "usage" not in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dry-run"], "--dry-run is of a measurement with a router (add --peer root@ROUTER)"),
        (["--lab", "--yes"], "--yes is of"),
        (["--keep"], "--keep is of"),
        (["--remote-dir", "/root"], "--remote-dir is of"),
        (["--gwnode", "gwnode"], "--gwnode is of"),
        (["--inner", "198.18.0.0/24"], "--inner is of"),
        (["--outer-mtu", "1400"], "--outer-mtu is of"),
        (["--saturate"], "--saturate is for SAs of somebody else (add --existing SERVER)"),
        (["--system-wide"], "--system-wide is of the kernel's drivers (add --dataplane kernel"),
        (["--existing", "127.0.0.1", "--suite", "aes128gcm16"], "--existing and --suite exclude each other"),
        (["--existing", "127.0.0.1", "--impl", "generic"], "--existing and --impl exclude each other"),
        (["--existing", "127.0.0.1", "--node", "gwnode"], "--existing and --node exclude each other"),
        (["--existing", "127.0.0.1", "--topology", "client"], "--existing and --topology exclude each other"),
        (["--rfc6349", "-b", "1M"], "without --bitrate"),
    ],
)
def test_a_flag_that_would_be_passed_over_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert cli.main(["iperf", "--no-save", *words]) == 2
    line = capsys.readouterr().err
    assert said in line and line.count("\n") == 1


def test_a_library_that_is_missing_is_installed_for_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """gwbench is on no index: pip install 'gwbench[ndr]' would not find it."""
    from gateway import search
    from gateway.report import plots

    for library, make in (("MLRsearch", search._Library), ("matplotlib", lambda: plots.svg(lambda *_: None, "x"))):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(errors.UnusableError) as caught:
            make()
        assert caught.value.hint == f"{sys.executable} -m pip install {library}"


def test_a_full_disk_behind_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gateway.cli", "selftest"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "cannot write the output: No space left on device" in done.stderr
