/* SPDX-License-Identifier: MIT
 * One GHASH in the making: data comes in pieces; eight blocks are multiplied at a time wherever the pieces end.
 */
#ifndef GW_CRYPTO_ARM_GHASH_SUM_H
#define GW_CRYPTO_ARM_GHASH_SUM_H

#include "../impl.h"

/* y = (y ^ data) * H, block by block. */
typedef void gw_ghash_fn(uint8_t y[16], const void *key, const uint8_t *data, size_t blocks);

typedef struct gw_ghash_sum {
	gw_ghash_fn *multiply;
	const void *key;
	size_t used; /* of buf */
	uint8_t y[16];
	uint8_t buf[128];
} gw_ghash_sum;

static inline void gw_ghash_start(gw_ghash_sum *s, gw_ghash_fn *multiply, const void *key)
{
	s->multiply = multiply;
	s->key = key;
	s->used = 0;
	memset(s->y, 0, 16);
}
/* Appends data and zeros up to the next whole block. All pieces but the last of a kind end at a whole block. */
void gw_ghash_update(gw_ghash_sum *s, const uint8_t *data, size_t len);
/* Appends the block of lengths (SP 800-38D, 7.1 step 5); y is then the hash. */
void gw_ghash_finish(gw_ghash_sum *s, uint64_t aad_bytes, uint64_t text_bytes);

#endif
