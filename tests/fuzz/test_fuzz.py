"""libFuzzer with sanitizers on whatever reads what others wrote; the corpus is published packets and vectors.

FUZZ_SECONDS (default 200) is the sum, split evenly. ``make fuzz SECONDS=3600`` runs for longer; see docs/fuzzing.md.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from esp_internals import CSRC, PLAIN_FLAGS, compile_objects, link, sources

from tests.packet_support import ACK, FIN, GSO_TCPV4, GSO_UDP_L4, NEEDS_CSUM, PSH, SYN, TCP, UDP, ipv4, ipv6

HERE = Path(__file__).parent
VECTORS = HERE.parent / "vectors" / "data"
SANITIZERS = "-fsanitize=address,undefined"
FLAGS = ("-O1", "-g", f"{SANITIZERS},fuzzer-no-link", "-fno-sanitize-recover=all")


@functools.cache
def compiler() -> str:
    for name in ("clang", "clang-14", "clang-15", "clang-16", "clang-19"):
        if shutil.which(name):
            return name
    raise AssertionError("fuzzing needs clang: apt-get install clang")


def cases(*names: str) -> Iterator[dict[str, str]]:
    for name in names:
        yield from json.loads((VECTORS / "esp" / f"{name}.json").read_text())["cases"]


def published_packets() -> Iterator[bytes]:
    """Inner packets of every published ESP packet, captures among them."""
    for case in cases("esp_rfc", "esp_dpdk", "esp_odp", "esp_captures"):
        yield bytes.fromhex(case["plaintext"] or "")


def opening() -> Iterator[bytes]:
    """Every published packet under every kind of SA, and the plaintexts where the null suite reads them as they are."""
    for case in cases("esp_rfc", "esp_dpdk", "esp_odp", "esp_captures"):
        plaintext = bytes.fromhex(case["plaintext"] or "")
        for choice in (0, 8, 32):
            yield bytes([choice, 3]) + b"\0\0\0\1" + plaintext
        for choice in (1, 2, 3, 6):
            yield bytes([choice, 0]) + bytes.fromhex(case["esp"])[4:]


def tcp(seq: int, flags: int, payload: bytes, options: bytes = b"") -> bytes:
    return struct.pack(">HHIIBBHHH", 9, 1000, seq, 7, (20 + len(options)) << 2, flags, 500, 0, 0) + options + payload


def from_the_tun() -> Iterator[bytes]:
    """Super-packets of every kind, and packets as they are."""
    heads = ((20, ipv4, GSO_TCPV4), (40, ipv6, 4))
    for upper, make, kind in heads:
        packet = make(TCP, tcp(1, PSH | ACK | FIN, bytes(900), b"\1\1\x08\x0a" + bytes(8)))
        yield struct.pack(">H", 576) + struct.pack("<BBHHHH", NEEDS_CSUM, kind, upper + 32, 100, upper, 16) + packet
        syn = make(TCP, tcp(1, SYN, b"", b"\2\4\5\xb4"))
        yield struct.pack(">H", 1280) + struct.pack("<BBHHHH", NEEDS_CSUM, 0, 0, 0, upper, 16) + syn
        datagrams = make(UDP, struct.pack(">HHHH", 9, 7, 908, 0) + bytes(900))
        yield (
            struct.pack(">H", 68) + struct.pack("<BBHHHH", NEEDS_CSUM, GSO_UDP_L4, upper + 8, 300, upper, 6) + datagrams
        )
    for packet in published_packets():
        yield struct.pack(">H", 200) + bytes(10) + packet


def to_the_tun() -> Iterator[bytes]:
    """Runs of segments that join, in order and out of it, and published packets beside them."""
    for make in (ipv4, ipv6):
        runs = [make(TCP, tcp(1 + 100 * i, ACK | (PSH if i == 5 else 0), bytes([i]) * 100)) for i in range(6)]
        for order in (runs, runs[::-1], runs[:2] + runs[3:] + runs[2:3], [*runs, make(TCP, tcp(601, ACK, b"short"))]):
            yield b"\1" + b"".join(struct.pack(">H", len(p)) + p for p in order)
    packets = [p for p in published_packets() if 0 < len(p) < 2048]
    yield b"\0" + b"".join(struct.pack(">H", len(p)) + p for p in packets[:30])


def node_lines() -> Iterator[bytes]:
    key = "00" * 16
    yield f'{{"id":1,"op":"add_sa","spi":4096,"local":"10.0.0.1","enc_key":"{key}","esn":true}}'.encode()
    yield b'{"routes":["10.0.0.0/8","fd00::/8"],"peer_port":4500,"local":"\\u00e4\\ud83d\\ude00\\n","x":[1,{"y":null}]}'
    yield b'{"spi":-1,"peer_port":65536,"esn":1,"enc_key":"abc","routes":[1],"a":1e5,"b":0.5,"c":12345678901234567890}'


def vector_lines() -> Iterator[bytes]:
    for case in json.loads((VECTORS / "kat_rfc_kats.json").read_text())["cases"]:
        words = {"key": case.get("key"), "iv": case.get("iv"), "aad": case.get("aad"), "in": case.get("pt")}
        line = " ".join(f"{name}={value}" for name, value in words.items() if value)
        yield f"{line[:3000]} tag_len=16 copies=4 offset=3 split=64 inplace=1 flags=1".encode()


@dataclass(frozen=True)
class Target:
    """What is fuzzed: its own file, and what is instrumented with it; ``plain`` is only linked."""

    corpus: Callable[[], Iterator[bytes]]
    files: tuple[str, ...]
    plain: tuple[str, ...] = ()
    max_len: int = 2000


PACKETS = ("core", "io/coalesce.c", "io/segment.c", "io/flat.c", "io/fragment.c", "io/mss.c", "io/checksum.c")
TARGETS = {
    # The ciphers run under sanitizers in test_sanitizers.py; instrumented for coverage they take clang minutes.
    "open": Target(opening, ("core", "esp"), ("crypto",)),
    "segment": Target(from_the_tun, PACKETS, max_len=4000),
    "coalesce": Target(to_the_tun, PACKETS, max_len=8000),
    "node_lines": Target(node_lines, ("core", "node/json.c", "node/arguments.c")),
    "vectors": Target(vector_lines, ("core", "node/common.c"), ("crypto",)),
}
SECONDS = max(int(os.environ.get("FUZZ_SECONDS", "200")) // len(TARGETS), 1)


def files(names: tuple[str, ...]) -> list[Path]:
    return [path for name in names for path in ([CSRC / name] if name.endswith(".c") else sources((name,)))]


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_found(name: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    objects = compile_objects(FLAGS, [*files(target.files), HERE / f"fuzz_{name}.c"], compiler())
    objects += compile_objects(PLAIN_FLAGS, files(target.plain))
    program = link(objects, (f"{SANITIZERS},fuzzer",), f"fuzz-{name}", compiler())
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, content in enumerate(target.corpus()):
        (corpus / f"{number}").write_bytes(content)
    command = [
        program,
        f"-max_total_time={SECONDS}",
        f"-max_len={target.max_len}",
        "-print_final_stats=1",
        f"-artifact_prefix={os.environ.get('FUZZ_FOUND', tmp_path)}/{name}-",
    ]
    done = subprocess.run([*command, str(corpus)], capture_output=True, text=True, timeout=SECONDS + 120)
    assert done.returncode == 0, done.stderr[-3000:]
    runs = int(done.stderr.split("stat::number_of_executed_units:")[1].split()[0])
    print(f"{name}: {runs} inputs in {SECONDS} s")
    assert runs > 100 * SECONDS, done.stderr[-2000:]
