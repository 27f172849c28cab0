"""``[user@]host[:port]`` as people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gateway.errors import UnusableError


@dataclass(frozen=True, slots=True)
class Address:
    """Where ssh goes to. What is empty or 0 is ssh's own configuration's to decide."""

    host: str
    user: str = ""
    port: int = 0

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return f"{user}{host}" + (f":{self.port}" if self.port else "")


def parse(text: str) -> Address:
    """``router``, ``root@192.168.1.1:2222``, ``root@[fe80::1%eth0]:22``, ``fd00::1``. Else UnusableError."""
    user, _, rest = text.rpartition("@")
    host, port = rest, ""
    if bracketed := re.fullmatch(r"\[([^\[\]]+)\](?::(.*))?", rest):
        host, port = bracketed[1], bracketed[2] or ""
        if bracketed[2] == "":
            raise _bad(text)
    elif rest.count(":") == 1:
        host, _, port = rest.partition(":")
        if not port:
            raise _bad(text)
    # A leading dash would be an option of ssh, and what a shell or ssh's configuration expands is no name.
    if not re.fullmatch(r"[A-Za-z0-9_:.%][A-Za-z0-9_:.%-]*", host) or (
        user and not re.fullmatch(r"[\w.+][\w.+-]*", user)
    ):
        raise _bad(text)
    if port and not (re.fullmatch(r"\d{1,5}", port, re.ASCII) and 1 <= int(port) <= 65535):
        raise UnusableError(f"{text!r}: {port} is not a port")
    return Address(host, user, int(port or 0))


def _bad(text: str) -> UnusableError:
    return UnusableError(f"{text!r} is no machine", "[user@]host[:port], an IPv6 address with a port in brackets")
