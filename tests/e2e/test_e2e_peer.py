"""A router over real ssh, OpenSSH's server and dropbear: measured, and afterwards as it was before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute

from tests.gwnode_build import build

from .conftest import COMMAND, Finished, Run
from .router import PC, ROUTER, ROUTER6, Router

ONE_SUITE = ("--suite", "aes128gcm16", "--repeats", "0", "--rounds", "1", "--no-save")
SHORT = (*ONE_SUITE, "-t", "1")
GONE_S = 10.0
"""Within which nothing may be left at either end, whatever failed."""


@pytest.fixture(scope="session")
def gwnode() -> str:
    return str(build())


@pytest.fixture(scope="module", params=["sshd", "dropbear"])
def router(request: pytest.FixtureRequest) -> Iterator[Router]:
    made = Router(request.param)
    yield made
    made.close()


@pytest.fixture(scope="module")
def fragile() -> Iterator[Router]:
    """For tests that break something and put it back."""
    made = Router("sshd")
    yield made
    made.close()


Gwbench = Callable[..., Run]


@pytest.fixture
def gwbench(start: Callable[..., Run], gwnode: str) -> Gwbench:
    def run(router: Router, *arguments: str, to: str = f"root@{ROUTER}") -> Run:
        return start("iperf", "--peer", to, "--gwnode", gwnode, *arguments, prefix=router.on_pc(), command=COMMAND)

    return run


def refused(run: Run, *needles: str) -> str:
    """Exit 2, one line, and it says these."""
    finished = run.wait(60)
    assert finished.status == 2, finished.stdout + finished.stderr
    assert len(finished.stderr.splitlines()) == 1, finished.stderr
    for needle in needles:
        assert needle in finished.stderr
    return finished.stderr


def pc_listing(router: Router) -> str:
    done = subprocess.run(
        [
            "nsenter",
            f"--net=/proc/self/fd/{router.pc.fd}",
            "sh",
            "-c",
            "ip -o link | sed 's/ qdisc.*//'; ip -o addr; ip route; ip -6 route; ip rule",
        ],
        capture_output=True,
        text=True,
        pass_fds=(router.pc.fd,),
        check=True,
    )
    return done.stdout


def assert_complete(finished: Finished, document: dict[str, Any], topology: str, families: int = 2) -> None:
    assert finished.status == 0, finished.stdout + finished.stderr
    assert document["valid"] is True
    assert document["lab"]["topology"] == topology
    assert document["peer"]["name"] in (ROUTER, ROUTER6)
    roles = [row["role"] for row in document["results"]]
    assert roles == ["plain", "generic", "accelerated"]
    for row in document["results"]:
        assert row["valid"] is True and row["mbit_per_s"]["median"] > 0
        assert row["lower_bound"] is (topology == "endpoint" and row["role"] != "plain")
        if row["role"] == "plain":
            continue
        mtu = row["inner_mtu_bytes"]
        one_way = 2 * (mtu - 28 + 1) + 100 + (families - 1) * (2 * (mtu - 48 + 1) + 100)
        assert row["gate"]["packets"] == one_way * (2 if topology == "one-arm" else 1)
        sa = row["sa"]
        assert sa["sealed_packets"] >= sa["packets"] > 100
        assert set(row["gateways"]) == {"this PC", document["peer"]["name"]}
        assert all(gateway["cpu_s_per_gb"]["median"] > 0 for gateway in row["gateways"].values())


def measure(
    gwbench: Gwbench, router: Router, path: Path, *arguments: str, **more: str
) -> tuple[Finished, dict[str, Any]]:
    finished = gwbench(router, *SHORT, "--json", str(path), *arguments, **more).wait(150)
    return finished, json.loads(path.read_text()) if path.exists() else {}


def test_one_arm(gwbench: Gwbench, router: Router, tmp_path: Path) -> None:
    """The default on one cable; the router is afterwards what it was."""
    before, here = router.listing(), pc_listing(router)
    finished, document = measure(gwbench, router, tmp_path / "r.json")
    assert_complete(finished, document, "one-arm")
    assert router.listing() == before
    assert pc_listing(router) == here
    assert router.gwnodes() == []
    for step in ("reach", "Router", "Duration", "bring", "firewall", "path", "checking every packet length"):
        assert step in finished.stdout, step
    assert finished.stdout.index("Duration") < finished.stdout.index("bring")
    assert finished.stdout.isascii()


def test_endpoint(gwbench: Gwbench, router: Router, tmp_path: Path) -> None:
    """iperf3 on the router: rows are marked as lower bounds."""
    before = router.listing()
    finished, document = measure(gwbench, router, tmp_path / "r.json", "--topology", "endpoint")
    assert_complete(finished, document, "endpoint")
    assert ">= " in finished.stdout and "lower bound" in finished.stdout
    assert router.listing() == before


def test_over_ipv6_and_reverse(gwbench: Gwbench, fragile: Router, tmp_path: Path) -> None:
    finished, document = measure(gwbench, fragile, tmp_path / "r.json", "-R", to=f"root@{ROUTER6}")
    assert_complete(finished, document, "one-arm")
    assert document["lab"]["outer"] == "ipv6"
    assert {row["direction"] for row in document["results"]} == {"reverse"}


def test_bare_esp_and_udp_load(gwbench: Gwbench, fragile: Router, tmp_path: Path) -> None:
    finished, document = measure(
        gwbench, fragile, tmp_path / "r.json", "--encap", "esp", "-u", "-b", "20M", "--topology", "endpoint"
    )
    assert_complete(finished, document, "endpoint")
    assert document["lab"]["encap"] == "none"


# ---- before anything is changed ----


def test_the_plan_comes_first_and_somebody_must_agree(gwbench: Gwbench, fragile: Router) -> None:
    before = fragile.listing()
    dry = gwbench(fragile, *SHORT, "--dry-run").wait(60)
    assert dry.status == 0, dry.stderr
    assert "Nothing was changed" in dry.stdout and "198.1" in dry.stdout and "router busy about" in dry.stdout
    fragile.inside("ip", "route", "add", "default", "via", PC)
    try:
        words = refused(gwbench(fragile, *SHORT), "default route", "--yes")
        assert "--dry-run" in words
    finally:
        fragile.inside("ip", "route", "del", "default")
    assert fragile.listing() == before
    assert fragile.gwnodes() == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--inner", "10.1.0.0/24"), "198.18.0.0/15"),
        (("--inner", "198.18.0.0/30"), "too small"),
        (("--topology", "client"), "one-arm, endpoint"),
        (("--suite", "null"), "does not encrypt"),
        (("--remote-dir", "/nowhere"), "/nowhere"),
        (("--gwnode", "/bin/nothing"), "/bin/nothing"),
        (("--gwnode", "/etc/hostname"), "no program for"),
        (("--lab",), "exclude"),
    ],
)
def test_what_cannot_be(gwbench: Gwbench, fragile: Router, arguments: tuple[str, ...], says: str) -> None:
    refused(gwbench(fragile, *SHORT, *arguments), says)


def test_addresses_in_use_are_left_alone(gwbench: Gwbench, fragile: Router) -> None:
    """198.18.0.0/16 is routed there: what is chosen lies in the other half, and naming a part of it is refused."""
    fragile.inside("ip", "route", "add", "198.18.0.0/16", "via", PC)
    try:
        dry = gwbench(fragile, *SHORT, "--dry-run").wait(60)
        assert "198.19." in dry.stdout and "198.18." not in dry.stdout
        refused(gwbench(fragile, *SHORT, "--inner", "198.18.7.0/24"), "in use")
    finally:
        fragile.inside("ip", "route", "del", "198.18.0.0/16")


def test_host_keys_are_never_relaxed(gwbench: Gwbench, fragile: Router) -> None:
    try:
        fragile.trust(None)
        refused(gwbench(fragile, *SHORT), "does not know the host key", "fingerprint")
        fragile.trust(fragile.folder / "user.pub")
        refused(gwbench(fragile, *SHORT), "is another one than ssh knows", "ssh-keygen -R")
    finally:
        fragile.trust(fragile.folder / "host.pub")


@pytest.mark.parametrize(
    ("to", "says"),
    [
        (f"root@{ROUTER}:2222", "does not run an ssh server"),
        ("root@no-such-router.invalid", "no machine is called"),
        (f"nobody@{ROUTER}", "refuses the login"),
        ("-oProxyCommand=true", "is no machine"),
    ],
)
def test_who_cannot_be_reached(gwbench: Gwbench, fragile: Router, to: str, says: str) -> None:
    refused(gwbench(fragile, *SHORT, f"--peer={to}"), says)


@pytest.mark.parametrize(
    ("breaking", "mending", "says"),
    [
        ("mount -t tmpfs -o noexec tmpfs /tmp", "umount /tmp", ("noexec", "remount,exec")),
        ("mount -t tmpfs -o ro tmpfs /tmp", "umount /tmp", ("read-only", "--remote-dir")),
        ("mount -t tmpfs -o size=100k tmpfs /tmp", "umount /tmp", ("full", "KB free")),
        ("mount -t tmpfs tmpfs /dev/net", "umount /dev/net", ("no TUN device", "modprobe tun")),
        ("mount --bind /dev/null /usr/bin/iperf3", "umount /usr/bin/iperf3", ("no iperf3", "apt-get install iperf3")),
    ],
    ids=["noexec", "read-only", "full", "no-tun", "no-iperf3"],
)
def test_what_the_router_lacks(
    gwbench: Gwbench, fragile: Router, breaking: str, mending: str, says: tuple[str, ...]
) -> None:
    fragile.inside(*breaking.split())
    try:
        refused(gwbench(fragile, *SHORT, "--topology", "endpoint"), *says)
    finally:
        fragile.inside(*mending.split())


# ---- while it runs ----


def wait_until(what: Callable[[], bool], within_s: float, words: str) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, words
        time.sleep(0.1)


def ssh_children(run: Run) -> list[int]:
    return run.children("gwnode --stdio")


def link(router: Router, state: str) -> None:
    with router.pc.entered(), IPRoute() as ip:
        ip.link("set", index=ip.link_lookup(ifname="eth0")[0], state=state)


FAILURES = [
    (topology, failure)
    for topology in ("one-arm", "endpoint")
    for failure in ("ssh", "link", "gwnode", "gwbench", "interrupt")
]


@pytest.mark.parametrize(("topology", "failure"), FAILURES)
def test_nothing_is_left_when_it_fails(gwbench: Gwbench, gwnode: str, failure: str, topology: str) -> None:
    """In mid-run; then the cable is put back, and both ends are as before within ten seconds."""
    router = Router("sshd")
    try:
        before, here = router.listing(), pc_listing(router)
        run = gwbench(router, *ONE_SUITE, "-t", "6", "--impl", "accelerated", "--topology", topology)
        run.wait_for_line("checking every packet length", 90)
        wait_until(lambda: "->" in run.text().partition("checking")[2], 60, "iperf3 does not run")
        assert router.gwnodes() and router.listing() != before
        if failure == "ssh":
            for pid in ssh_children(run):
                os.kill(pid, signal.SIGKILL)
        elif failure == "link":
            link(router, "down")
        elif failure == "gwnode":
            for pid in router.gwnodes():
                if b"--stdio" in Path(f"/proc/{pid}/cmdline").read_bytes() and is_data_path(pid):
                    os.kill(pid, signal.SIGKILL)
        elif failure == "gwbench":
            run.process.kill()
        else:
            run.process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        wait_until(lambda: not router.gwnodes(), GONE_S, "gwnode lives on")
        wait_until(lambda: run.process.poll() is not None, begun + GONE_S - time.monotonic(), "gwbench lives on")
        finished = run.wait(1)
        if failure == "link":
            link(router, "up")
        wait_until(lambda: comparable(router.listing()) == comparable(before), 3, f"{before}\n---\n{router.listing()}")
        if failure != "link":
            assert pc_listing(router) == here
        run.assert_nothing_left()
        expected = {"gwbench": -signal.SIGKILL, "interrupt": 130}.get(failure, 1)
        assert finished.status == expected, finished.stderr
        if failure != "gwbench":
            assert len(finished.stderr.splitlines()) == 1, finished.stderr
    finally:
        router.close()


def comparable(listing: str) -> list[str]:
    """A link that was down has lost some routes of its own for a moment, and says so."""
    return sorted(line for line in listing.splitlines() if "linkdown" not in line and "br-lan" not in line)


def is_data_path(pid: int) -> bool:
    """Not the shell around it, nor the watchdog, which has a session of its own."""
    return os.path.basename(os.readlink(f"/proc/{pid}/exe")).startswith("gwnode") and bool(
        len(os.listdir(f"/proc/{pid}/task")) > 1
    )


def test_a_second_one_is_refused_politely(gwbench: Gwbench, fragile: Router) -> None:
    first = gwbench(fragile, *ONE_SUITE, "-t", "8", "--impl", "accelerated")
    first.wait_for_line("checking every packet length", 90)
    second = gwbench(fragile, *SHORT)
    words = refused(second, "another gwnode", ROUTER)
    assert "process" in words
    finished = first.wait(90)
    assert finished.status == 0, finished.stderr
