/* SPDX-License-Identifier: MIT
 * GHASH by vmull.p8, see ghash_neon.S.
 */
#ifndef GW_CRYPTO_ARM_GHASH_NEON_H
#define GW_CRYPTO_ARM_GHASH_NEON_H

#include "../impl.h"

typedef struct gw_ghash_neon_key {
	uint64_t part[3][8][8] __attribute__((aligned(16))); /* high, low, sum; H^8..H^1 over x; rotations */
} gw_ghash_neon_key;

void gw_ghash_neon_init(gw_ghash_neon_key *k, const uint8_t h[16]);
/* y = (y ^ data) * H, block by block. */
void gw_ghash_neon(uint8_t y[16], const gw_ghash_neon_key *k, const uint8_t *data, size_t blocks);

/* One hash in the making: data comes in pieces; eight blocks are multiplied at a time wherever the pieces end. */
typedef struct gw_ghash_neon_sum {
	const gw_ghash_neon_key *key;
	size_t used; /* of buf */
	uint8_t y[16];
	uint8_t buf[128];
} gw_ghash_neon_sum;

static inline void gw_ghash_neon_start(gw_ghash_neon_sum *s, const gw_ghash_neon_key *key)
{
	s->key = key;
	s->used = 0;
	memset(s->y, 0, 16);
}
/* Appends data and zeros up to the next whole block. All pieces but the last of a kind end at a whole block. */
void gw_ghash_neon_update(gw_ghash_neon_sum *s, const uint8_t *data, size_t len);
/* Appends the block of lengths (SP 800-38D, 7.1 step 5) and writes y. */
void gw_ghash_neon_finish(gw_ghash_neon_sum *s, uint64_t aad_bytes, uint64_t text_bytes);

#endif
