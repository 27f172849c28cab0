/* SPDX-License-Identifier: MIT
 * Arithmetic on 16-byte blocks that the modes share: XOR, the counter, the XTS tweak.
 */
#ifndef GW_CRYPTO_BLOCK_H
#define GW_CRYPTO_BLOCK_H

#include "../core/mem.h"

static inline void gw_xor16(uint8_t *out, const uint8_t *a, const uint8_t *b)
{
	uint64_t x[2], y[2];
	memcpy(x, a, 16);
	memcpy(y, b, 16);
	x[0] ^= y[0];
	x[1] ^= y[1];
	memcpy(out, x, 16);
}

static inline void gw_xor_bytes(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++) out[i] = a[i] ^ b[i];
}

/* The whole block is one big-endian number (SP 800-38A B.1, RFC 3686 with its block counter in the last word). */
static inline void gw_ctr128_add(uint8_t *block, uint64_t n)
{
	const uint64_t lo = gw_load_be64(block + 8) + n;
	gw_store_be64(block + 8, lo);
	if (lo < n) gw_store_be64(block, gw_load_be64(block) + 1);
}

/* GCM counts in the last 32 bits only (SP 800-38D 6.2). */
static inline void gw_ctr32_add(uint8_t *block, uint32_t n)
{
	gw_store_be32(block + 12, gw_load_be32(block + 12) + n);
}

/* IEEE 1619 5.2: multiplication by x in GF(2^128), little-endian. */
static inline void gw_xts_next(uint8_t *tweak)
{
	const uint64_t lo = gw_load_le64(tweak), hi = gw_load_le64(tweak + 8);
	gw_store_le64(tweak, lo << 1 ^ (0x87 & (0 - (hi >> 63))));
	gw_store_le64(tweak + 8, hi << 1 | lo >> 63);
}

#endif
