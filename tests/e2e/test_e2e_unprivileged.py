"""The whole laboratory without root: user nobody, with a TUN node that it may write."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import ROOT, Run, environment

_NOBODY = "65534"
# A private mount namespace, so that the machine's own /dev/net/tun keeps its permissions.
_BECOME = f"""
mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && chmod 755 /dev/net &&
exec setpriv --reuid={_NOBODY} --regid={_NOBODY} --clear-groups "$@"
"""
PREFIX = ("unshare", "-m", "sh", "-c", _BECOME, "sh")


@pytest.fixture(scope="session")
def python() -> str:
    """An interpreter that nobody may run: the tests' own may live in root's home."""
    import sys

    # It must be able to start itself again, as the command does.
    again = (
        "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'import dataplane, gateway.cli, pyroute2'])"
    )
    for candidate in (sys.executable, "/usr/bin/python3"):
        probe = (*PREFIX, candidate, "-c", again)
        if subprocess.run(probe, env=environment(), cwd="/", capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip(f"user nobody can run no Python with what is in {ROOT}")


def test_the_whole_test(python: str, start: Callable[..., Run], tmp_path: Path) -> None:
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == "root" and path != Path("/tmp"):
            os.chmod(path, os.stat(path).st_mode | 0o055)
        if path == Path("/tmp"):
            break
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, int(_NOBODY), int(_NOBODY))
    prefix = ("env", "-u", "XDG_STATE_HOME", f"HOME={home}", *PREFIX)
    arguments = ("iperf", "--lab", "-t", "1", "--rounds", "1", "--repeats", "0", "--topology", "site-to-site")
    run = start(*arguments, "--suite", "aes128gcm16", prefix=prefix, command=(python, "-m", "gateway.cli"))
    finished = run.wait()
    assert finished.status == 0, finished.stderr
    saved = list((home / ".local/state/gwbench/results").iterdir())
    assert len(saved) == 1
    assert saved[0].owner() == "nobody"
    result = json.loads(saved[0].read_text())
    assert [row["role"] for row in result["results"]] == ["plain", "null", "generic", "accelerated"]
    assert all(row["valid"] for row in result["results"])
    assert result["lab"]["rootless"] is True


def test_tun_that_nobody_may_write(python: str, start: Callable[..., Run]) -> None:
    become = _BECOME.replace("-m 666", "-m 600")
    run = start("iperf", "--lab", prefix=(*PREFIX[:4], become, "sh"), command=(python, "-m", "gateway.cli"))
    finished = run.wait(30)
    assert finished.status == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "/dev/net/tun is not writable" in finished.stderr and "sudo" in finished.stderr


def test_user_namespaces_forbidden_names_the_sysctl(python: str, start: Callable[..., Run]) -> None:
    """A limit of 0, set in a user namespace of its own where it binds only what is below."""
    become = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@"'
    prefix = (*PREFIX, "unshare", "-U", "-r", "sh", "-c", become, "sh")
    finished = start("iperf", "--lab", prefix=prefix, command=(python, "-m", "gateway.cli")).wait(30)
    assert finished.status == 2
    assert len(finished.stderr.splitlines()) == 1, finished.stderr
    assert "user.max_user_namespaces = 0" in finished.stderr
    assert "sudo" in finished.stderr
