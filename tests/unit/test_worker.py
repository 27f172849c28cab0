"""The worker process, in network namespaces of its own: two data paths over a veth pair, started and ended for real.

::

    left (192.0.2.1) ---- veth ---- right (192.0.2.2)      outer, UDP 4500
    esp0 10.7.1.1                   esp0 10.7.2.1          inner, IPv4 and IPv6
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from dataplane import find_suite
from gateway.errors import GwbenchError, MeasurementError, UnusableError
from gateway.keys import FreshKeys
from gateway.node.base import PathConfig, SaConfig
from gateway.node.client import NodeClient
from gateway.node.local import start_node
from gateway.node.process import CLONE_NEWNET, _libc
from gateway.node.protocol import PROTOCOL_VERSION

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)


def in_namespace(fd: int, action: Callable[[], object]) -> None:
    """Runs ``action`` in a child process inside the namespace; its exit status is checked."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if _libc.setns(fd, CLONE_NEWNET) == 0:
                action()
                status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


def new_namespace() -> int:
    """Descriptor of a fresh network namespace that nothing else holds."""
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = _libc.unshare(CLONE_NEWNET)
        os.write(write_fd, b"x" if status == 0 else b"-")
        time.sleep(60)
        os._exit(0)
    assert os.read(read_fd, 1) == b"x"
    fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(read_fd)
    os.close(write_fd)
    return fd


@pytest.fixture
def namespaces() -> Iterator[tuple[int, int]]:
    left, right = new_namespace(), new_namespace()

    def links() -> None:
        with IPRoute() as netlink:
            netlink.link("add", ifname="wan", kind="veth", peer={"ifname": "wan", "net_ns_fd": right})

    def address(text: str) -> Callable[[], None]:
        def configure() -> None:
            with IPRoute() as netlink:
                for name in ("lo", "wan"):
                    netlink.link("set", ifname=name, state="up")
                index = netlink.link_lookup(ifname="wan")[0]
                netlink.addr("add", index=index, address=text, prefixlen=24)

        return configure

    in_namespace(left, links)
    in_namespace(left, address("192.0.2.1"))
    in_namespace(right, address("192.0.2.2"))
    yield left, right
    os.close(left)
    os.close(right)


@pytest.fixture
def nodes(namespaces: tuple[int, int]) -> Iterator[tuple[NodeClient, NodeClient]]:
    pair = start_node("left", netns_fd=namespaces[0]), start_node("right", netns_fd=namespaces[1])
    yield pair
    for node in pair:
        node.close()


LEFT = PathConfig(
    local="192.0.2.1", addresses=("10.7.1.1/24", "fd00:7:1::1/64"), routes=("10.7.2.0/24", "fd00:7:2::/64")
)
RIGHT = PathConfig(
    local="192.0.2.2", addresses=("10.7.2.1/24", "fd00:7:2::1/64"), routes=("10.7.1.0/24", "fd00:7:1::/64")
)
ENDS = ("192.0.2.1", "192.0.2.2")


def add_sas(nodes: tuple[NodeClient, NodeClient], suite: str) -> None:
    for spi, sender in ((0x1001, 0), (0x1002, 1)):
        with FreshKeys(find_suite(suite)) as keys:
            for end, direction in ((1 - sender, "in"), (sender, "out")):
                implementation = nodes[end].add_sa(
                    SaConfig(
                        spi=spi,
                        direction=direction,
                        suite=suite,
                        local=ENDS[end],
                        peer=ENDS[1 - end],
                        peer_port=4500,
                        local_port=4500,
                        enc_key=keys.enc_key,
                        auth_key=keys.auth_key,
                        salt=keys.salt,
                    )
                )
                assert "/gwbench" in implementation
        nodes[sender].set_policy(spi)


def exchange(
    namespaces: tuple[int, int], family: socket.AddressFamily, server: str, payload: bytes, n: int, tos: int = 0
) -> None:
    """Sends n datagrams from left to right and expects each back."""
    sockets = []
    for fd in namespaces:
        sockets.append(_socket_in(fd, family))
    client, listener = sockets
    with client, listener:
        listener.bind((server, 5000))
        for sock in sockets:
            sock.settimeout(5)
            if tos:
                sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        for _ in range(n):
            client.sendto(payload, (server, 5000))
            data, source = listener.recvfrom(65536)
            assert data == payload
            listener.sendto(data, source)
            assert client.recv(65536) == payload


