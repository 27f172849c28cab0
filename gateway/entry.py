"""The console script. Imports nothing that takes time before signals are caught: Ctrl-C while Python still imports
ends like any other, with one line and 130; from then on :class:`gateway.cleanup.CleanupStack` takes over."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing's own costs a tenth of a second on a small machine
if TYPE_CHECKING:
    import types


def _interrupted(number: int, frame: types.FrameType | None) -> None:
    os.write(2, b"gwbench: interrupted\n")
    os._exit(130)  # nothing has been made yet, and half-imported modules cannot be unwound


def main() -> int:
    from gateway.usage import answer

    text = answer(sys.argv[1:])
    if text is not None:
        try:
            print(text, flush=True)
            return 0
        except OSError:  # a full disk, a reader that went away: the command line knows what to say
            pass
    import signal

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupted)
    from gateway.cli import main as cli

    return cli()
