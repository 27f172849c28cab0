"""gwnode, as a binary of its own: it must answer exactly as the worker does, and carry packets to one.

The binary is built here by the host's gcc from the sources of ``make cross``. In one pair of namespaces (drawn in
``test_worker.py``) a gwnode stands at the left end and a worker at the right.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import test_worker as lab

from gateway.errors import GwbenchError, MeasurementError, UnusableError
from gateway.node.base import NodeCounters, PathConfig, SaConfig
from gateway.node.client import NodeClient
from gateway.node.codec import from_dict
from gateway.node.local import start_node
from gateway.node.protocol import MAX_LINE_BYTES
from tests.gwnode_build import build

ROOT = Path(__file__).resolve().parents[2]
namespaces = lab.namespaces  # the fixture

needs_tun = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)


@pytest.fixture(scope="module")
def gwnode() -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return build()


def answers(command: list[str], *lines: bytes) -> list[dict[str, Any]]:
    """What a node says to raw lines, which end with end of file."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=b"".join(lines), capture_output=True, timeout=120, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


SA = (
    b'{"id":1,"op":"add_sa","spi":4097,"direction":"out","suite":"aes128gcm16","local":"192.0.2.1","peer":"192.0.2.2",'
    b'"peer_port":4500,"local_port":4500,"enc_key":"00112233445566778899aabbccddeeff","auth_key":"","salt":"01020304"'
)

# Everything that needs no path: one line each, answered alike by both.
LINES = [
    b"nonsense\n",
    b"[1]\n",
    b"17\n",
    b'"text"\n',
    b"{}\n",
    b"\n",
    b'{"id":1,"op":"hello","protocol":1}x\n',
    b'{"id":1,"op":"hello","protocol":1,}\n',
    b'{"id":01,"op":"health"}\n',
    b'{"id":1 "op":"health"}\n',
    b'{"id":1,"op":"health\xff"}\n',
    b'{"id":1,"op":"hea\tlth"}\n',
    b'{"id":2}\n',
    b'{"id":3,"op":7}\n',
    b'{"id":4,"op":"fly"}\n',
    b'{"id":"five","op":"health"}\n',
    b'{"id":null,"op":"health"}\n',
    b'  { "op" : "heal\\u0074h" , "id" : 6 }  \r\n',
    b'{"id":7,"op":"health","extra":1}\n',
    b'{"id":7,"op":"counters","extra":{"deep":[1,2.5e3,-0,true,null,"\\u00e9\\ud83d\\ude00"]}}\n',
    b'{"id":8,"op":"hello"}\n',
    b'{"id":8,"op":"hello","protocol":2}\n',
    b'{"id":8,"op":"hello","protocol":"1"}\n',
    b'{"id":9,"op":"open_path"}\n',
    b'{"id":9,"op":"open_path","local":1}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","mtu":"big"}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","mtu":true}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","mtu":1400.0}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","udp_checksum":1}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","routes":"10.0.0.0/8"}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","routes":[1]}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","warp":9}\n',
    b'{"id":9,"op":"open_path","local":"192.0.2.1","offload":["warp"]}\n',
    b'{"id":10,"op":"delete_sa","spi":1}\n',
    b'{"id":10,"op":"delete_sa","spi":"1","direction":"in"}\n',
    b'{"id":10,"op":"delete_sa","spi":4097,"direction":"in"}\n',
    b'{"id":11,"op":"set_policy"}\n',
    b'{"id":11,"op":"set_policy","spi":4097,"src":5}\n',
    b'{"id":11,"op":"set_policy","spi":4097}\n',
    b'{"id":12,"op":"counters"}\n',
    b'{"id":13,"op":"health"}\n',
    SA + b"}\n",
    SA + b',"esn":1}\n',
    SA + b',"turbo":true}\n',
    SA.replace(b'"out"', b'"up"') + b"}\n",
    SA.replace(b'"salt":"01020304"', b'"salt":"0102030"') + b"}\n",
    SA.replace(b'"salt":"01020304"', b'"salt":"saltsalt"') + b"}\n",
    SA.replace(b',"salt":"01020304"', b"") + b"}\n",
    SA.replace(b'"spi":4097,', b"") + b"}\n",
]


