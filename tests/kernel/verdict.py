"""What must hold of a case's record. Tests assert it, and the table shows it."""

from __future__ import annotations

from typing import Any


def cell_faults(result: dict[str, Any]) -> list[str]:
    """Of a cell of the matrix: every datagram came, as it was, and the books of both sides are the same."""
    faults = []
    for way in ("to_kernel", "to_us"):
        traffic = result[way]
        faults += [f"{way}: {line}" for line in traffic["wrong"]]
        if not traffic["received"] == traffic["sent"] >= 30:
            faults.append(f"{way}: {traffic['received']} of {traffic['sent']} datagrams")
    return faults + book_faults(result)


def book_faults(result: dict[str, Any]) -> list[str]:
    """Packets and inner bytes of both sides, sequence numbers, and no drop anywhere."""
    ours, kernel = result["ours"], result["kernel"]
    faults = []
    for mine, theirs in (("out", "in"), ("in", "out")):
        for what in ("packets", "bytes"):
            a, b = ours["sa"][mine][what], kernel[theirs][what]
            if a != b or not a:
                faults.append(f"our {mine}: {a} {what}, the kernel's {theirs}: {b}")
        if ours["sa"][mine]["seq"] != ours["sa"][mine]["packets"]:
            faults.append(f"our {mine}: sequence {ours['sa'][mine]['seq']} after {ours['sa'][mine]['packets']} packets")
        if ours["sa"][mine]["drops"]:
            faults.append(f"our {mine}: drops {ours['sa'][mine]['drops']}")
    if ours["drops"]:
        faults.append(f"our loop: drops {ours['drops']}")
    faults += [
        f"our loop: {ours['loop'][name]} {name}"
        for name in ("udp_send_errors", "udp_rcvbuf_drops", "tun_write_einval")
        if ours["loop"][name]
    ]
    if result["kernel_statistics"]:
        faults.append(f"the kernel: {result['kernel_statistics']}")
    return faults
