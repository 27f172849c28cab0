"""Readers of files that people write: mutated files are read or refused in one line, and never end in a traceback."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.appliance import config
from gateway.errors import UnusableError
from gateway.vectors import document

ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    *(b"-1", b"0", b"1e999", b"99999999999999999999", b"[]", b"{}", b"null", b"true", b'""', b'"\\u0000"', b"\xff"),
    *(b"[gateway]", b"[peer.x]", b'local = "10.0.0.0/33"', b"port = 70000", b"= =", b'"""', b"'", b"\n", b"[[tunnel]]"),
    *(b'"schema"', b'"cases"', b":", b","),
]


def mutated(content: bytes, rng: random.Random) -> bytes:
    """A few bytes changed, lines moved, words put in."""
    data = bytearray(content)
    for _ in range(rng.randrange(1, 6)):
        at, other = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
        low, high = sorted((at, min(other, at + 40)))
        match rng.randrange(4):
            case 0:
                data[low:high] = b""
            case 1:
                data[at:at] = rng.choice(WORDS)
            case 2:
                data[low:high] = rng.choice(WORDS)
            case 3:
                data[at : at + 1] = bytes([rng.randrange(256)])
    return bytes(data)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        (ROOT / "config" / "gateway.toml", config.load),
        (ROOT / "tests" / "vectors" / "data" / "esp" / "esp_rfc.json", document.read),
        (ROOT / "tests" / "vectors" / "data" / "esp" / "replay_sequences.json", document.read),
    ],
)
def test_mutated_files_are_read_or_refused(path: Path, read: Callable[[Path], object], tmp_path: Path) -> None:
    content, rng, refused = path.read_bytes(), random.Random(path.name), 0
    file = tmp_path / path.name
    for _ in range(400):
        file.write_bytes(mutated(content, rng))
        try:
            read(file)
        except UnusableError as error:
            refused += 1
            assert error.message and "\n" not in error.message and "Traceback" not in error.message
    assert refused > 100
