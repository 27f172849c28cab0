"""The Debian package: what is in it, and that its gwbench measures without this checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="needs dpkg-deb, which is Debian's")


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def deb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    out = tmp_path_factory.mktemp("deb")
    yield Path(_output(sys.executable, ROOT / "scripts" / "make_deb.py", out).strip())


def test_fields_files_and_scripts(deb: Path, tmp_path: Path) -> None:
    fields = dict(line.split(": ", 1) for line in _output("dpkg-deb", "-f", deb).splitlines() if line[0] != " ")
    assert fields["Package"] == "gwbench" and deb.name == f"gwbench_{fields['Version']}_{fields['Architecture']}.deb"
    assert "python3 (>= 3." in fields["Depends"] and "iperf3" in fields["Recommends"]
    rows = [line.split(None, 5) for line in _output("dpkg-deb", "-c", deb).splitlines()]
    assert {row[1] for row in rows} == {"root/root"}
    names = {row[5].split(" -> ")[0].removeprefix(".") for row in rows}
    assert {"/usr/bin/gwbench", "/opt/gwbench/bin/gwbench", "/lib/systemd/system/gwbench.service"} <= names
    assert "/opt/gwbench/lib/dataplane/gwbench-xfrm-reader" in names
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name or name.endswith(".c")]
    # Units start the program where the package has it.
    for unit in ("gwbench", "gwbench-serve"):
        assert "ExecStart=/opt/gwbench/bin/gwbench " in (ROOT / f"config/systemd/{unit}.service").read_text()
    _output("dpkg-deb", "-e", deb, tmp_path)
    scripts = [tmp_path / name for name in ("postinst", "prerm", "postrm")]
    assert all(os.access(script, os.X_OK) for script in scripts)
    if shutil.which("shellcheck"):
        _output("shellcheck", *scripts)


def test_it_measures_by_itself(deb: Path, tmp_path: Path) -> None:
    """Unpacked at its place, in a mount namespace, without this checkout's packages."""
    _output("dpkg-deb", "-x", deb, tmp_path / "root")
    script = f"""set -e
    mount -t tmpfs tmpfs /opt && mkdir /opt/gwbench && mount --bind {tmp_path}/root/opt/gwbench /opt/gwbench
    exec "$@"
    """
    measure = ("iperf", "--lab", "-t", "1", "--rounds", "1", "--repeats", "0", "--suite", "aes128gcm16", "--no-save")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(tmp_path)}
    command = ("unshare", "-m", "sh", "-c", script, "sh", "/opt/gwbench/bin/gwbench", *measure, "-J")
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["valid"] is True
