"""gwnode's own exporter: for routers without Python, by the names and labels of ``gateway/metrics/names.py``."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_gwnode
import test_gwnode_lease
from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics.names import series_names
from gateway.node.process import inside_netns

gwnode = test_gwnode.gwnode  # the fixture
router = test_gwnode_lease.router


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@pytest.fixture
def serving(gwnode: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    port, file = free_port(), tmp_path / "gwbench.prom"
    process = subprocess.Popen([str(gwnode), "serve", "--listen", f"127.0.0.1:{port}", "--textfile", str(file)])
    yield process, port, file
    if process.poll() is None:
        process.kill()
    process.wait()


def get(port: int, request: bytes = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") -> tuple[bytes, str]:
    """Head and body, as soon as somebody listens."""
    end = time.monotonic() + 30
    while True:
        try:
            sock = socket.create_connection(("127.0.0.1", port), 10)
            break
        except ConnectionRefusedError:
            assert time.monotonic() < end, "it never listened"
            time.sleep(0.05)
    with sock:
        sock.sendall(request)
        answer = b""
        while chunk := sock.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n"
    return head, body.decode()


def families(text: str) -> dict[str, list[dict[str, str]]]:
    """Labels of every sample by name; each must be in the table, with its type and labels."""
    table = series_names()
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            metric = table[sample.name]
            assert (family.type, tuple(sample.labels)) == (metric.kind, metric.labels), sample
            found.setdefault(sample.name, []).append(dict(sample.labels))
    for name, labels in found.items():
        assert len({tuple(one.values()) for one in labels}) == len(labels), f"a series of {name} stands twice"
    assert text.count("# TYPE") == text.count("# HELP") == len(found)
    return found


def test_metrics_answer_over_http_and_as_a_file(serving: tuple[subprocess.Popen[bytes], int, Path]) -> None:
    process, port, file = serving
    head, body = get(port)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n") and b"version=0.0.4" in head
    found = families(body)
    (info,) = found["gwbench_build_info"]
    assert info["machine"] == os.uname().machine
    selected = found["gwbench_implementation_selected"]
    assert {"gcm(aes)", "hmac(sha256)"} <= {one["algorithm"] for one in selected}
    assert {one["driver"] for one in selected} >= {"gcm-aes-generic/gwbench"}
    if Path("/proc/net/xfrm_stat").exists():
        assert {"reason": "in_no_states"} in found["gwbench_kernel_xfrm_drops_total"]
    assert families(file.read_text()).keys() == found.keys()
    assert [p.name for p in file.parent.iterdir()] == [file.name]
    assert get(port, b"GET /etc/passwd HTTP/1.1\r\n\r\n")[0].startswith(b"HTTP/1.1 404 ")
    assert get(port, b"POST /metrics HTTP/1.1\r\n\r\n")[0].startswith(b"HTTP/1.1 404 ")
    assert get(port, b"A" * 1500 + b"\r\n\r\n")[0].startswith(b"HTTP/1.1 404 ")
    with socket.create_connection(("127.0.0.1", port)):  # says nothing, and does not hold up the next
        assert get(port)[0].startswith(b"HTTP/1.1 200 OK\r\n")
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--listen", "nowhere:80"], "cannot listen at nowhere:80"),
        (["--listen", "127.0.0.1:0"], "cannot listen at 127.0.0.1:0"),
        (["--listen", "[::1:80"], "cannot listen at [::1:80"),
        (["--listen"], "takes --listen ADDRESS:PORT"),
        (["--textfile", "/nowhere/x.prom"], "cannot write /nowhere/x.prom"),
    ],
)
def test_what_it_cannot_do_is_said_in_one_line(gwnode: Path, arguments: list[str], words: str) -> None:
    done = subprocess.run([str(gwnode), "serve", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


@test_gwnode.needs_tun
def test_a_session_tells_its_loops(router: test_gwnode_lease.Router) -> None:
    router.run("ip", "link", "set", "lo", "up")
    node = router.start("--lease", "60", "--listen", "127.0.0.1:10795")
    router.ok(node, "open_path", **test_gwnode_lease.PATH)
    with inside_netns(router.fd):
        found = families(get(10795)[1])
    assert {"loop": "0", "call": "udp_send"} in found["gwbench_loop_io_calls_total"]
    assert {one["stage"] for one in found["gwbench_loop_stage_cycles_total"]} >= {"seal", "open", "wait"}
    assert {"loop": "0", "reason": "in_no_states"} in found["gwbench_loop_drops_total"]
    router.ok(node, "health")  # a scrape is no heartbeat, and does not disturb one
    router.ok(node, "close")
    assert node.wait(10) == 0
