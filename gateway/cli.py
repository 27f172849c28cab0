"""The ``gwbench`` command: finds the subcommand, loads only its module, turns errors into one line and a status.

A command is a module ``gateway/commands/NAME.py`` with ``add_arguments(parser)``, ``run(arguments) -> int``, and an
``EXAMPLE``. Nothing heavy is imported before it is known that it is needed.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.util
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from gateway import __version__
from gateway.cleanup import SIGNALS, CleanupStack, Interrupted
from gateway.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_UNUSABLE, GwbenchError, UnusableError

COMMANDS = (
    ("start", "doctor", "what this machine or router has and lacks; changes nothing"),
    ("measure", "iperf", "the end-to-end test: iperf3 through an ESP tunnel, implementations compared"),
    ("measure", "ndr", "non-drop and partial-drop rate"),
    ("understand", "crypto", "implementations side by side"),
    ("understand", "esp", "seal and open in memory: packets per second, cycles per packet"),
    ("understand", "estimate", "Mbit/s of another CPU or suite, from a cost model"),
    ("understand", "selftest", "known answers on every implementation"),
    ("run", "sa", "SAs: list, rekey, remove"),
    ("run", "up", "the gateway from a configuration file"),
    ("run", "down", "takes the gateway down"),
    ("run", "status", "what the gateway does"),
    ("run", "serve", "metrics for Prometheus"),
    ("run", "deploy", "puts gwnode on a router over ssh"),
    ("run", "cleanup", "undoes what a lost session left on a router"),
    ("compare", "compare", "results against each other"),
    ("compare", "report", "a self-contained HTML page"),
)
"""(group, name, what it does). Those without a module are not offered."""


def available() -> list[tuple[str, str, str]]:
    """The commands that this installation has."""
    return [c for c in COMMANDS if importlib.util.find_spec(f"gateway.commands.{c[1]}") is not None]


def usage() -> str:
    """The top-level help."""
    lines = [
        "usage: gwbench COMMAND [options]",
        "",
        "How many Mbit/s of IPsec does this box push, with which implementation, and what binds it?",
        "",
    ]
    group = ""
    for this, name, what in available():
        if this != group:
            group = this
            lines.append(f"{group}:")
        lines.append(f"  {name:<10} {what}")
    lines += [
        "",
        "gwbench COMMAND --help shows a command's options, with an example.",
        "Exit status: 0 done, 1 measured but failed or invalid, 2 unusable input or machine, 130 interrupted.",
        "",
        "example:",
        "  gwbench iperf --lab -t 5 --suite aes256-sha256,aes128gcm16",
    ]
    return "\n".join(lines)


def _fail(message: str) -> None:
    print(f"gwbench: {' '.join(message.split())}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage and without the names of our functions."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"invalid (?:_\w+|int|float) value: (.*)", r"\1 is no usable number", message)
        raise UnusableError(message, f"{self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    try:
        # Here already, not only in the command: importing takes a while, and a signal may come at any moment.
        with CleanupStack():
            try:
                return _main(list(sys.argv[1:] if argv is None else argv))
            except Interrupted as interrupted:
                # Blocked until the process has ended: an impatient user's next Ctrl-C must not change the status.
                signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
                _fail(str(interrupted))
                return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        _fail("interrupted")
        return EXIT_INTERRUPTED
    except GwbenchError as error:
        _fail(str(error))
        return error.exit_status
    except ImportError as error:
        if "dataplane" not in str(error):
            raise
        _fail(str(error))  # the extension is not built, and the line says how to
        return EXIT_UNUSABLE
    except BrokenPipeError:
        # A reader that went away; the interpreter must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # What is still buffered cannot be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"cannot write the output: {error.strerror}")
        return EXIT_UNUSABLE


def _main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(usage())
        return EXIT_OK if argv else EXIT_UNUSABLE
    if argv[0] in ("-V", "--version"):
        print(f"gwbench {__version__}")
        return EXIT_OK
    name = argv[0]
    known = [command for _, command, _ in available()]
    if name not in known:
        _fail(f"there is no command {name!r}; there are: {', '.join(known)}")
        return EXIT_UNUSABLE
    module = importlib.import_module(f"gateway.commands.{name}")
    parser = _Parser(
        prog=f"gwbench {name}",
        description=module.__doc__,
        epilog=f"example:\n  {module.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    try:
        arguments = parser.parse_args(argv[1:])
    except SystemExit as error:  # --help
        return int(error.code or 0)
    return int(module.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
