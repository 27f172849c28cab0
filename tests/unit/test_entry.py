"""A signal while the command is still importing."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import gateway.entry
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "gateway.cli":
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Slow())
sys.exit(gateway.entry.main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_while_importing(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(number))],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup's is inherited
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "gwbench: interrupted\n")
