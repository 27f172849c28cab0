"""The whole laboratory without root: user nobody, with a TUN node that it may write."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import Run, View

_NOBODY = "65534"
# A private mount namespace, so that the machine's own /dev/net/tun keeps its permissions.
_BECOME = f"""
mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && chmod 755 /dev/net &&
exec setpriv --reuid={_NOBODY} --regid={_NOBODY} --clear-groups "$@"
"""


def become(view: View, script: str = _BECOME) -> tuple[str, ...]:
    """Runs the words behind it as user nobody."""
    return (*view.prefix, "sh", "-c", script, "sh")


@pytest.fixture
def home() -> Iterator[Path]:
    """Nobody's; not below pytest's folder, which is root's alone whenever another pytest starts."""
    with tempfile.TemporaryDirectory(prefix="gwbench-home-", dir="/tmp") as folder:
        os.chown(folder, int(_NOBODY), int(_NOBODY))
        yield Path(folder)


@pytest.mark.usefixtures("user_namespaces")
def test_the_whole_test(view: View, start: Callable[..., Run], home: Path) -> None:
    prefix = ("env", "-u", "XDG_STATE_HOME", f"HOME={home}", *become(view))
    arguments = ("iperf", "--lab", "-t", "1", "--rounds", "1", "--repeats", "0", "--topology", "site-to-site")
    run = start(*arguments, "--suite", "aes128gcm16", prefix=prefix, command=(view.python, "-m", "gateway.cli"))
    finished = run.wait()
    assert finished.status == 0, finished.stderr
    saved = list((home / ".local/state/gwbench/results").iterdir())
    assert len(saved) == 1
    assert saved[0].owner() == "nobody"
    result = json.loads(saved[0].read_text())
    assert [row["role"] for row in result["results"]] == ["plain", "null", "generic", "accelerated"]
    assert all(row["valid"] for row in result["results"])
    assert result["lab"]["rootless"] is True


def test_tun_that_nobody_may_write(view: View, start: Callable[..., Run]) -> None:
    prefix = become(view, _BECOME.replace("-m 666", "-m 600"))
    run = start("iperf", "--lab", prefix=prefix, command=(view.python, "-m", "gateway.cli"))
    finished = run.wait(30)
    assert finished.status == 2
    assert len(finished.stderr.splitlines()) == 1
    assert "/dev/net/tun is not writable" in finished.stderr and "sudo" in finished.stderr


@pytest.mark.usefixtures("user_namespaces")
def test_user_namespaces_forbidden_names_the_sysctl(view: View, start: Callable[..., Run]) -> None:
    """A limit of 0, set in a user namespace of its own where it binds only what is below."""
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@"'
    prefix = (*become(view), "unshare", "-U", "-r", "sh", "-c", forbid, "sh")
    finished = start("iperf", "--lab", prefix=prefix, command=(view.python, "-m", "gateway.cli")).wait(30)
    assert finished.status == 2
    assert len(finished.stderr.splitlines()) == 1, finished.stderr
    assert "user.max_user_namespaces = 0" in finished.stderr
    assert "sudo" in finished.stderr