def test_it_answers_every_line_as_the_worker_does(gwnode: Path) -> None:
    ours = answers([str(gwnode), "--stdio"], *LINES)
    theirs = answers([sys.executable, "-P", "-m", "gateway.node.worker"], *LINES)
    assert len(ours) == len(theirs) == len(LINES)
    for line, mine, other in zip(LINES, ours, theirs, strict=True):
        assert (mine["ok"], mine["error"]["code"]) == (other["ok"], other["error"]["code"]), (line, mine, other)
        assert mine["error"]["message"] and set(mine["error"]) == {"code", "message", "hint"}
        if other["id"] is not None:  # a line that is no JSON may still have shown its id
            assert mine["id"] == other["id"], (line, mine)
    assert {answer["error"]["code"] for answer in ours} == {
        "bad-request",
        "bad-protocol",
        "unknown-op",
        "no-path",
        "error",
    }


def test_hello_says_the_same_of_this_processor(gwnode: Path) -> None:
    hello = b'{"id":1,"op":"hello","protocol":1,"from":"the future"}\n'
    mine = answers([str(gwnode), "--stdio"], hello)[0]["result"]
    other = answers([sys.executable, "-P", "-m", "gateway.node.worker"], hello)[0]["result"]
    assert mine.pop("kind") == "gwnode" and other.pop("kind") == "worker"
    # Libraries of this machine are found by the worker's C library, and may not be by a static one.
    for result in (mine, other):
        result["implementations"] = [i for i in result["implementations"] if i["driver"].endswith("/gwbench")]
    assert mine == other


def test_close_and_end_of_file_end_it_in_order(gwnode: Path) -> None:
    health = b'{"id":%d,"op":"health"}\n'
    got = answers([str(gwnode), "--stdio"], health % 1, b'{"id":2,"op":"close"}\n', health % 3)
    assert [(a["id"], a["ok"]) for a in got] == [(1, False), (2, True)]
    assert answers([str(gwnode), "--stdio"]) == []
    assert answers([str(gwnode), "--stdio"], b'{"id":4,"op":"hea') == []


def test_a_line_beyond_the_limit_ends_it_and_one_below_does_not(gwnode: Path) -> None:
    got = answers([str(gwnode), "--stdio"], b'{"id":1,"op":"' + b"x" * (3 << 20) + b'"}\n', b"x" * (MAX_LINE_BYTES + 1))
    assert [(a["id"], a["error"]["code"]) for a in got] == [(1, "unknown-op"), (None, "bad-request")]
    assert "too long" in got[1]["error"]["message"]


