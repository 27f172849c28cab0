"""``gwbench serve``: the web server and its configuration file, textfiles, what the process may do, what is absent."""

from __future__ import annotations

import base64
import datetime
import http.client
import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import bcrypt
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.errors import UnusableError
from gateway.metrics import textfile, web, web_config
from gateway.metrics.exposition import Families, labels
from gateway.metrics.names import METRICS, Metric
from gateway.metrics.results import Results
from gateway.metrics.scrape import Exporter
from gateway.metrics.xfrm_stat import XfrmStat

ROOT = Path(__file__).resolve().parents[2]


def get(port: int, path: str = "/metrics", context: ssl.SSLContext | None = None, **headers: str) -> tuple[int, str]:
    if context:
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            "127.0.0.1", port, timeout=10, context=context
        )
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@pytest.fixture
def server() -> Iterator[Callable[..., int]]:
    servers = []

    def make(config: web_config.WebConfig | None = None, scrape: Callable[[], str] = lambda: "x 1\n") -> int:
        one = web.WebServer(scrape, [("127.0.0.1", 0)], config=config)
        one.start()
        servers.append(one)
        return one.addresses[0][1]

    yield make
    for one in servers:
        one.close()


# ---- the format ----


def test_the_library_reads_what_we_write() -> None:
    families = Families()
    odd = 'quote " backslash \\ newline \n end, ümlaut'
    families.add("gwbench_tunnel_up", (odd, "child", "::1"), 1)
    families.add("gwbench_result_cpu_seconds_per_byte", ("a", "b", "c", "d"), 1.5e-09)
    families.add("gwbench_kernel_xfrm_events_lost_total", (), 2**60)
    families.histogram("gwbench_loop_batch_packets", ("0", "seal"), [(1, 3), (2, 0), (float("inf"), 4)], 517)
    found = {s.name: (s.labels, s.value) for f in text_string_to_metric_families(families.text()) for s in f.samples}
    assert found["gwbench_tunnel_up"] == ({"tunnel": odd, "child": "child", "peer": "::1"}, 1.0)
    assert found["gwbench_result_cpu_seconds_per_byte"][1] == 1.5e-09
    assert found["gwbench_kernel_xfrm_events_lost_total"] == ({}, float(2**60))
    assert found["gwbench_loop_batch_packets_bucket"] == ({"loop": "0", "operation": "seal", "le": "+Inf"}, 7.0)
    assert found["gwbench_loop_batch_packets_sum"][1] == 517 and len(families) == 8
    with pytest.raises(ValueError):
        labels(("a", "b"), ("only one",))


def test_the_table_keeps_the_conventions() -> None:
    for name, one in METRICS.items():
        assert isinstance(one, Metric) and name.startswith("gwbench_") and one.help.endswith("."), name
        assert name.endswith("_total") == (one.kind == "counter"), name
        assert one.unit, name
        assert ("spi" in one.labels) == name.startswith("gwbench_sa_"), name


def test_what_failed_is_absent_and_never_zero(tmp_path: Path) -> None:
    class Broken:
        name = "broken"

        def collect(self, families: Families) -> None:
            families.add("gwbench_line_bytes_per_second", (), 0)
            raise OSError("no such device")

    said: list[str] = []
    exporter = Exporter([Broken(), XfrmStat(tmp_path)], said.append)
    for _ in range(2):
        text = exporter.scrape().text()
    assert "gwbench_line" not in text and "gwbench_kernel" not in text
    assert 'gwbench_collector_success{collector="broken"} 0\n' in text
    assert 'gwbench_collector_success{collector="xfrm_stat"} 1\n' in text
    assert said == ["broken: no such device"]


def test_xfrm_stat_by_the_kernels_words(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/xfrm_stat").write_text(
        "XfrmInNoStates          \t5\nXfrmInStateSeqError     \t7\nXfrmOutPolBlock \t1\n"
    )
    families = Families()
    XfrmStat(tmp_path).collect(families)
    assert families.text().splitlines()[2:] == [
        'gwbench_kernel_xfrm_drops_total{reason="in_no_states"} 5',
        'gwbench_kernel_xfrm_drops_total{reason="state_seq_error"} 7',
        'gwbench_kernel_xfrm_drops_total{reason="out_pol_block"} 1',
    ]


