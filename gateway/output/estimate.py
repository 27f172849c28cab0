"""What ``gwbench estimate`` prints; every line that is not a measurement says so."""

from __future__ import annotations

from gateway import costmodel
from gateway.measure.estimate import FACTOR_ERROR, WdrResult, flow
from gateway.output.plain import short, table, wrap

PUBLISHED_AES_GAIN = 1.62
"""AES-256-CBC decryption of 8192 bytes, SPE over generic, in the WDR4900's own tcrypt table."""


def enough(
    rows: list[costmodel.CostRow], file: costmodel.CostFile, mbit: float, frame: int, io_s_per_gb: float, estimate: str
) -> list[str]:
    """Is this CPU enough, for each direction of a suite."""
    inner = frame - costmodel.ETHERNET_BYTES
    lines = [f"{file.cpu_model}, {file.clock_hz / 1e6:.0f} MHz"]
    if estimate:
        lines += wrap(f"ESTIMATE from {estimate}: nothing was measured on that processor.")
    head = [f"{mbit:g} Mbit/s of {frame}-byte frames", "crypto", "I/O", "one core's limit", "error", ""]
    body = []
    for row in rows:
        n = costmodel.need(row, file.clock_hz, mbit, inner, io_s_per_gb)
        error = max(row.fit.worst, 0.05 if estimate else 0.0)
        share = n.crypto_share + n.io_share
        verdict = "too slow" if share * (1 - error) > 1 else "borderline" if share * (1 + error) > 1 else "enough"
        if verdict == "enough" and not io_s_per_gb:
            verdict = "crypto fits"
        body.append(
            [
                f"{row.suite} {row.op}",
                f"{n.crypto_share:.1%}",
                f"{n.io_share:.1%}" if io_s_per_gb else "?",
                f"{n.limit_mbit_per_s:.0f} Mbit/s",
                f"{error:.0%}",
                verdict,
            ]
        )
    lines += table(head, body)
    lines.append("")
    for row in rows:
        lines += wrap(f"{row.suite} {row.op}: {short(row.implementation)}, batches of {row.batch}")
        sizes = [size for size, _ in row.points]
        if not min(sizes) <= inner <= max(sizes):
            lines += wrap(f"{inner} bytes lie outside the {min(sizes)} to {max(sizes)} that the model was made from.")
    lines += wrap("crypto, I/O: shares of one core. Mbit/s count inner IP packets.")
    if not io_s_per_gb:
        lines += wrap(
            "Packet I/O is not in it, and is often more than the crypto: give --io-s-per-gb, the s/GB of the null row "
            "of gwbench iperf on that machine."
        )
    return lines


def wdr4900(result: WdrResult, suite: str, source: str) -> list[str]:
    """The predicted factor, the published one, and what lies between."""
    p, f = result.prediction, flow(suite)
    published = result.published_factor
    base, best = (short(c.implementation) for c in (result.base, result.best))
    lines = ["TL-WDR4900, e500v2 at 800 MHz: iperf through the tunnel, generic C -> SPE", ""]
    lines += table(
        [suite, "predicted (ESTIMATE)", "published"],
        [
            [
                "generic, Mbit/s",
                f"{result.published_base_mbit_per_s:.1f} (calibrated)",
                f"{result.published_base_mbit_per_s:.1f}",
            ],
            ["SPE, Mbit/s", f"{result.predicted_mbit_per_s:.1f}", f"{result.published_mbit_per_s:.1f}"],
            ["factor", f"{p.factor:.2f} +-{p.factor * FACTOR_ERROR:.2f}", f"{published:.2f}"],
            ["crypto alone", f"{p.crypto_only:.2f}", "-"],
        ],
    )
    outside = p.total_per_byte - p.base_per_byte
    rate = result.published_base_mbit_per_s
    lines += ["", "cycles per byte of TCP goodput"]
    lines += [
        f"  {p.total_per_byte:6.1f}  in all, generic: 800 MHz / {rate} Mbit/s (published)",
        f"  {p.base_per_byte:6.1f}  of these crypto, estimated, generic",
        f"  {outside:6.1f}  outside crypto: the difference, {p.outside_share:.0%}; held constant",
        f"  {p.other_per_byte:6.1f}  crypto, estimated, SPE",
    ]
    lines += ["", "Method:"]
    lines += wrap(
        f"crypto from {source}: {f.inner_bytes}-byte packets opened in batches of 16, an acknowledgement sealed for "
        "every second one; cycles per instruction of each class of code are published or modelled."
    )
    lines += wrap(f"generic: {base}. SPE: {best}.")
    lines += wrap("Outside crypto was not measured: it is what the published generic rate leaves.")
    return [*lines, "What the model does not explain:", *_unexplained(result)]


def _unexplained(result: WdrResult) -> list[str]:
    p, published = result.prediction, result.published_factor
    lines: list[str] = []
    if published > p.factor:
        lines += wrap(
            f"{published - p.factor:.2f} of the published factor. The published generic code is the kernel's C of "
            "2015, not ours: where it was slower, crypto took more of the time than assumed here, and SPE gained more."
        )
        if p.crypto_only > published:
            needed = costmodel.crypto_share_for(published, p.crypto_only)
            lines += wrap(
                f"A factor of {published:.2f} from crypto that gains {p.crypto_only:.2f} needs crypto to be "
                f"{needed:.0%} of the time; the model has {1 - p.outside_share:.0%}. With the kernel modules' own gain "
                f"({PUBLISHED_AES_GAIN} for AES-256-CBC; SHA-256's was not published) it needs "
                f"{costmodel.crypto_share_for(published, PUBLISHED_AES_GAIN):.0%}."
            )
    else:
        lines += wrap(
            f"it predicts {p.factor - published:.2f} more than was published: our SPE code interleaves AES with "
            "SHA-256, which the kernel's modules do not."
        )
    return lines + wrap(
        "Also in the constant: cache misses of a whole kernel, interrupts, the Ethernet driver. Batches of 16 are our "
        "data path's; the kernel took packets one by one."
    )
