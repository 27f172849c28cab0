"""The provider af_alg where there is a kernel that has it."""

from __future__ import annotations

import re

from tests.kernel.machine import Boot


def test_the_kernels_ciphers_pass_what_ours_pass(machine: Boot) -> None:
    result = machine.result("af_alg", "af_alg")
    assert result["status"] == 0, result["output"]
    assert "known answers failed" not in result["output"]
    rows = re.search(r"^(\d+) rows", result["output"], re.MULTILINE)
    assert rows and int(rows[1]) > 0, result["output"]
    assert " passed" in result["output"]
