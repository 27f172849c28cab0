"""Our ESP and the kernel's: the matrix, and TCP streams (topology in tunnel_vm.py)."""

from __future__ import annotations

import pytest

import dataplane as dp
from tests.kernel import cells
from tests.kernel.cells import Cell
from tests.kernel.conftest import FULL
from tests.kernel.machine import Boot
from tests.kernel.traffic import STREAM_BYTES
from tests.kernel.verdict import cell_faults

CELLS = cells.full_product() if FULL else cells.covering_set()


def test_the_matrix_has_every_suite() -> None:
    assert set(cells.SUITES) == {suite.name for suite in dp.suites() if not suite.bench_only}
    for suite in dp.suites():
        if not suite.bench_only:
            assert cells.SUITES[suite.name][0] == suite.icv_bytes


def test_the_covering_set_has_every_pair() -> None:
    covering = cells.covering_set()
    assert len(covering) == len(set(covering)) <= cells.MOST_CELLS
    assert cells.uncovered(covering) == set()
    assert cells.uncovered(covering[1:])
    assert set(covering) <= set(cells.full_product())
    assert [cell for part in cells.shards(True) for cell in part] == cells.full_product()


def test_the_machine_ran_to_its_end(machine: Boot) -> None:
    assert machine.problem == ""
    assert machine.finished


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_cell(cell: Cell, machine: Boot) -> None:
    assert cell_faults(machine.result("cell", cell.name)) == []


@pytest.mark.parametrize("cell", cells.IPERF3, ids=[cell.name for cell in cells.IPERF3])
def test_a_tcp_stream_crosses_both_ways(cell: Cell, machine: Boot) -> None:
    """TCP repeats what a full queue lost: the books then differ by what both sides account for."""
    result = machine.result("iperf3", cell.name)
    ours, kernel = result["ours"], result["kernel"]
    for way in ("to_kernel", "to_us"):
        assert (
            result[way]["received_bytes"] > STREAM_BYTES / 2
        )  # the client leaves without waiting for the last of them
    lost = kernel["out"]["packets"] - ours["sa"]["in"]["packets"]
    assert lost == ours["loop"]["udp_rcvbuf_drops"]
    assert kernel["in"]["packets"] == ours["sa"]["out"]["packets"]
    assert kernel["in"]["bytes"] == ours["sa"]["out"]["bytes"]
    assert result["kernel_statistics"] == {}
    assert ours["drops"] == ours["sa"]["in"]["drops"] == ours["sa"]["out"]["drops"] == {}
