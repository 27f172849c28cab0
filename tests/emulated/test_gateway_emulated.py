"""The WDR4900 test with an emulated gateway: big-endian and 32-bit against little-endian and 64-bit, on the wire."""

from __future__ import annotations

import os
import shutil

import emulator
import pytest
import wdr4900

# What the emulated gateway carries in a run is a matter of the machine's speed; that it carries something is not.
LEAST_BYTES = 200_000


def rows(machine_name: str, seconds: int) -> list[wdr4900.Row]:
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK):
        pytest.skip("needs root and a writable /dev/net/tun")
    machine = emulator.MACHINES[machine_name]
    missing = emulator.missing_tools([machine]) + ([] if shutil.which("iperf3") else ["iperf3"])
    assert not missing, f"needs {', '.join(missing)}"
    found = wdr4900.measure(machine, ("generic", "accelerated"), seconds, {})
    for row in found:
        assert row.valid, row.reasons
        assert row.bytes > LEAST_BYTES and row.packets > 100
    return found


def test_wdr4900_with_an_emulated_gateway() -> None:
    """The gate (every packet length, both families, both ways) runs first; a row is valid when every packet adds up."""
    generic, spe = rows("e500v2", 2)
    assert generic.implementation == "cbc-aes-generic/gwbench + hmac-sha256-generic/gwbench"
    assert "-spe/gwbench" in spe.implementation and "generic" not in spe.implementation
    # Instructions, not time. In memory the suite's ratio is 1.4 and more; the rest of the process dilutes it.
    assert generic.insns_per_byte / spe.insns_per_byte > 1.2
    # Nothing but the data path may cost: in memory generic opens a byte for some 110 instructions.
    assert generic.insns_per_byte < 200 and spe.insns_per_byte < 150
    text = "\n".join(wdr4900.table("e500v2", [generic, spe]))
    assert "no Mbit/s" in text and text.count("yes") == 2


def test_an_armv7_gateway() -> None:
    generic, neon = rows("armv7-a7", 1)
    assert "generic" in generic.implementation and "neon" in neon.implementation
    assert generic.insns_per_byte > neon.insns_per_byte
