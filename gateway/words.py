"""Lists that a person writes with commas between: ``--suite``, ``--impl``, ``--algo``."""

from __future__ import annotations

from gateway.errors import UnusableError


def words(text: str, what: str, choices: str = "") -> tuple[str, ...]:
    """The words of ``text``, without repetition, split at commas outside parentheses (``authenc(hmac(sha256),...)``).

    UnusableError when there is none; ``what`` says of what, ``choices`` is what to do.
    """
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    kept = tuple(dict.fromkeys(word.strip() for word in found if word.strip()))
    if not kept:
        raise UnusableError(f"no {what} is named", choices, f"no-{what}")
    return kept
