"""The line-JSON protocol: both sides over real pipes, with a backend that records what reached it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gateway.errors import MeasurementError, UnusableError
from gateway.node import protocol
from gateway.node.base import Hello, ImplementationInfo, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.client import NodeClient
from gateway.node.codec import decode_line, encode_line, from_dict, to_arguments, to_dict
from gateway.node.kernel import drivers
from gateway.node.protocol import MAX_LINE_BYTES, OPERATIONS, PROTOCOL_VERSION, SAS_A_LINE
from gateway.node.server import Server

SA = SaConfig(
    spi=0x1234,
    direction="out",
    suite="aes256-sha256",
    local="192.0.2.1",
    peer="192.0.2.2",
    peer_port=4500,
    local_port=4500,
    enc_key=bytes(range(32)),
    auth_key=bytes(range(100, 132)),
    salt=b"",
)
IMPLEMENTATION = ImplementationInfo("cbc(aes)", "cbc-aes/x", "x", "any", "cipher", 1, None, True, "passed")
COUNTERS = NodeCounters(
    sas=(SaCounters(7, "in", 1, 2, 3, {"state_seq_error": 4}, 5, "valid", "x + y"),),
    loop={"udp_sends": 1 << 60},
    drops={"in_no_states": 2},
    stage_cycles={"seal": 9},
    cpu_ns=10,
    interfaces={"esp0": {"rx_packets": 1}},
)


@dataclass
class RecordingBackend:
    calls: list[tuple[object, ...]] = field(default_factory=list)
    keys_seen: list[bytes] = field(default_factory=list)
    buffers: list[bytearray] = field(default_factory=list)
    ended: str = ""
    closed: int = 0
    many: int = 0
    """SAs that the path pretends to have."""

    def hello(self) -> Hello:
        return Hello("worker", PROTOCOL_VERSION, "1", "m", "k", ("aesni",), (IMPLEMENTATION,), ("null",))

    def open_path(self, config: PathConfig) -> PathInfo:
        self.calls.append(("open_path", config))
        return PathInfo(config.tun, 3, 4500, config.offload, 64, 1, 2, 1)

    def add_sa(self, config: SaConfig) -> str:
        self.calls.append(("add_sa", config.spi, config.suite))
        for key in (config.enc_key, config.auth_key, config.salt):
            assert isinstance(key, bytearray)
            self.keys_seen.append(bytes(key))
            self.buffers.append(key)
        if config.suite == "bug":
            raise RuntimeError(f"bug with {config.enc_key.hex()}")
        return "a + b"

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        self.calls.append(("delete_sa", spi, direction))
        return COUNTERS.sas[0]

    def set_policy(self, spi: int, src: str, dst: str) -> None:
        self.calls.append(("set_policy", spi, src, dst))

    def counters(self, first: int, most: int) -> NodeCounters:
        if not self.many:
            return COUNTERS if most else replace(COUNTERS, sas=())
        self.calls.append(("counters", first, most))
        sas = tuple(replace(COUNTERS.sas[0], spi=256 + i) for i in range(first, min(first + most, self.many)))
        return replace(COUNTERS, sas=sas, sas_there=self.many)

    def health(self) -> None:
        if self.ended:
            raise MeasurementError(self.ended, code="path-ended")

    def close(self) -> None:
        self.closed += 1


class Pipes:
    """Stands in for a process: a server thread at the far end of two pipes."""

    def __init__(self, backend: RecordingBackend) -> None:
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        self.stdin = os.fdopen(to_write, "wb", buffering=0)
        self.stdout = os.fdopen(from_read, "rb", buffering=0)
        self.pid = 0

        def serve() -> None:
            Server(backend, to_read, from_write).serve()
            os.close(to_read)
            os.close(from_write)

        self.thread = threading.Thread(target=serve)
        self.thread.start()

    def wait(self, timeout: float | None = None) -> int:
        self.thread.join(timeout)
        if self.thread.is_alive():
            raise subprocess.TimeoutExpired("server", timeout or 0)
        return 0

    def send_signal(self, number: int) -> None:
        assert number == 0, "the server should end by itself"


@pytest.fixture
def backend() -> RecordingBackend:
    return RecordingBackend()


@pytest.fixture
def client(backend: RecordingBackend) -> Iterator[NodeClient]:
    node = NodeClient("gateway-a", Pipes(backend))  # type: ignore[arg-type]
    yield node
    node.close()
    assert backend.closed >= 1


def raw(backend: RecordingBackend, *lines: bytes) -> list[dict[str, object]]:
    """Answers of a server to raw lines, which end with end of file."""
    read_fd, write_fd = os.pipe()
    out_read, out_write = os.pipe()
    with os.fdopen(write_fd, "wb") as to:
        to.write(b"".join(lines))
    Server(backend, read_fd, out_write).serve()
    os.close(read_fd)
    os.close(out_write)
    with os.fdopen(out_read, "rb") as answers:
        return [json.loads(line) for line in answers]


def test_every_operation_arrives_and_answers(client: NodeClient, backend: RecordingBackend) -> None:
    assert client.hello() == backend.hello()
    info = client.open_path(PathConfig(local="192.0.2.1", addresses=("10.0.0.1/24",), routes=("10.1.0.0/16",)))
    assert info.gso_max_segments == 64 and info.offload == ("tun-tso", "udp-gso", "udp-gro", "tun-coalesce")
    assert client.add_sa(SA) == "a + b"
    client.set_policy(0x1234, dst="10.1.0.0/16")
    assert client.delete_sa(0x1234, "out") == COUNTERS.sas[0]
    assert client.counters() == COUNTERS
    client.health()
    config = backend.calls[0][1]
    assert isinstance(config, PathConfig) and config.routes == ("10.1.0.0/16",)
    assert backend.calls[1:] == [
        ("add_sa", 0x1234, "aes256-sha256"),
        ("set_policy", 0x1234, "", "10.1.0.0/16"),
        ("delete_sa", 0x1234, "out"),
    ]


def test_more_sas_than_a_line_holds_are_all_counted(client: NodeClient, backend: RecordingBackend) -> None:
    backend.many = 2 * SAS_A_LINE + 5
    counters = client.counters()
    assert [sa.spi for sa in counters.sas] == list(range(256, 256 + backend.many))
    assert [call[1] for call in backend.calls] == [0, SAS_A_LINE, 2 * SAS_A_LINE]
    assert client.counters(sas=False).sas == ()
    assert backend.calls[-1] == ("counters", 0, 0)


def test_a_full_line_of_sas_is_not_too_long() -> None:
    widest = SaCounters(
        *(0xFFFFFFFF, "out", 1 << 63, 1 << 63, 1 << 63, {"out_state_seq_error": 1 << 40, "in_tmpl_mismatch": 1 << 40}),
        *(1 << 63, "expired", "x" * 160),
    )
    assert len(encode_line(to_dict(replace(COUNTERS, sas=(widest,) * SAS_A_LINE)))) < MAX_LINE_BYTES


def test_keys_arrive_whole_and_are_wiped_after_use(client: NodeClient, backend: RecordingBackend) -> None:
    client.add_sa(SA)
    client.health()  # the answer to add_sa may be under way before its keys are wiped; this one is not
    assert backend.keys_seen == [SA.enc_key, SA.auth_key, SA.salt]
    assert all(set(buffer) <= {0} for buffer in backend.buffers)
    assert [len(buffer) for buffer in backend.buffers] == [32, 32, 0]


def test_a_bug_in_the_backend_is_answered_without_its_text_when_keys_were_near(
    client: NodeClient, backend: RecordingBackend, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = SaConfig(**{**{name: getattr(SA, name) for name in SaConfig.__dataclass_fields__}, "suite": "bug"})
    with pytest.raises(UnusableError) as caught:
        client.add_sa(bad)
    assert "RuntimeError" in caught.value.message
    assert SA.enc_key.hex() not in caught.value.message + capfd.readouterr().err


def test_a_data_path_that_ended_is_a_failed_measurement(client: NodeClient, backend: RecordingBackend) -> None:
    backend.ended = "the TUN was deleted"
    with pytest.raises(MeasurementError, match="gateway-a: the TUN was deleted"):
        client.health()


def test_line_is_wiped_and_keys_are_no_strings() -> None:
    line = encode_line({"op": "add_sa", "id": 1}, {"enc_key": b"\x01\xab\xff", "salt": b""})
    assert json.loads(line) == {"op": "add_sa", "id": 1, "enc_key": "01abff", "salt": ""}
    message, keys = decode_line(line)
    assert message == {"op": "add_sa", "id": 1}
    assert keys == {"enc_key": bytearray(b"\x01\xab\xff"), "salt": bytearray()}
    assert set(line) == {0}


def test_keys_do_not_appear_in_repr() -> None:
    assert SA.enc_key.hex() not in repr(SA) and "enc_key" not in repr(SA)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense\n", "bad-request"),
        (b"[1]\n", "bad-request"),
        (b"[" * 20_000 + b"\n", "bad-request"),
        (b'{"id": 1, "op": "fly"}\n', "unknown-op"),
        (b'{"id": 1, "op": ["hello"]}\n', "unknown-op"),
        (b'{"id": 1}\n', "unknown-op"),
        (b'{"id": 1, "op": "hello"}\n', "bad-protocol"),
        (b'{"id": 1, "op": "hello", "protocol": 99}\n', "bad-protocol"),
        (b'{"id": 1, "op": "open_path"}\n', "bad-request"),
        (b'{"id": 1, "op": "open_path", "local": 5}\n', "bad-request"),
        (b'{"id": 1, "op": "open_path", "local": "192.0.2.1", "mtu": "x"}\n', "bad-request"),
        (b'{"id": 1, "op": "open_path", "local": "192.0.2.1", "mtu": true}\n', "bad-request"),
        (b'{"id": 1, "op": "delete_sa", "spi": "7", "direction": "in"}\n', "bad-request"),
        (b'{"id": 1, "op": "open_path", "local": "192.0.2.1", "later": 1}\n', "bad-request"),
        (b'{"id": 1, "op": "set_policy", "spi": 7, "proto": 17}\n', "bad-request"),
        (b'{"id": 1, "op": "hello", "protocol": 99, "later": 1}\n', "bad-protocol"),
        (b'{"id": 1, "op": "delete_sa", "spi": 7}\n', "bad-request"),
        (b'{"id": 1, "op": "add_sa", "spi": 7}\n', "bad-request"),
        (b'{"id": 1, "op": "add_sa", "enc_key": "abc", "auth_key": "", "salt": ""}\n', "bad-request"),
        (b'{"id": 1, "op": "add_sa", "enc_key": "xy", "auth_key": "", "salt": ""}\n', "bad-request"),
    ],
)
def test_bad_lines_are_answered_never_with_silence(backend: RecordingBackend, line: bytes, code: str) -> None:
    (answer,) = raw(backend, line)
    assert answer["ok"] is False
    error = answer["error"]
    assert isinstance(error, dict) and error["code"] == code and error["message"]
    assert backend.calls == []


def test_the_conversation_goes_on_after_a_bad_line(backend: RecordingBackend) -> None:
    answers = raw(backend, b"nonsense\n", b'{"id": 2, "op": "health"}\n')
    assert [answer["ok"] for answer in answers] == [False, True]
    assert answers[1]["id"] == 2


def test_end_of_file_is_close_even_in_the_middle_of_a_line(backend: RecordingBackend) -> None:
    assert raw(backend, b'{"id": 1, "op": "hea') == []
    assert backend.closed == 1


def test_nothing_is_read_after_close(backend: RecordingBackend) -> None:
    answers = raw(backend, b'{"id": 1, "op": "close"}\n', b'{"id": 2, "op": "health"}\n')
    assert [answer["id"] for answer in answers] == [1]


def test_an_endless_line_is_refused(backend: RecordingBackend, tmp_path: Path) -> None:
    endless = tmp_path / "endless"
    endless.write_bytes(b" " * (MAX_LINE_BYTES + (1 << 20)))
    out_read, out_write = os.pipe()
    with endless.open("rb") as file:
        Server(backend, file.fileno(), out_write).serve()
    os.close(out_write)
    with os.fdopen(out_read, "rb") as answers:
        assert json.loads(answers.read())["error"]["code"] == "bad-request"


def test_arguments_at_their_default_are_not_sent() -> None:
    """An older node, which refuses arguments that it does not know, still understands a newer client."""
    assert to_arguments(PathConfig(local="192.0.2.1", mtu=1300)) == {"local": "192.0.2.1", "mtu": 1300}
    sent = to_arguments(replace(SA, esn=False))
    assert sent.keys() == {"spi", "direction", "suite", "local", "peer", "peer_port", "local_port", "esn"}


def test_unknown_fields_of_results_are_ignored_and_missing_ones_named() -> None:
    data = {**to_dict(PathInfo("esp0", 1, 2, (), 3, 4, 5, 6)), "later": 1}
    assert from_dict(PathInfo, json.loads(json.dumps(data))).tun == "esp0"
    del data["port"]
    with pytest.raises(UnusableError, match="PathInfo lacks 'port'"):
        from_dict(PathInfo, json.loads(json.dumps(data)))


def test_the_list_of_operations_is_what_the_server_knows(backend: RecordingBackend) -> None:
    (answer,) = raw(backend, b'{"id": 1, "op": "?"}\n')
    error = answer["error"]
    assert isinstance(error, dict)
    assert error["hint"] == f"there are: {', '.join(OPERATIONS)}"


def process(code: str) -> NodeClient:
    return NodeClient(
        "gateway-b", subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )


def test_a_process_that_dies_is_one_clear_error(tmp_path: Path) -> None:
    said = (tmp_path / "stderr").open("w+b")
    code = "import sys; print('no memory', file=sys.stderr); sys.exit(3)"
    popen = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
    client = NodeClient("gateway-b", popen, said)
    with pytest.raises(UnusableError) as caught:
        client.hello()
    assert caught.value.message == "gateway-b: the data path's process exited with status 3 during 'hello': no memory"
    client.close()


def test_a_killed_process_names_the_signal() -> None:
    client = process("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(UnusableError, match="killed by signal 9"):
        client.hello()
    client.close()


def test_a_mute_process_times_out_and_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.node.client.HELLO_TIMEOUT_S", 0.2)
    monkeypatch.setattr("gateway.node.client.CLOSE_TIMEOUT_S", 0.2)
    client = process("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    with pytest.raises(MeasurementError, match="does not answer 'hello'"):
        client.hello()
    client.close()
    client.close()
    assert not Path(f"/proc/{client.pid}").exists()


def test_a_process_that_computes_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that starts in an emulated machine."""
    monkeypatch.setattr("gateway.node.client.HELLO_TIMEOUT_S", 0.3)
    monkeypatch.setattr("gateway.node.client.HELLO_PATIENCES", 1000)
    client = process("import time\nwhile time.process_time() < 1: pass\nprint('Started', flush=True); time.sleep(60)")
    with pytest.raises(UnusableError, match="not JSON"):
        client.hello()
    client.close()


