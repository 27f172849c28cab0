/* SPDX-License-Identifier: MIT */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "block_sum.h"
#include "copy.h"

/* Appends len bytes and pads. */
static size_t fill(gw_block_sum *s, const uint8_t *data, size_t len)
{
	uint8_t *to = s->buf + s->used;
	if (len & 15) vst1q_u8(to + (len & ~(size_t)15), vdupq_n_u8(0));
	gw_copy_few(to, data, len);
	s->used += (len + 15) & ~(size_t)15;
	return len;
}

static void flush(gw_block_sum *s)
{
	s->blocks(s->ctx, s->buf, s->used / 16);
	s->used = 0;
}

void gw_block_sum_update(gw_block_sum *s, const uint8_t *data, size_t len)
{
	if (s->used > 0) {
		const size_t room = sizeof s->buf - s->used;
		const size_t n = fill(s, data, len < room ? len : room);
		data += n, len -= n;
		if (s->used == sizeof s->buf) flush(s);
	}
	if (len >= 128) {
		s->blocks(s->ctx, data, len / 128 * 8);
		data += len & ~(size_t)127;
		len &= 127;
	}
	if (len > 0) {
		(void)fill(s, data, len);
		if (s->used == sizeof s->buf) flush(s);
	}
}

#include "neon_end.h"
#else
typedef int gw_block_sum_not_here;
#endif
