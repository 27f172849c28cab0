/* SPDX-License-Identifier: MIT
 * Data that comes in pieces, handed on in blocks of 16 bytes, eight or more at a time wherever the pieces end: for
 * GHASH and Poly1305 over AAD, text and lengths. Include after neon.h.
 */
#ifndef GW_CRYPTO_ARM_BLOCK_SUM_H
#define GW_CRYPTO_ARM_BLOCK_SUM_H

#include "../impl.h"

typedef struct gw_block_sum {
	void (*blocks)(void *ctx, const uint8_t *data, size_t n); /* n >= 1 */
	void *ctx;
	size_t used; /* of buf */
	uint8_t buf[128];
} gw_block_sum;

static inline void gw_block_sum_start(gw_block_sum *s, void (*blocks)(void *, const uint8_t *, size_t), void *ctx)
{
	s->blocks = blocks;
	s->ctx = ctx;
	s->used = 0;
}
/* Appends data and zeros up to the next whole block. */
void gw_block_sum_update(gw_block_sum *s, const uint8_t *data, size_t len);

/* Appends a last block and hands on what is left. There is room: update leaves less than a full buffer. */
static inline void gw_block_sum_finish(gw_block_sum *s, uint8x16_t last)
{
	vst1q_u8(s->buf + s->used, last);
	s->blocks(s->ctx, s->buf, s->used / 16 + 1);
	s->used = 0;
}

#endif
