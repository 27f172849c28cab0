"""What the machine's side and the test's side call by the same name."""

from __future__ import annotations

SLOW, FAST = "cbc(aes-generic)", "cbc-aes-aesni"
ALGORITHM = "cbc(aes)"
