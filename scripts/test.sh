#!/usr/bin/env bash
# `make test`: installs what every tier needs, builds, and runs all tiers in one pytest run, whose summary ends the output.
set -euo pipefail
cd "$(dirname "$0")/.."
# pytest starts makes of its own: this one's jobserver and options are not theirs.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
start=$(date +%s)
make --no-print-directory dev PROFILE=test
tiers=()
# The kernel as a process, at this processor's speed; `make test-kernel` boots the stock one in an emulated machine.
export MACHINE=${MACHINE:-uml}
for tier in unit vectors emulated e2e fuzz; do
	compgen -G "tests/$tier/test_*.py" >/dev/null && tiers+=("tests/$tier")
done
tiers+=(tests/kernel/test_kernel_{cells,netem,af_alg}.py)
# The cross builds belong to the emulated tier: its fixtures need them, its budget pays for them.
install_s=$(($(date +%s) - start))
if [ -d tests/emulated ] && compgen -G "tests/emulated/test_*.py" >/dev/null; then
	cross=$(date +%s)
	make --no-print-directory -s -j2 cross
	export GWBENCH_CROSS_S=$(($(date +%s) - cross))
fi
export GWBENCH_INSTALL_S=$install_s
exec .venv/bin/python -m pytest -q "${tiers[@]}" "$@"
