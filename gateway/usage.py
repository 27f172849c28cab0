"""What ``gwbench --help`` and ``--version`` say. Imports nothing, so that they answer at once on a slow machine too."""

import os

from gateway import __version__

COMMANDS = (
    ("start", "doctor", "what this machine or router has and lacks; changes nothing"),
    ("measure", "iperf", "the end-to-end test: iperf3 through an ESP tunnel, implementations compared"),
    ("measure", "ndr", "non-drop and partial-drop rate"),
    ("understand", "crypto", "implementations side by side"),
    ("understand", "esp", "seal and open in memory: packets per second, cycles per packet"),
    ("understand", "engine", "handing packets to another thread: mutex, spinlock or lock-free ring"),
    ("understand", "estimate", "Mbit/s of another CPU or suite, from a cost model"),
    ("understand", "mtu", "inner MTU and MSS by suite and line"),
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
    modules = {name.partition(".")[0] for name in os.listdir(os.path.join(os.path.dirname(__file__), "commands"))}
    return [c for c in COMMANDS if c[1] in modules]


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


def answer(argv: list[str]) -> str | None:
    """What an argument list asks that needs no command; None for everything else."""
    if argv and argv[0] in ("-h", "--help", "help"):
        return usage()
    return f"gwbench {__version__}" if argv and argv[0] in ("-V", "--version") else None
