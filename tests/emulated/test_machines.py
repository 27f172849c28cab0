"""Known answers and differential tests of every implementation on every emulated machine."""

from __future__ import annotations

import emulator

# The seed is fixed so that a failure can be run again; `gwnode differential --seed N` tries others.
SEED = 20250101
ROUNDS = 24


def test_known_answers(machine: emulator.Machine) -> None:
    done = emulator.run(machine, "selftest")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout and "not run" not in done.stdout, done.stdout
    cpu = done.stdout.splitlines()[0].split()
    assert cpu[0] == "cpu"
    assert set(machine.features) <= set(cpu[1:])


def test_every_implementation_agrees_with_generic(machine: emulator.Machine) -> None:
    done = emulator.run(machine, "differential", "--seed", str(SEED), "--rounds", str(ROUNDS))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    tested = int(lines[-1].split()[0])
    assert tested == len(lines) - 1
    assert all(line.startswith("ok ") for line in lines[:-1]), done.stdout
    runnable = [
        line for line in emulator.run(machine, "selftest").stdout.splitlines()[1:] if "cpu lacks it" not in line
    ]
    assert tested == sum(1 for line in runnable if line.split()[2] != "generic")


def test_masked_features_are_not_used(machine: emulator.Machine) -> None:
    """Without any optional feature only portable C is left, and it works."""
    bare = emulator.Machine(machine.name, machine.build, machine.qemu)
    names = emulator.run(bare, "selftest").stdout.splitlines()[0].split()[1:]
    masked = emulator.Machine(
        machine.name, machine.build, machine.qemu, {"GWBENCH_CPU_DISABLE": ",".join(names)}, forbid_ce=True
    )
    done = emulator.run(masked, "selftest")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0].split() == ["cpu"]
