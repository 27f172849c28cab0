"""However it ends - Ctrl-C, SIGTERM, SIGKILL, a part that dies - it says one line and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from .conftest import Run

_SHORT = ("-t", "4", "--repeats", "0", "--rounds", "1")
LONG = ("iperf", "--lab", "--no-save", *_SHORT, "--suite", "aes128gcm16", "--impl", "auto")


def assert_one_line(stderr: str, *needles: str) -> None:
    lines = stderr.splitlines()
    assert len(lines) == 1, stderr
    assert lines[0].startswith("gwbench: ")
    for needle in needles:
        assert needle in lines[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after_s", [0.25, 0.5, 0.8, 1.2, 2.5, 3.2, 3.6, 4.5])
def test_a_signal_at_any_moment(start: Callable[..., Run], number: signal.Signals, after_s: float) -> None:
    run = start(*LONG, "-t", "1")
    time.sleep(after_s)
    run.process.send_signal(number)
    finished = run.wait(20)
    if finished.status in (-signal.SIGINT, -signal.SIGTERM) and not finished.stdout:
        assert after_s < 0.3  # while the interpreter itself was starting
        return
    assert finished.status == 130, finished.stderr
    assert_one_line(finished.stderr, "interrupted")


def test_an_impatient_user(start: Callable[..., Run]) -> None:
    run = start(*LONG)
    run.wait_for_line("round 1/1: null")
    for _ in range(5):
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    finished = run.wait(20)
    assert finished.status == 130
    assert_one_line(finished.stderr, "interrupted")


@pytest.mark.parametrize("stage", ["round 1/1: plain", "round 1/1: null", "checking", "CPU s/GB"])
def test_kill_leaves_nothing(start: Callable[..., Run], stage: str) -> None:
    run = start(*LONG, "-t", "1")
    run.wait_for_line(stage)
    run.process.kill()
    run.wait(5)
    # The fixture sees whether nodes, iperf3 and with them namespaces and TUNs are gone.


@pytest.mark.parametrize("index", [0, 1])
def test_a_gateway_that_is_killed(start: Callable[..., Run], index: int) -> None:
    run = start(*LONG)
    run.wait_for_line("checking every packet length")
    time.sleep(2)
    workers = sorted(run.children("gateway.node.worker"))
    assert len(workers) == 2
    os.kill(workers[index], signal.SIGKILL)
    finished = run.wait(20)
    assert finished.status == 1
    assert_one_line(finished.stderr, "killed by signal 9")


@pytest.mark.parametrize(("which", "says"), [("-s -1", "iperf3"), ("-c 10.77", "iperf3 was killed by signal 9")])
def test_iperf3_that_is_killed(start: Callable[..., Run], which: str, says: str) -> None:
    run = start(*LONG)
    run.wait_for_line("->")
    victims = run.children(which)
    assert len(victims) == 1
    os.kill(victims[0], signal.SIGKILL)
    finished = run.wait(30)
    assert finished.status == 1
    assert_one_line(finished.stderr, says)


@pytest.mark.parametrize("interface", ["esp0", "wan"])
def test_a_network_that_is_taken_away(start: Callable[..., Run], interface: str) -> None:
    """What deleting a namespace does to the rest: its interfaces go."""
    from gateway.lab import syscalls

    run = start(*LONG)
    run.wait_for_line("checking every packet length")
    time.sleep(2)
    worker = run.children("gateway.node.worker")[0]
    child = os.fork()
    if child == 0:
        fd = os.open(f"/proc/{worker}/ns/net", os.O_RDONLY)
        syscalls.setns(fd, syscalls.CLONE_NEWNET)
        from pyroute2 import IPRoute

        with IPRoute() as ip:
            ip.link("del", index=ip.link_lookup(ifname=interface)[0])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    finished = run.wait(40)
    assert finished.status == 1, finished.stdout
    assert_one_line(finished.stderr)
