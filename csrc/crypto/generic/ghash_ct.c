/* SPDX-License-Identifier: MIT */
#include "ghash_ct.h"

#include "aes_ct.h"

#if GW_AES_CT

/* The low 64 bits of a carryless product. */
/* Out of line, as the other: routers with words of 32 bits need many instructions for either. */
static __attribute__((noinline)) uint64_t multiply_low(uint64_t x, uint64_t y)
{
	const uint64_t hole = 0x1111111111111111;
	const uint64_t x0 = x & hole, x1 = x & hole << 1, x2 = x & hole << 2, x3 = x & hole << 3;
	const uint64_t y0 = y & hole, y1 = y & hole << 1, y2 = y & hole << 2, y3 = y & hole << 3;
	const uint64_t z0 = (x0 * y0) ^ (x1 * y3) ^ (x2 * y2) ^ (x3 * y1);
	const uint64_t z1 = (x0 * y1) ^ (x1 * y0) ^ (x2 * y3) ^ (x3 * y2);
	const uint64_t z2 = (x0 * y2) ^ (x1 * y1) ^ (x2 * y0) ^ (x3 * y3);
	const uint64_t z3 = (x0 * y3) ^ (x1 * y2) ^ (x2 * y1) ^ (x3 * y0);
	return (z0 & hole) | (z1 & hole << 1) | (z2 & hole << 2) | (z3 & hole << 3);
}

static __attribute__((noinline)) uint64_t reverse(uint64_t x)
{
	x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
	x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
	x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
	return gw_swap64(x);
}

void gw_ghash_ct_init(gw_ghash_ct *t, const uint8_t h[16])
{
	t->h[0] = gw_load_be64(h + 8);
	t->h[1] = gw_load_be64(h);
	t->h[2] = t->h[0] ^ t->h[1];
	for (int i = 0; i < 3; i++) t->reversed[i] = reverse(t->h[i]);
}

static void multiply(const gw_ghash_ct *t, uint64_t y[2])
{
	/* Karatsuba: low, high and middle products, 128 bits each. */
	const uint64_t factor[3] = {y[0], y[1], y[0] ^ y[1]};
	uint64_t low[3], high[3];
	for (int i = 0; i < 3; i++) {
		low[i] = multiply_low(factor[i], t->h[i]);
		high[i] = reverse(multiply_low(reverse(factor[i]), t->reversed[i])) >> 1;
	}
	uint64_t p0 = low[0], p1 = high[0] ^ low[2] ^ low[0] ^ low[1];
	uint64_t p2 = low[1] ^ high[2] ^ high[0] ^ high[1], p3 = high[1];
	/* GCM's bits stand reversed: the product of 255 bits is one place off. */
	p3 = p3 << 1 | p2 >> 63;
	p2 = p2 << 1 | p1 >> 63;
	p1 = p1 << 1 | p0 >> 63;
	p0 <<= 1;
	/* modulo x^128 + x^7 + x^2 + x + 1, the lowest word first */
	p2 ^= p0 ^ p0 >> 1 ^ p0 >> 2 ^ p0 >> 7;
	p1 ^= p0 << 63 ^ p0 << 62 ^ p0 << 57;
	p3 ^= p1 ^ p1 >> 1 ^ p1 >> 2 ^ p1 >> 7;
	p2 ^= p1 << 63 ^ p1 << 62 ^ p1 << 57;
	y[0] = p2;
	y[1] = p3;
}

void gw_ghash_ct_update(const gw_ghash_ct *t, uint8_t y[16], const uint8_t *data, size_t len)
{
	uint64_t s[2] = {gw_load_be64(y + 8), gw_load_be64(y)};
	while (len > 0) {
		const size_t n = len < 16 ? len : 16;
		uint8_t block[16] = {0};
		memcpy(block, data, n);
		s[0] ^= gw_load_be64(block + 8);
		s[1] ^= gw_load_be64(block);
		multiply(t, s);
		data += n;
		len -= n;
	}
	gw_store_be64(y + 8, s[0]);
	gw_store_be64(y, s[1]);
}
#endif
