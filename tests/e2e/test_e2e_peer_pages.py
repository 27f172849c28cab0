"""The pages' commands as they are written, and a router of another processor."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.gwnode_build import build

from .conftest import COMMAND, ROOT, Run
from .emulated_router import ARMHF, EMULATOR, EmulatedRouter
from .router import ROUTER, Router

SHORTER = ("--gwnode", "-t", "1", "--rounds", "1", "--repeats", "0", "--no-save", "--impl", "accelerated")


def commands(page: str) -> list[str]:
    """Lines of a page's code blocks, without comments."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.MULTILINE | re.DOTALL)
    return [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def router() -> Iterator[Router]:
    made = Router("dropbear")
    yield made
    made.close()


@pytest.mark.parametrize("page", ["measure-your-router.md", "two-machines.md"])
def test_a_page(start: Callable[..., Run], router: Router, page: str) -> None:
    """What a reader types; only the address, the binary's place and the length of the measurement are the test's."""
    gwnode = str(build())
    before = router.listing()
    ran = []
    for line in commands(page):
        words = shlex.split(line.replace("192.168.1.1", ROUTER))
        if words[0] == "ssh":
            done = subprocess.run(router.on_pc(*words), capture_output=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            continue
        if words[0] == "sudo":
            words = words[1:]
        if words[0] != "gwbench":
            assert words[0] == "make", line  # the build's own tests have it
            continue
        more = [SHORTER[0], gwnode, *(SHORTER[1:] if words[1] == "iperf" else ())]
        finished = start(*words[1:], *more, prefix=router.on_pc(), command=COMMAND).wait(150)
        assert finished.status == 0, finished.stdout + finished.stderr
        ran.append(words[1])
    assert "iperf" in ran
    assert router.listing() == before


def _binary() -> Path:
    path = ROOT / "build" / "cross" / "armv7" / "gwnode"
    if not path.exists():
        done = subprocess.run(["make", "-s", "cross-armv7"], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    return path


@pytest.mark.usefixtures("user_namespaces")
def test_an_emulated_arm_router(start: Callable[..., Run], tmp_path: Path) -> None:
    """An armhf system without Python under qemu-user, over dropbear: valid rows, and nothing is left of them."""
    if shutil.which(EMULATOR) is None:
        pytest.skip("needs qemu-user")
    fetched = subprocess.run([ROOT / "scripts" / "fetch_armhf.sh", ARMHF], capture_output=True, text=True, check=False)
    if fetched.returncode == 2:
        pytest.skip(fetched.stderr.strip())
    assert fetched.returncode == 0, fetched.stderr
    binary = _binary()
    router = EmulatedRouter()
    try:
        before = router.listing()
        path = tmp_path / "r.json"
        what = ("--suite", "aes128gcm16", "-t", "2", "--rounds", "1", "--repeats", "0", "--no-save")
        run = start(
            "iperf",
            "--peer",
            f"root@{ROUTER}",
            "--gwnode",
            str(binary),
            "--json",
            str(path),
            *what,
            prefix=router.on_pc(),
            command=COMMAND,
        )
        finished = run.wait(240)
        assert finished.status == 0, finished.stdout + finished.stderr
        document = json.loads(path.read_text())
        assert document["peer"]["machine"] == "armv7l" and "ARMv7" in document["peer"]["cpu_model"]
        assert "(armv7)" in finished.stdout
        tunnels = [row for row in document["results"] if row["role"] != "plain"]
        assert {row["role"] for row in tunnels} == {"generic", "accelerated"}
        assert all(row["valid"] and row["sa"]["packets"] > 100 and row["gate"]["packets"] > 5000 for row in tunnels)
        # By what the emulator's processor has.
        ran = {row["role"]: row["implementation"] for row in tunnels}
        assert ran["generic"] == "gcm-aes-generic/gwbench"
        assert ran["accelerated"] in ("gcm-aes-neonbs/gwbench", "gcm-aes-ce/gwbench")
        assert router.listing() == before
        assert router.gwnodes() == []
    finally:
        router.close()
