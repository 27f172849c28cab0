"""Published and measured figures that counts are set beside.

``ANCHORS``: instructions per byte of the best open implementations, counted with the same plugin (design, section 6):
AES-128, 8192-byte requests unless the key says otherwise; suites are whole 1408-byte packets through OpenSSL 3.0's EVP.

``CLASS_COST``: cycles per instruction of a class of code on a core, from published measurements. Within a class on one
core instructions predict time to about 5 %; everything derived from it is an estimate.
"""

from __future__ import annotations

# (target, algorithm, op, key bits; XTS counts both halves, 0 = keyless) -> instructions per byte
ANCHORS: dict[tuple[str, str, str, int], float] = {
    ("e500v2", "ecb(aes)", "encrypt", 128): 30.3,
    ("e500v2", "cbc(aes)", "encrypt", 128): 30.5,
    ("e500v2", "cbc(aes)", "decrypt", 128): 30.4,
    ("e500v2", "ctr(aes)", "encrypt", 128): 30.8,
    ("e500v2", "xts(aes)", "encrypt", 256): 32.3,
    ("e500v2", "ecb(aes)", "encrypt", 256): 41.5,
    ("e500v2", "cbc(aes)", "encrypt", 256): 41.8,
    ("e500v2", "ctr(aes)", "encrypt", 256): 42.0,
    ("e500v2", "xts(aes)", "encrypt", 512): 43.6,
    ("e500v2", "sha256", "hash", 0): 31.5,
    ("armv7", "ecb(aes)", "encrypt", 128): 17.1,
    ("armv7", "cbc(aes)", "encrypt", 128): 39.3,
    ("armv7", "cbc(aes)", "decrypt", 128): 20.3,
    ("armv7", "ctr(aes)", "encrypt", 128): 17.8,
    ("armv7", "ctr(aes)", "encrypt", 256): 24.2,
    ("armv7", "xts(aes)", "encrypt", 256): 17.9,
    ("armv7", "sha256", "hash", 0): 23.9,
    ("armv7", "aes128gcm16", "seal", 128): 28.9,
    ("armv7", "aes256-sha256", "seal", 256): 80.3,
    ("armv7", "chacha20poly1305", "seal", 256): 15.3,
    ("aarch64-neon", "ecb(aes)", "encrypt", 128): 11.7,
    ("aarch64-neon", "cbc(aes)", "encrypt", 128): 14.2,
    ("aarch64-neon", "cbc(aes)", "decrypt", 128): 15.8,
    ("aarch64-neon", "ctr(aes)", "encrypt", 128): 12.1,
    ("aarch64-neon", "xts(aes)", "encrypt", 256): 12.2,
    ("aarch64-neon", "sha256", "hash", 0): 26.4,
    ("aarch64-neon", "aes128gcm16", "seal", 128): 51.3,
    ("aarch64-neon", "aes256-sha256", "seal", 256): 59.5,
    ("aarch64-neon", "chacha20poly1305", "seal", 256): 14.6,
    ("aarch64-ce", "ecb(aes)", "encrypt", 128): 1.40,
    ("aarch64-ce", "cbc(aes)", "encrypt", 128): 1.54,
    ("aarch64-ce", "cbc(aes)", "decrypt", 128): 1.53,
    ("aarch64-ce", "ctr(aes)", "encrypt", 128): 1.81,
    ("aarch64-ce", "xts(aes)", "encrypt", 256): 1.87,
    ("aarch64-ce", "aes128gcm16", "seal", 128): 5.0,
    ("aarch64-ce", "aes256-sha256", "seal", 256): 7.1,
    ("aarch64-ce", "chacha20poly1305", "seal", 256): 14.6,
}


def anchor(target: str, algorithm: str, op: str, key_bits: int) -> float | None:
    return ANCHORS.get((target, algorithm, op, key_bits))


# The request size that an anchor was measured at.
def anchor_bytes(algorithm: str) -> int:
    return 8192 if "(" in algorithm or algorithm.startswith("sha") else 1408


CORES: dict[str, tuple[str, ...]] = {
    "armv7": ("cortex-a7", "cortex-a8"),
    "aarch64-neon": ("cortex-a53",),
    "aarch64-ce": ("cortex-a53",),
    "e500v2": ("e500v2",),
    "mips": ("mips-1004kc",),
    "mipsel": ("mips-1004kc",),
}

# class -> core -> cycles per instruction. cortex-a7 has no published data for NEON: there Q-register operations count
# twice (its NEON unit is 64 bits wide) at one cycle each, and scalar code is taken from the A53, the nearest core.
CLASS_COST: dict[str, dict[str, float]] = {
    "table-aes": {"cortex-a7": 0.69, "cortex-a8": 0.59, "cortex-a53": 0.69, "e500v2": 0.55, "mips-1004kc": 1.185},
    "sha2-scalar": {"cortex-a7": 0.545, "cortex-a8": 0.515, "cortex-a53": 0.545, "e500v2": 0.56},
    "sha2-neon": {"cortex-a7": 1.0, "cortex-a8": 0.527, "cortex-a53": 0.545},
    "bitsliced-neon": {"cortex-a7": 1.0, "cortex-a8": 1.11, "cortex-a53": 1.05},
    "ghash-p8": {"cortex-a7": 1.0, "cortex-a8": 0.98, "cortex-a53": 0.98},
    "tbl-serial": {"cortex-a53": 1.05},
    "tbl-parallel": {"cortex-a53": 0.85},
    "ce-aes": {"cortex-a53": 0.75},
    "ce-sha2": {"cortex-a53": 1.3},
}
NEON_CLASSES = {"sha2-neon", "bitsliced-neon", "ghash-p8"}
# Measured for whole batches of four and wider: four messages in the lanes of 64-bit-wide NEON stall on every Q result.
# 12 instructions per byte are 13.3 cycles on a Cortex-A8.
CLASS_COST["sha2-neon-4way"] = {"cortex-a7": 1.0, "cortex-a8": 1.11, "cortex-a53": 1.05}
NEON_CLASSES.add("sha2-neon-4way")
# AES and SHA-256 interleaved on SPE: not published, e500v2_model.py's estimate (its 0.555 for table AES fits the 0.55).
CLASS_COST["spe-cbc-sha256"] = {"e500v2": 0.54}