def test_depth_and_number_of_fields_are_bounded(gwnode: Path) -> None:
    deep = b'{"id":1,"op":"health","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    wide = b'{"id":2,"op":"health",' + b",".join(b'"a%d":1' % i for i in range(1000)) + b"}\n"
    got = answers([str(gwnode), "--stdio"], deep, wide)
    assert [a["error"]["code"] for a in got] == ["bad-request"] * 2


@pytest.mark.parametrize("command", ["doctor", "selftest", "esp"])
def test_commands_for_people(gwnode: Path, command: str) -> None:
    arguments = {"esp": ["aes128gcm16"]}.get(command, [])
    done = subprocess.run([gwnode, command, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii() and not done.stderr
    wanted = {"doctor": "cpu features", "selftest": "gcm(aes)", "esp": "gcm-aes-generic/gwbench"}[command]
    assert wanted in done.stdout


def test_crypto_prints_a_rate_for_each_direction(gwnode: Path) -> None:
    done = subprocess.run([gwnode, "crypto", "ctr(aes)"], capture_output=True, text=True, timeout=120, check=True)
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert ["ctr(aes)", "ctr-aes-generic/gwbench", "128"] in [row[:3] for row in rows]
    assert all(float(row[3]) > 0 and float(row[4]) > 0 for row in rows)


def test_help_and_unknown_commands(gwnode: Path) -> None:
    done = subprocess.run([gwnode, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "usage: gwnode COMMAND" in done.stdout
    for arguments in ([], ["fly"], ["--stdio", "now"]):
        done = subprocess.run([gwnode, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr and not done.stdout


# ---- with a TUN ------------------------------------------------------------------------------------------------------


@pytest.fixture
def nodes(namespaces: tuple[int, int], gwnode: Path) -> Iterator[tuple[NodeClient, NodeClient]]:
    pair = (
        start_node("left", "gwnode", argv=[str(gwnode)], netns_fd=namespaces[0]),
        start_node("right", netns_fd=namespaces[1]),
    )
    yield pair
    for node in pair:
        node.close()


@needs_tun
@pytest.mark.parametrize("suite", ["aes256-sha256", "aes128gcm16"])
def test_packets_cross_to_a_worker_and_are_counted_alike(
    namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient], suite: str
) -> None:
    infos = [node.open_path(config) for node, config in zip(nodes, (lab.LEFT, lab.RIGHT), strict=True)]
    assert replace(infos[0], ifindex=0) == replace(infos[1], ifindex=0)
    lab.add_sas(nodes, suite)
    lab.exchange(namespaces, socket.AF_INET, "10.7.2.1", b"four" * 100, 5)
    lab.exchange(namespaces, socket.AF_INET6, "fd00:7:2::1", b"six" * 100, 5)
    left, right = (node.counters() for node in nodes)
    for counters, out_spi, in_spi in ((left, 0x1001, 0x1002), (right, 0x1002, 0x1001)):
        by_spi = {sa.spi: sa for sa in counters.sas}
        assert by_spi[out_spi].direction == "out" and by_spi[in_spi].direction == "in"
        for sa in by_spi.values():
            assert (sa.packets, sa.seq, sa.drops, sa.state) == (10, 10, {}, "valid")
            assert sa.bytes == 5 * (20 + 8 + 400) + 5 * (40 + 8 + 300)
            assert "/gwbench" in sa.implementation
        assert counters.drops == {} and counters.loop["alive"] == 1
        assert counters.cpu_ns > 0
        tun = counters.interfaces["esp0"]
        assert (tun["rx_packets"], tun["tx_packets"], tun["tx_dropped"]) == (10, 10, 0)
    assert left.loop.keys() == right.loop.keys()
    assert left.stage_cycles.keys() == right.stage_cycles.keys()
    assert left.loops[0].counters.keys() == right.loops[0].counters.keys()
    for counters in (left, right):
        (loop,) = counters.loops
        assert loop.counters == {name: value for name, value in counters.loop.items() if name != "alive"}
        assert (loop.stage_cycles, loop.drops) == (counters.stage_cycles, counters.drops)
        assert 0 < loop.cpu_ns == loop.counters["cpu_ns"]
        assert 0 < loop.counters["started_ns"] < loop.counters["now_ns"]
    assert left.interfaces.keys() == right.interfaces.keys()
    for node, counters in zip(nodes, (left, right), strict=True):
        node.health()
        assert counters.sas_there == 2 and node.counters(sas=False).sas == ()
        assert node.counters(sas=False).sas_there == 2
        for arguments, expected in (({"first": 1}, counters.sas[1:]), ({"max": 1}, counters.sas[:1])):
            assert from_dict(NodeCounters, node._call("counters", arguments)).sas == expected
    for node, counters in zip(nodes, (left, right), strict=True):
        assert tuple(node.delete_sa(sa.spi, sa.direction) for sa in counters.sas) == counters.sas


@needs_tun
def test_several_loops_and_what_an_sa_may_wish(
    namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient]
) -> None:
    """Each loop has a port of its own; TOS and DF of what leaves are as configured, from either kind of node."""
    for node, config in zip(nodes, (lab.LEFT, lab.RIGHT), strict=True):
        info = node.open_path(replace(config, queues=2, fragment="before", clamp_mss=False))
        assert (info.queues, info.port, info.ports) == (2, 4500, (4500, 4501))
    wishes = {0: {"df": "set", "copy_dscp": True}, 1: {"df": "clear", "copy_dscp": False, "ecn": False}}
    for sender in (0, 1):
        ends = {"local": lab.ENDS[sender], "peer": lab.ENDS[1 - sender], "peer_port": 4501, "local_port": 4501}
        keys = {"enc_key": bytes(range(16)), "auth_key": b"", "salt": bytes(4)}
        out = SaConfig(
            spi=0x1001 + sender, direction="out", suite="aes128gcm16", loop=1, **ends, **keys, **wishes[sender]
        )
        back = {"local": ends["peer"], "peer": ends["local"], "direction": "in", "roam": False}
        nodes[1 - sender].add_sa(replace(out, **back))
        nodes[sender].add_sa(out)
        nodes[sender].set_policy(0x1001 + sender)
    with lab._socket_in(namespaces[0], socket.AF_PACKET) as tap:
        tap.bind(("wan", 3))
        tap.settimeout(5)
        lab.exchange(namespaces, socket.AF_INET, "10.7.2.1", b"four", 1, tos=0xB8)
        seen = {}
        while len(seen) < 2:
            packet = tap.recv(2000)
            if packet[0] == 0x45 and packet[9] == 17:
                seen[packet[12:16]] = (packet[1], packet[6] >> 6, packet[20:24])
    ports = (4501).to_bytes(2, "big") * 2
    assert seen == {
        socket.inet_aton(lab.ENDS[0]): (0xB8, 1, ports),
        socket.inet_aton(lab.ENDS[1]): (0, 0, ports),
    }
    for node in nodes:
        counters = node.counters()
        assert [(sa.packets, sa.drops) for sa in counters.sas] == [(1, {}), (1, {})]
        assert [c.counters["udp_send_packets"] for c in counters.loops] == [0, 1]


@needs_tun
def test_what_is_refused_is_refused_by_name(nodes: tuple[NodeClient, NodeClient], namespaces: tuple[int, int]) -> None:
    node = nodes[0]
    for change, words in (
        ({"offload": ("warp",)}, "warp"),
        ({"addresses": ("300.1.1.1/24",)}, "address"),
        ({"addresses": ("10.0.0.1/33",)}, "address"),
        ({"routes": ("10.0.0.0/8", "10.0.0.0/8")}, "route 10.0.0.0/8"),
        ({"local": "192.0.2.77"}, "192.0.2.77|assign"),
        ({"queues": 65}, "more than 64 queues: "),
        ({"fragment": "never"}, "no place of fragmentation is called 'never'"),
    ):
        config = replace(PathConfig(local="192.0.2.1"), **change)  # type: ignore[arg-type]
        assert re.search(words, lab.refused(node, config).message)
    with lab._socket_in(namespaces[0], socket.AF_INET) as sock:
        sock.bind(("192.0.2.1", 4500))
        error = lab.refused(node, lab.LEFT)
        assert "in use" in error.message and "192.0.2.1, UDP port 4500" in error.hint
    node.open_path(lab.LEFT)
    assert "open already" in lab.refused(node, lab.LEFT).message
    base: dict[str, Any] = {
        "spi": 0x1001,
        "direction": "out",
        "local": lab.ENDS[0],
        "peer": lab.ENDS[1],
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
        ({"enc_key": bytes(500)}, "not 500"),
        ({"salt": b""}, "4 bytes"),
        ({"suite": "null", "enc_key": b"", "salt": b""}, "null"),
        ({"mode": "sideways"}, "sideways"),
        ({"selector_src": "nowhere"}, "nowhere"),
        ({"loop": 1}, "no loop of this number"),
        ({"df": "maybe"}, "unknown value 'maybe'"),
        ({"peer": "2001:db8::1", "local": ""}, "IP version"),
    ):
        with pytest.raises(UnusableError, match=words):
            node.add_sa(SaConfig(**{**base, **change}))
    assert node.counters().sas == ()
    node.add_sa(SaConfig(**base))
    with pytest.raises(UnusableError, match=r"SA 0x1001: .*SPI"):
        node.add_sa(SaConfig(**base))
    node.delete_sa(0x1001, "out")
    with pytest.raises(UnusableError, match="SA 0x1001"):
        node.delete_sa(0x1001, "out")


@needs_tun
def test_a_deleted_tun_is_reported(namespaces: tuple[int, int], nodes: tuple[NodeClient, NodeClient]) -> None:
    info = nodes[0].open_path(lab.LEFT)

    def delete() -> None:
        with lab.IPRoute() as netlink:
            netlink.link("del", index=info.ifindex)

    lab.in_namespace(namespaces[0], delete)

    def ended() -> bool:
        try:
            nodes[0].health()
        except GwbenchError as error:
            assert isinstance(error, MeasurementError) and error.code == "path-ended"
            return True
        return False

    lab.wait_until(ended, "health stays good")
    assert nodes[0].counters().loop["alive"] == 0


def no_tun() -> None:
    with lab.IPRoute() as netlink:
        assert not netlink.link_lookup(ifname="esp0")


@needs_tun
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, "end of file", "dead reader"])
def test_it_ends_cleanly(namespaces: tuple[int, int], gwnode: Path, end: signal.Signals | str) -> None:
    node = start_node("left", "gwnode", argv=[str(gwnode)], netns_fd=namespaces[0])
    node.open_path(lab.LEFT)
    process = node._process
    if isinstance(end, signal.Signals):
        os.kill(node.pid, end)
    elif end == "end of file":
        assert process.stdin
        process.stdin.close()
    else:
        assert process.stdout and process.stdin
        process.stdout.close()
        process.stdin.write(b'{"id":9,"op":"health"}\n')
        process.stdin.flush()
    assert process.wait(10) == 0
    lab.in_namespace(namespaces[0], no_tun)
    node.close()


@needs_tun
def test_secrets_are_out_of_reach_and_memory_is_small(nodes: tuple[NodeClient, NodeClient]) -> None:
    nodes[0].open_path(lab.LEFT)
    pid = nodes[0].pid
    assert Path(f"/proc/{pid}/limits").read_text().split("Max core file size")[1].split()[0] == "0"
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    assert arguments[1:] == [b"--stdio"]
    # Resident, glibc included; the budget on a router is 8 MB.
    resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    assert resident < 8 << 20


def memory_of(pid: int) -> bytes:
    """Everything that is readable and private."""
    found = bytearray()
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, mode = line.split()[:2]
            if not mode.startswith("rw"):
                continue
            begin, end = (int(x, 16) for x in span.split("-"))
            memory.seek(begin)
            try:
                found += memory.read(end - begin)
            except OSError:
                continue
    return bytes(found)


@needs_tun
def test_keys_are_wiped_from_memory_once_they_are_expanded(nodes: tuple[NodeClient, NodeClient]) -> None:
    nodes[0].open_path(lab.LEFT)
    enc_key, auth_key = os.urandom(32), os.urandom(32)
    sa = SaConfig(
        spi=0x1001,
        direction="in",
        suite="aes256-sha256",
        local=lab.ENDS[0],
        peer=lab.ENDS[1],
        peer_port=4500,
        local_port=4500,
        enc_key=enc_key,
        auth_key=auth_key,
        salt=b"",
    )
    nodes[0].add_sa(sa)
    nodes[0].health()
    held = memory_of(nodes[0].pid)
    # The line's hex and the HMAC key itself are gone; AES needs its key as the first round's.
    assert enc_key.hex().encode() not in held and auth_key.hex().encode() not in held
    assert auth_key not in held
    nodes[0].delete_sa(0x1001, "in")
    nodes[0].health()
    held = memory_of(nodes[0].pid)
    assert enc_key not in held and auth_key not in held
