/* SPDX-License-Identifier: MIT */
#if defined(__arm__) && !defined(__ARMEB__)
#include "neon.h"

#include "copy.h"
#include "ghash_sum.h"

/* Appends len bytes and pads. */
static size_t fill(gw_ghash_sum *s, const uint8_t *data, size_t len)
{
	uint8_t *to = s->buf + s->used;
	if (len & 15) vst1q_u8(to + (len & ~(size_t)15), vdupq_n_u8(0));
	gw_copy_few(to, data, len);
	s->used += (len + 15) & ~(size_t)15;
	return len;
}

static void flush(gw_ghash_sum *s)
{
	s->multiply(s->y, s->key, s->buf, s->used / 16);
	s->used = 0;
}

void gw_ghash_update(gw_ghash_sum *s, const uint8_t *data, size_t len)
{
	if (s->used > 0) {
		const size_t room = sizeof s->buf - s->used;
		const size_t n = fill(s, data, len < room ? len : room);
		data += n, len -= n;
		if (s->used == sizeof s->buf) flush(s);
	}
	if (len >= 128) {
		s->multiply(s->y, s->key, data, len / 128 * 8);
		data += len & ~(size_t)127;
		len &= 127;
	}
	if (len > 0) {
		(void)fill(s, data, len);
		if (s->used == sizeof s->buf) flush(s);
	}
}

void gw_ghash_finish(gw_ghash_sum *s, uint64_t aad_bytes, uint64_t text_bytes)
{
	gw_store_be64(s->buf + s->used, aad_bytes * 8);
	gw_store_be64(s->buf + s->used + 8, text_bytes * 8);
	s->used += 16;
	flush(s);
}

#include "neon_end.h"
#else
typedef int gw_ghash_sum_not_here;
#endif