def test_results_leave_out_what_was_not_measured(tmp_path: Path) -> None:
    row = {"suite": "aes128gcm16", "implementation": "x", "role": "accelerated", "direction": "forward", "valid": True}
    result = {
        "schema": "gwbench/1",
        "environment": {"machine": {"gwbench": "9.9"}},
        "results": [{**row, "mbit_per_s": {"median": 800.0}}, {**row, "role": "generic", "mbit_per_s": None}],
    }
    (tmp_path / "a.json").write_text(json.dumps(result))
    (tmp_path / "b.json").write_text("half a fi")
    crypto = [
        {
            "algorithm": "sha256",
            "implementation": "d",
            "op": "hash",
            "bytes": size,
            "cycles_per_byte": {"median": cycles},
        }
        for size, cycles in ((64, 9.0), (1408, 2.5), (8192, 2.0))
    ]
    (tmp_path / "c.json").write_text(json.dumps({"schema": "gwbench-crypto/1", "rows": crypto}))
    families = Families()
    collector = Results(tmp_path)
    collector.collect(families)
    text = families.text()
    assert 'role="accelerated",direction="forward"} 100000000.0' in text and "generic" not in text
    assert 'cycles_per_byte{algorithm="sha256",driver="d",operation="hash"} 2.5' in text
    assert 'gwbench_result_version_info{version="9.9"} 1' in text
    families = Families()
    Results(tmp_path / "nothing").collect(families)
    assert len(families) == 0


def test_a_default_directory_that_is_closed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's home, for the user that root became. One that was asked for is a failure."""

    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", closed)
    families = Families()
    Results(tmp_path, named=False).collect(families)
    assert len(families) == 0
    with pytest.raises(PermissionError):
        Results(tmp_path).collect(families)


# ---- the web ----


def test_pages(server: Callable[..., int]) -> None:
    port = server()
    assert get(port) == (200, "x 1\n")
    assert get(port, "/metrics?collect=x")[0] == 200
    assert get(port, "/-/healthy") == (200, "Healthy\n")
    assert get(port, "/nothing")[0] == 404
    status, page = get(port, "/")
    assert status == 200 and 'href="/metrics"' in page


def test_a_client_that_says_nothing_stops_nobody(server: Callable[..., int]) -> None:
    port = server()
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    assert get(port)[0] == 200
    for one in silent:
        one.close()


