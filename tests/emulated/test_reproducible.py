"""The same sources make the same gwnode, wherever they lie and whatever was compiled before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import emulator

# The smallest of them, which uses all of the build: one program's link-time code, a linker script, the C library.
TARGET = "mips"


def test_gwnode_is_the_same_bytes_when_built_elsewhere(tmp_path: Path) -> None:
    """With an empty cache of its own; zig's build of the C library, a minute, is shared."""
    elsewhere = tmp_path / "another" / "place"
    elsewhere.mkdir(parents=True)
    for part in ("csrc", "mk"):
        shutil.copytree(emulator.ROOT / part, elsewhere / part)
    shutil.copy(emulator.ROOT / "Makefile", elsewhere)
    made = f"build/cross/{TARGET}/gwnode"
    subprocess.run(
        ["make", "-s", "-j2", "-o", ".venv/stamp-dev", f"CROSS_PYTHON={sys.executable}", made],
        cwd=elsewhere,
        env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
        | {"ZIG_LOCAL_CACHE_DIR": str(tmp_path / "cache")},
        check=True,
        timeout=600,
    )
    assert (elsewhere / made).read_bytes() == (emulator.ROOT / made).read_bytes()
