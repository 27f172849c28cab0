"""``gwbench crypto`` for people and for the parsers that people have: tables, tcrypt's lines, cryptsetup's table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway.measure.crypto import KERNEL, Crossover, Row
from gateway.output.plain import short, wrap

COLUMNS_PER_TABLE = 3


def names(rows: Sequence[Row]) -> dict[str, str]:
    """Driver to what a column is called: the tag where that is unique."""
    drivers = dict.fromkeys((r.cell.driver, r.cell.tag) for r in rows)
    tags = [tag for _, tag in drivers]
    return {
        driver: (tag if tags.count(tag) == 1 else short(driver)) + ("*" if driver.endswith(KERNEL) else "")
        for driver, tag in drivers
    }


def table(rows: Sequence[Row]) -> list[str]:
    """One block for each algorithm and three implementations."""
    lines: list[str] = []
    for algorithm in dict.fromkeys(r.cell.algorithm for r in rows):
        some = [r for r in rows if r.cell.algorithm == algorithm]
        called = names(some)
        drivers = list(called)
        batches = sorted({r.cell.batch for r in some})
        batch = f"batches of {batches[-1]}" if batches[-1] > 1 else "single requests"
        lines.append(f"{algorithm}: MB/s, x generic{', cycles/byte' if some[0].cycles_per_byte else ''}; {batch}")
        for first in range(0, len(drivers), COLUMNS_PER_TABLE):
            lines += _block(some, drivers[first : first + COLUMNS_PER_TABLE], called)
        lines += _spreads(some, called)
        if any(d.endswith(KERNEL) for d in drivers):
            lines.append("* includes system calls")
        lines.append("")
    return lines


def _block(rows: Sequence[Row], drivers: Sequence[str], called: dict[str, str]) -> list[str]:
    lines = ["op      key bytes" + "".join(f" {short(called[d], 20):>20}" for d in drivers)]
    cells = {(r.cell.place, r.cell.driver): r for r in rows}
    for place in dict.fromkeys(r.cell.place for r in rows):
        _, op, bits, size, _ = place
        got = [cells.get((place, d)) for d in drivers]
        lines.append(f"{op:7} {bits or '-':>3} {size:>5}" + "".join(f" {_cell(r):>20}" for r in got))
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}" if row.ratio < 10 else f"{row.ratio:.1f}"
    cycles = f"{row.cycles_per_byte.median:6.2f}" if row.cycles_per_byte else ""
    return f"{row.mb_per_s.median:.0f} {ratio:>5}{' ' if cycles else ''}{cycles}"


def _spreads(rows: Sequence[Row], called: dict[str, str]) -> list[str]:
    parts = []
    for driver, name in called.items():
        spreads = sorted(r.spread for r in rows if r.cell.driver == driver)
        parts.append(f"{name} {spreads[len(spreads) // 2]:.0%}")
    return wrap(f"spread (quartiles of the rounds, of the median): {', '.join(parts)}")


def crossover_lines(found: Sequence[Crossover]) -> list[str]:
    """Sizes from which another implementation is the fastest."""
    if not found:
        return []
    lines = ["Crossovers (bytes of a request):"]
    for c in found:
        key = f" {c.key_bits}" if c.key_bits else ""
        first, then = short(c.first), short(c.then)
        lines += wrap(f"{c.algorithm} {c.op}{key}: {first} up to {c.upto_bytes}, {then} from {c.from_bytes}")
    return lines


def constant_time_lines(rows: Sequence[Row]) -> list[str]:
    """Which of them leak secrets by their timing."""
    import dataplane

    leaky = {i.driver for i in dataplane.implementations() if not i.constant_time}
    names = [short(d) for d in dict.fromkeys(r.cell.driver for r in rows) if d in leaky]
    return wrap(f"Not constant-time (tables): {', '.join(names)}") if names else []


WORDS = {"encrypt": "encryption", "decrypt": "decryption", "seal": "encryption", "open": "decryption"}


def tcrypt(rows: Sequence[Row], seconds: int | None) -> list[str]:
    """Lines as the kernel's tcrypt module logs them. ``seconds``: what --sec asked for; 0 counts cycles; None: the
    measured time was less than a second, and the operations are scaled to one."""
    lines = []
    if seconds is None:
        lines.append("# measured for some milliseconds, scaled to 1 second; --sec 1 measures for one")
    if any(r.cell.driver.endswith(KERNEL) for r in rows):
        lines.append("# drivers that end in /kernel include system calls")
    groups = dict.fromkeys((r.cell.algorithm, r.cell.driver, r.cell.op) for r in rows)
    for algorithm, driver, op in groups:
        some = [r for r in rows if (r.cell.algorithm, r.cell.driver, r.cell.op) == (algorithm, driver, op)]
        some.sort(key=lambda r: (r.cell.key_bits, r.cell.bytes))
        hashing = op == "hash"
        what = f"{algorithm} ({driver})"
        lines += ["", f"testing speed of async {what}" if hashing else f"testing speed of async {what} {WORDS[op]}"]
        lines += [(_hash_line if hashing else _cipher_line)(n, row, seconds) for n, row in enumerate(some)]
    return lines


def _rate(row: Row, seconds: int | None) -> tuple[int, int]:
    """(operations, seconds)."""
    if seconds:
        return round(row.ops / row.ns * 1e9 * seconds), seconds
    return round(row.mb_per_s.median * 1e6 / row.cell.bytes), 1


def _cycles(row: Row) -> int:
    return round(row.cycles_per_byte.median * row.cell.bytes) if row.cycles_per_byte else 0


def _cipher_line(number: int, row: Row, seconds: int | None) -> str:
    c = row.cell
    head = f"tcrypt: test {number} ({c.key_bits} bit key, {c.bytes} byte blocks): "
    if seconds == 0:
        return head + f"1 operation in {_cycles(row)} cycles ({c.bytes} bytes)"
    operations, duration = _rate(row, seconds)
    return head + f"{operations} operations in {duration} seconds ({operations * c.bytes} bytes)"


def _hash_line(number: int, row: Row, seconds: int | None) -> str:
    size = row.cell.bytes
    head = f"tcrypt: test{number:3} ({size:5} byte blocks,{size:5} bytes per update,{1:4} updates): "
    if seconds == 0:
        return head + f"{_cycles(row):6} cycles/operation, {_cycles(row) // size:4} cycles/byte"
    operations, duration = _rate(row, seconds)
    return head + f"{operations // duration:6} opers/sec, {operations * size // duration:9} bytes/sec"


def cryptsetup(rows: Sequence[Row]) -> list[str]:
    """``cryptsetup benchmark``'s table, one for each family of implementations."""
    lines = ["# Tests are approximate using memory only (no storage IO)."]
    for tag in dict.fromkeys(r.cell.tag for r in rows):
        some = [r for r in rows if r.cell.tag == tag]
        lines.append(f"# {', '.join(dict.fromkeys(r.cell.driver for r in some))}"[:80])
        lines.append("#     Algorithm |       Key |      Encryption |      Decryption")
        for driver, algorithm, bits in dict.fromkeys((r.cell.driver, r.cell.algorithm, r.cell.key_bits) for r in some):
            mode, _, cipher = algorithm.rstrip(")").partition("(")
            speeds = {r.cell.op: r for r in some if (r.cell.driver, r.cell.key_bits) == (driver, bits)}
            name = f"{cipher.split(',')[0]}-{mode}"
            lines.append(f"{name:>15}  {bits:>9}b  {_mib(speeds, ENC)}  {_mib(speeds, DEC)}")
    return lines


ENC, DEC = ("encrypt", "seal"), ("decrypt", "open")


def _mib(speeds: dict[str, Row], ops: Iterable[str]) -> str:
    row = next((speeds[op] for op in ops if op in speeds), None)
    return f"{'N/A':>16}" if row is None else f"{row.mb_per_s.median * 1e6 / (1 << 20):10.1f} MiB/s"