def certificate(directory: Path, name: str, ca: tuple[object, object] | None = None) -> tuple[object, object]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(ca[0].subject if ca else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    )
    made = builder.sign(ca[1] if ca else key, hashes.SHA256())
    (directory / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (directory / f"{name}.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return made, key


def test_tls_with_client_certificates(server: Callable[..., int], tmp_path: Path) -> None:
    ca = certificate(tmp_path, "ca")
    certificate(tmp_path, "server", ca)
    certificate(tmp_path, "client", ca)
    file = tmp_path / "web.yml"
    file.write_text(
        "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
        "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n"
    )
    port = server(web_config.load(file))
    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    context.check_hostname = False
    with pytest.raises((ssl.SSLError, OSError)):
        get(port, context=context)
    context.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")
    assert get(port, context=context) == (200, "x 1\n")
    # Renewed while we run.
    certificate(tmp_path, "server", ca)
    os.utime(tmp_path / "server.pem", (time.time() + 5,) * 2)
    before = ssl.PEM_cert_to_DER_cert((tmp_path / "server.pem").read_text())
    with socket.create_connection(("127.0.0.1", port)) as raw, context.wrap_socket(raw) as wrapped:
        assert wrapped.getpeercert(binary_form=True) == before


def test_passwords(server: Callable[..., int], tmp_path: Path) -> None:
    file = tmp_path / "web.yml"
    hashed = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    file.write_text(f"basic_auth_users:\n  ada: {hashed}\nhttp_server_config:\n  headers:\n    X-Frame-Options: deny\n")
    port = server(web_config.load(file))
    assert get(port)[0] == 401
    for user, password, status in (
        ("ada", "wrong", 401),
        ("eve", "right", 401),
        ("ada", "right", 200),
        ("ada", "right", 200),
    ):
        word = base64.b64encode(f"{user}:{password}".encode()).decode()
        assert get(port, Authorization=f"Basic {word}")[0] == status
    assert get(port, Authorization="Basic %%%")[0] == 401
    assert get(port, "/-/healthy")[0] == 401


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("tls_server_config: {cert_file: a}", "lacks key_file"),
        ("tls_server_config: {cert_file: a, key_file: b, cipher_suites: [x]}", "'cipher_suites' is not supported"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: Sometimes}", "'Sometimes' does not exist"),
        ("basic_auth_users: {ada: secret}", "not a bcrypt hash"),
        ("rate_limit: {}", "'rate_limit' is not supported"),
        ("- a list", "is no mapping"),
        ("{", "no YAML"),
    ],
)
def test_a_wrong_configuration_is_one_line(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "web.yml"
    file.write_text(content)
    with pytest.raises(UnusableError, match=says):
        web_config.load(file)


@pytest.mark.parametrize(
    ("text", "address"),
    [(":9100", ("", 9100)), ("127.0.0.1:1", ("127.0.0.1", 1)), ("[::1]:80", ("::1", 80)), ("host:0", ("host", 0))],
)
def test_listen_addresses(text: str, address: tuple[str, int]) -> None:
    assert web.parse_address(text) == address


@pytest.mark.parametrize("text", ["9100", "127.0.0.1", "::1:80", "a:70000", "a:b"])
def test_no_listen_addresses(text: str) -> None:
    with pytest.raises(UnusableError):
        web.parse_address(text)


# ---- files ----


def test_a_textfile_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "gwbench.prom"
    textfile.write(path, "x 1\n")
    textfile.write(path, "x 2\n")
    assert path.read_text() == "x 2\n" and stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(tmp_path) == ["gwbench.prom"]
    with pytest.raises(UnusableError, match=r"end in \.prom"):
        textfile.write(tmp_path / "gwbench.txt", "")
    with pytest.raises(UnusableError, match="cannot write"):
        textfile.write(tmp_path / "nothing" / "gwbench.prom", "")


# ---- the command ----


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "gateway.cli", "serve", *arguments]


def test_promtool_accepts_a_scrape(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool")
    path = tmp_path / "once.prom"
    subprocess.run(
        command("--once", "--textfile", str(path), "--results", str(tmp_path)), check=True, timeout=60, cwd=ROOT
    )
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=path.read_bytes(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
    assert 'gwbench_collector_success{collector="kernel_sas"} 1' in path.read_text()


def test_root_becomes_nobody_and_is_scraped(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    process = subprocess.Popen(
        command("--web.listen-address", "127.0.0.1:0", "--results", str(tmp_path)),
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Metrics at http://127.0.0.1:"), line
        port = int(line.strip().rpartition(":")[2].partition("/")[0])
        for _ in range(2):
            status, text = get(port)
            assert status == 200
            assert 'gwbench_collector_success{collector="kernel_sas"} 1' in text
        fields = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()
            if ":\t" in line
        )
        assert fields["Uid"].split() == ["65534"] * 4 and fields["NoNewPrivs"] == "1"
        assert {fields[name] for name in ("CapEff", "CapPrm", "CapAmb", "CapBnd")} == {"0" * 16}
    finally:
        process.terminate()
        assert process.wait(10) == 130


def test_a_taken_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            command("--web.listen-address", f"127.0.0.1:{port}"),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=ROOT,
        )
    assert done.returncode == 2
    assert (
        done.stderr.strip()
        .split("\n")[-1]
        .startswith(f"gwbench: cannot listen on 127.0.0.1:{port}: Address already in use")
    )