def _socket_in(fd: int, family: socket.AddressFamily, kind: int = socket.SOCK_DGRAM) -> socket.socket:
    """A socket stays in the namespace in which it was made."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        assert _libc.setns(fd, CLONE_NEWNET) == 0
        return socket.socket(family, kind)
    finally:
        assert _libc.setns(here, CLONE_NEWNET) == 0
        os.close(here)


def test_hello_before_anything_is_opened(nodes: tuple[NodeClient, NodeClient]) -> None:
    hello = nodes[0].hello()
    assert hello.kind == "worker" and hello.protocol == PROTOCOL_VERSION
    assert {"aes256-sha256", "aes128gcm16", "null"} <= set(hello.suites)
    generic = [impl for impl in hello.implementations if impl.tag == "generic"]
    assert generic and all(impl.checked == "passed" for impl in generic)
    with pytest.raises(UnusableError) as caught:
        nodes[0].counters()
    assert caught.value.code == "no-path"


@pytest.mark.parametrize("suite", ["aes256-sha256", "aes128gcm16"])
def test_packets_cross_and_are_counted(
    namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient], suite: str
) -> None:
    for node, config in zip(nodes, (LEFT, RIGHT), strict=True):
        info = node.open_path(config)
        assert info.tun == "esp0" and info.port == 4500 and info.queues == 1
    add_sas(nodes, suite)
    exchange(namespaces, socket.AF_INET, "10.7.2.1", b"four" * 100, 5)
    exchange(namespaces, socket.AF_INET6, "fd00:7:2::1", b"six" * 100, 5)
    left, right = (node.counters() for node in nodes)
    for counters, out_spi, in_spi in ((left, 0x1001, 0x1002), (right, 0x1002, 0x1001)):
        by_spi = {sa.spi: sa for sa in counters.sas}
        assert by_spi[out_spi].direction == "out" and by_spi[in_spi].direction == "in"
        for sa in by_spi.values():
            assert (sa.packets, sa.seq, sa.drops, sa.state) == (10, 10, {}, "valid")
            assert sa.bytes == 5 * (20 + 8 + 400) + 5 * (40 + 8 + 300)
            assert sa.implementation
        assert counters.drops == {}
        assert counters.loop["alive"] == 1
        assert counters.loop["tun_reads"] == counters.loop["udp_send_packets"] == 10
        assert counters.cpu_ns > 0
        tun = counters.interfaces["esp0"]
        assert (tun["rx_packets"], tun["tx_packets"], tun["tx_dropped"]) == (10, 10, 0)
    for node in nodes:
        node.health()


def test_an_sa_that_was_deleted_lets_nothing_through(
    namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient]
) -> None:
    nodes[0].open_path(LEFT)
    nodes[1].open_path(RIGHT)
    add_sas(nodes, "aes128gcm16")
    exchange(namespaces, socket.AF_INET, "10.7.2.1", b"x", 1)
    (reading,) = (sa for sa in nodes[1].counters().sas if sa.spi == 0x1001)
    assert reading.packets == 1
    assert nodes[1].delete_sa(0x1001, "in") == reading
    with _socket_in(namespaces[0], socket.AF_INET) as sock:
        sock.sendto(b"x", ("10.7.2.1", 5000))
    deadline = time.monotonic() + 5
    while not nodes[1].counters().drops and time.monotonic() < deadline:
        time.sleep(0.01)
    assert nodes[1].counters().drops == {"in_no_states": 1}
    with pytest.raises(UnusableError, match="SA 0x1001"):
        nodes[1].delete_sa(0x1001, "in")


def test_a_deleted_tun_is_reported_by_health_and_counters(
    namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient]
) -> None:
    info = nodes[0].open_path(LEFT)

    def delete() -> None:
        with IPRoute() as netlink:
            netlink.link("del", index=info.ifindex)

    in_namespace(namespaces[0], delete)
    deadline = time.monotonic() + 5
    error: GwbenchError | None = None
    while error is None and time.monotonic() < deadline:
        try:
            nodes[0].health()
            time.sleep(0.01)
        except GwbenchError as caught:
            error = caught
    assert isinstance(error, MeasurementError) and error.code == "path-ended"
    assert nodes[0].counters().loop["alive"] == 0


def refused(node: NodeClient, config: PathConfig) -> UnusableError:
    with pytest.raises(UnusableError) as caught:
        node.open_path(config)
    return caught.value


def test_bad_paths_are_refused_with_one_line_and_can_be_tried_again(
    nodes: tuple[NodeClient, NodeClient], namespaces: tuple[int, int]
) -> None:
    node = nodes[0]
    assert "warp" in refused(node, PathConfig(local="192.0.2.1", offload=("warp",))).message
    assert "address" in refused(node, PathConfig(local="192.0.2.1", addresses=("300.1.1.1/24",))).message
    assert "more than 64 queues" in refused(node, PathConfig(local="192.0.2.1", queues=65)).message
    assert refused(node, PathConfig(local="192.0.2.77")).message  # not an address of this namespace
    with _socket_in(namespaces[0], socket.AF_INET) as sock:
        sock.bind(("192.0.2.1", 4500))
        error = refused(node, LEFT)
        assert "in use" in error.message and "192.0.2.1, UDP port 4500" in error.hint
    node.open_path(LEFT)
    with pytest.raises(UnusableError, match="open already"):
        node.open_path(LEFT)


def test_bad_sas_are_refused_by_name(nodes: tuple[NodeClient, NodeClient]) -> None:
    nodes[0].open_path(LEFT)
    base = {
        "spi": 0x1001,
        "direction": "out",
        "local": ENDS[0],
        "peer": ENDS[1],
        "peer_port": 4500,
        "local_port": 4500,
        "enc_key": bytes(16),
        "auth_key": b"",
        "salt": bytes(4),
        "suite": "aes128gcm16",
    }
    for change, words in (
        ({"suite": "rot13"}, "aes128gcm16"),
        ({"implementation": "abacus"}, "abacus"),
        ({"enc_key": bytes(15)}, "16 bytes"),
        ({"salt": b""}, "4 bytes"),
        ({"suite": "null", "enc_key": b"", "salt": b""}, "null"),
        ({"mode": "sideways"}, "sideways"),
    ):
        with pytest.raises(UnusableError, match=words):
            nodes[0].add_sa(SaConfig(**{**base, **change}))  # type: ignore[arg-type]
    assert nodes[0].counters().sas == ()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_the_worker_ends_with_its_parent_and_leaves_no_tun(namespaces: tuple[int, int]) -> None:
    code = (
        "import sys, time\n"
        "from gateway.node.local import start_node\n"
        "from gateway.node.base import PathConfig\n"
        "node = start_node('left', netns_fd=int(sys.argv[1]))\n"
        "node.open_path(PathConfig(local='192.0.2.1'))\n"
        "print(node.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(namespaces[0])], stdout=subprocess.PIPE, pass_fds=(namespaces[0],)
    )
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert os.getsid(worker) == worker, "Ctrl-C must not reach it"
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not alive(worker), "the worker outlived its parent")

    def no_tun() -> None:
        with IPRoute() as netlink:
            assert not netlink.link_lookup(ifname="esp0")

    in_namespace(namespaces[0], no_tun)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(namespaces: tuple[int, int], number: signal.Signals) -> None:
    node = start_node("left", netns_fd=namespaces[0])
    node.open_path(LEFT)
    os.kill(node.pid, number)
    assert node._process.wait(10) == 0
    node.close()


def test_secrets_are_out_of_reach_of_the_same_user(nodes: tuple[NodeClient, NodeClient]) -> None:
    nodes[0].hello()
    pid = nodes[0].pid
    assert Path(f"/proc/{pid}/limits").read_text().split("Max core file size")[1].split()[0] == "0"
    # A process that may not be dumped: its /proc files belong to root whatever user it runs as.
    assert Path(f"/proc/{pid}").stat().st_uid == 0
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    assert arguments[1:4] == [b"-P", b"-m", b"gateway.node.worker"]


def test_a_kernel_without_esp_names_the_module(namespaces: tuple[int, int]) -> None:
    node = start_node("kernel", "kernel", netns_fd=namespaces[0])
    try:
        hello = node.hello()
        assert hello.kind == "kernel" and hello.suites == ()
        with pytest.raises(UnusableError) as caught:
            node.open_path(LEFT)
        lines = {
            "kernel-lacks": ("module esp4 is missing", "module xfrm_user is missing"),
            "not-supported": ("cannot drive it yet",),
        }
        assert any(words in caught.value.message for words in lines[caught.value.code])
    finally:
        node.close()


def test_unknown_kinds_of_node_are_refused() -> None:
    with pytest.raises(UnusableError, match="worker, kernel"):
        start_node("x", "hamster")
