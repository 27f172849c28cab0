"""What cannot work says so in one line that helps, with exit status 2, before anything is built."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import UnusableError
from gateway.lab.topology import CLIENT_V4, SERVER_V4, Laboratory
from gateway.load import iperf3

from .conftest import Run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--suite", "aes128gcm17"), r"aes128gcm17.*aes128gcm16.*aes256-sha256"),
        (("--suite", ""), r"no suite is named \(there are: aes128gcm16"),
        (("--suite", "aes128-sha1"), r"'aes128-sha1' is legacy: SHA-1 .*--legacy"),
        (("--impl", ","), r"no implementation is named \(--impl generic,accelerated"),
        (("-C", "../../x"), r"no congestion control '../../x' \(there are: [a-z, ]+\)$"),
        (("--json", "/proc/nothing.json"), r"cannot write /proc/nothing.json"),
        (("--impl", "neonbs2"), r"neonbs2.*generic"),
        (("-C", "vegas2"), r"vegas2.*cubic"),
        (("-R", "--bidir"), r"-R and --bidir"),
        (("-u", "-C", "cubic"), r"TCP"),
        (("--json", "/nowhere/at/all.json"), r"/nowhere/at"),
        (("--json", "/"), r"cannot write /: Is a directory"),
    ],
)
def test_one_line_and_exit_2(start: Callable[..., Run], arguments: tuple[str, ...], says: str) -> None:
    finished = start("iperf", "--lab", "--no-save", *arguments).wait(30)
    assert finished.status == 2
    assert finished.stdout == ""
    assert len(finished.stderr.splitlines()) == 1
    assert re.search(says, finished.stderr), finished.stderr


@pytest.mark.parametrize(
    "arguments",
    [("-t", "0"), ("-t", "x"), ("--rounds", "-1"), ("--offload", "some"), ("--topology", "ring"), ("-p", "70000")],
)
def test_argparse_says_which_option(start: Callable[..., Run], arguments: tuple[str, ...]) -> None:
    finished = start("iperf", *arguments).wait(30)
    assert finished.status == 2
    assert arguments[0] in finished.stderr


def test_unknown_command_lists_what_exists(start: Callable[..., Run]) -> None:
    finished = start("iperv").wait(30)
    assert finished.status == 2
    assert "iperf" in finished.stderr


def test_no_iperf3_names_the_package(start: Callable[..., Run], tmp_path: Path) -> None:
    finished = start("iperf", "--lab", prefix=("env", f"PATH={tmp_path}")).wait(30)
    assert finished.status == 2
    assert "apt install iperf3" in finished.stderr


def test_another_program_called_iperf3(start: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "iperf3").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "iperf3").chmod(0o755)
    finished = start("iperf", "--lab", prefix=("env", f"PATH={tmp_path}:/usr/bin:/bin")).wait(30)
    assert finished.status == 2
    assert "is not iperf3" in finished.stderr


@pytest.mark.parametrize(
    ("make", "says"),
    [
        ("true", "no /dev/net/tun"),
        ("touch /dev/net/tun; rm /dev/net/tun; mknod /dev/net/tun c 10 250", "/dev/net/tun"),
    ],
)
def test_no_tun(start: Callable[..., Run], make: str, says: str) -> None:
    """An empty /dev/net in a mount namespace of its own; a node without a driver behind it."""
    script = f'mount -t tmpfs none /dev/net && {make} && exec "$@"'
    finished = start("iperf", "--lab", prefix=("unshare", "-m", "sh", "-c", script, "sh")).wait(30)
    assert finished.status == 2
    assert len(finished.stderr.splitlines()) == 1
    assert says in finished.stderr


def test_port_taken() -> None:
    with Laboratory() as lab, lab.server.entered(), socket.socket() as taken:
        lab.route_plain()
        taken.bind(("0.0.0.0", 5201))
        taken.listen()
        with pytest.raises(UnusableError, match="port 5201 is taken"):
            iperf3.run(iperf3.Load(SERVER_V4, CLIENT_V4, seconds=1), lab.client, iperf3.NamespaceServer(lab.server))
