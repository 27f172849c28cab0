/* SPDX-License-Identifier: MIT
 * The table of ghash_neon.S, and hashing piece by piece.
 */
#if defined(__arm__) && !defined(__ARMEB__)
#include "neon.h"

#include "ghash_neon.h"

static void set_rotations(uint64_t to[8], uint64_t h)
{
	for (uint32_t i = 0; i < 8; i++) to[i] = i == 0 ? h : h >> 8 * i | h << (64 - 8 * i);
}

/* The entry of H^power. */
static void set_power(gw_ghash_neon_key *k, uint32_t power, const uint8_t h[16])
{
	uint64_t high = gw_load_be64(h), low = gw_load_be64(h + 8);
	/* H / x: coefficients one down, and 1/x = x^127 + x^6 + x + 1. */
	const uint64_t one = 0 - (high >> 63);
	high = (high << 1 | low >> 63) ^ (one & 0xc200000000000000);
	low = low << 1 ^ (one & 1);
	set_rotations(k->part[0][8 - power], high);
	set_rotations(k->part[1][8 - power], low);
	set_rotations(k->part[2][8 - power], high ^ low);
}

void gw_ghash_neon_init(gw_ghash_neon_key *k, const uint8_t h[16])
{
	uint8_t power[16], next[16];
	memcpy(power, h, 16);
	set_power(k, 1, power);
	for (uint32_t i = 2; i <= 8; i++) {
		memset(next, 0, 16);
		gw_ghash_neon(next, k, power, 1); /* uses the entry of H alone */
		memcpy(power, next, 16);
		set_power(k, i, power);
	}
	gw_wipe(power, sizeof power);
	gw_wipe(next, sizeof next);
}

/* Appends len bytes and pads. Out of line copies cost more than they move here. */
static size_t fill(gw_ghash_neon_sum *s, const uint8_t *data, size_t len)
{
	uint8_t *to = s->buf + s->used;
	const uint8_t *end = data + (len & ~(size_t)15);
	for (; data < end; data += 16, to += 16) vst1q_u8(to, vld1q_u8(data));
	if (len & 15) {
		vst1q_u8(to, vdupq_n_u8(0));
		if (len & 8) {
			vst1_u8(to, vld1_u8(data));
			data += 8, to += 8;
		}
		if (len & 4) {
			memcpy(to, data, 4);
			data += 4, to += 4;
		}
		for (size_t i = 0; i < (len & 3); i++) to[i] = data[i];
	}
	s->used += (len + 15) & ~(size_t)15;
	return len;
}

static void flush(gw_ghash_neon_sum *s)
{
	gw_ghash_neon(s->y, s->key, s->buf, s->used / 16);
	s->used = 0;
}

void gw_ghash_neon_update(gw_ghash_neon_sum *s, const uint8_t *data, size_t len)
{
	if (s->used > 0) {
		const size_t room = sizeof s->buf - s->used;
		const size_t n = fill(s, data, len < room ? len : room);
		data += n, len -= n;
		if (s->used == sizeof s->buf) flush(s);
	}
	if (len >= 128) {
		gw_ghash_neon(s->y, s->key, data, len / 128 * 8);
		data += len & ~(size_t)127;
		len &= 127;
	}
	if (len > 0) {
		(void)fill(s, data, len);
		if (s->used == sizeof s->buf) flush(s);
	}
}

void gw_ghash_neon_finish(gw_ghash_neon_sum *s, uint64_t aad_bytes, uint64_t text_bytes)
{
	gw_store_be64(s->buf + s->used, aad_bytes * 8);
	gw_store_be64(s->buf + s->used + 8, text_bytes * 8);
	s->used += 16;
	flush(s);
}

#include "neon_end.h"
#else
typedef int gw_ghash_neon_not_here;
#endif