def test_noise_on_stdout_is_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.node.client.CLOSE_TIMEOUT_S", 0.2)
    client = process("print('Welcome!', flush=True); import time; time.sleep(60)")
    with pytest.raises(UnusableError, match="not JSON"):
        client.hello()
    client.close()


def test_every_error_code_of_a_node_is_in_the_table() -> None:
    root = Path(__file__).resolve().parents[2]
    table = protocol.__doc__ or ""
    python = "".join((root / "gateway/node" / f).read_text() for f in ("server.py", "worker.py", "kernel.py"))
    c = "".join(file.read_text() for file in (root / "csrc/node").glob("*.c"))
    used = {m for pair in re.findall(r'code"?[=:] ?"([a-z-]+)"|, "([a-z]+-[a-z]+)"\s*\)', python) for m in pair if m}
    used |= set(re.findall(r'node_fail\([^,]*f, "([a-z-]+)"', c))
    assert {"bad-request", "no-path", "not-supported", "internal", "error", "kernel-lacks"} <= used
    assert {code for code in used if not re.search(rf"^{code} ", table, re.MULTILINE) and code != "unknown-op"} == set()


def test_the_kernels_drivers_are_listed_as_ours_are(tmp_path: Path) -> None:
    crypto = tmp_path / "crypto"
    crypto.write_text(
        "name         : cbc(aes)\ndriver       : cbc-aes-aesni\nmodule       : aesni_intel\npriority     : 400\n"
        "selftest     : passed\ntype         : skcipher\n\nname         : x\ndriver       : y\nselftest     : unknown\n"
    )
    first, second = drivers(str(crypto))
    assert (first.alg, first.driver, first.kind) == ("cbc(aes)", "cbc-aes-aesni/kernel", "skcipher")
    assert (first.priority, first.constant_time, first.checked) == (400, None, "passed")
    assert second.checked == "not run"
    assert from_dict(ImplementationInfo, json.loads(json.dumps(to_dict(first)))) == first
