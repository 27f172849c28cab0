"""The WDR4900 test with an emulated gateway: big-endian and 32-bit against little-endian and 64-bit, on the wire."""

from __future__ import annotations

import json
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


def test_the_protocol_on_every_machine(machine: emulator.Machine) -> None:
    """Its own printf and JSON, both byte orders, 32 and 64 bits; what needs a TUN is tested above."""
    sa = (
        '"direction":"out","suite":"aes128gcm16","local":"192.0.2.1","peer":"192.0.2.2","peer_port":4500,'
        '"local_port":4500,"enc_key":"00","auth_key":"","salt":""'
    )
    lines = [
        '{"id":1,"op":"hello","protocol":1}',
        '{"id":2,"op":"hello","protocol":-7}',
        '{"id":"\\u00e9","op":"delete_sa","spi":4294967295,"direction":"in"}',
        '{"id":4,"op":"delete_sa","spi":4294967296,"direction":"in"}',
        '{"id":5,"op":"add_sa","spi":4097,' + sa + "}",
        '{"id":6,"op":"add_sa","spi":4097,' + sa.replace('"00"', '"0"') + "}",
        '{"id":7,"op":"open_path","local":"192.0.2.1","port":65536}',
        '{"id":8,"op":"close"}',
    ]
    done = emulator.run(machine, "--stdio", stdin="\n".join(lines) + "\n")
    assert done.returncode == 0 and not done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["id"] for a in answers] == [1, 2, "é", 4, 5, 6, 7, 8]
    hello = answers[0]["result"]
    assert hello["kind"] == "gwnode" and hello["protocol"] == 1
    assert set(machine.features) <= set(hello["cpu_features"])
    assert "aes256-sha256" in hello["suites"]
    assert {i["checked"] for i in hello["implementations"] if i["runnable"]} == {"passed"}
    assert [a["error"]["code"] if not a["ok"] else "" for a in answers] == [
        "",
        "bad-protocol",
        "no-path",
        "bad-request",
        "no-path",
        "bad-request",
        "bad-request",
        "",
    ]
    assert answers[1]["error"]["message"] == "protocol -7 is not spoken here, 1 is"
    assert answers[3]["error"]["message"] == "'spi' is not between 0 and 4294967295"
    assert "odd number" in answers[5]["error"]["message"]


def test_tables_for_people(machine: emulator.Machine) -> None:
    doctor = emulator.run(machine, "doctor")
    assert doctor.returncode == 0 and "0 failed their known answers" in doctor.stdout
    esp = emulator.run(machine, "esp", "aes128gcm16")
    rows = [line.split() for line in esp.stdout.splitlines()[3:]]
    assert rows and all(float(row[1]) > 0 and int(row[2]) > 0 and float(row[3]) > 0 for row in rows), esp.stdout
