/* SPDX-License-Identifier: MIT
 * Limbs of 26 bits leave room for sums of five products in 64 bits, and carries can wait until the end of a block.
 */
#include "../poly1305.h"

#define LIMB 0x3ffffffu

void gw_poly1305_init(gw_poly1305 *p, const uint8_t key[32])
{
	const uint32_t a = gw_load_le32(key), b = gw_load_le32(key + 4), c = gw_load_le32(key + 8);
	const uint32_t d = gw_load_le32(key + 12);

	memset(p->h, 0, sizeof p->h);
	p->r[0] = a & 0x3ffffff; /* clamped by 0x0ffffffc0ffffffc0ffffffc0fffffff */
	p->r[1] = (a >> 26 | b << 6) & 0x3ffff03;
	p->r[2] = (b >> 20 | c << 12) & 0x3ffc0ff;
	p->r[3] = (c >> 14 | d << 18) & 0x3f03fff;
	p->r[4] = d >> 8 & 0x00fffff;
	for (int i = 0; i < 4; i++) p->s[i] = gw_load_le32(key + 16 + 4 * i);
}

/* h = (h + block + 2^128) * r modulo 2^130 - 5; what exceeds 2^130 comes back times 5. */
static void blocks(gw_poly1305 *p, const uint8_t *m, size_t n)
{
	const uint32_t r0 = p->r[0], r1 = p->r[1], r2 = p->r[2], r3 = p->r[3], r4 = p->r[4];
	const uint32_t s1 = 5 * r1, s2 = 5 * r2, s3 = 5 * r3, s4 = 5 * r4;
	uint32_t h0 = p->h[0], h1 = p->h[1], h2 = p->h[2], h3 = p->h[3], h4 = p->h[4];

	for (; n > 0; n--, m += 16) {
		const uint32_t a = gw_load_le32(m), b = gw_load_le32(m + 4), c = gw_load_le32(m + 8), d = gw_load_le32(m + 12);
		h0 += a & LIMB;
		h1 += (a >> 26 | b << 6) & LIMB;
		h2 += (b >> 20 | c << 12) & LIMB;
		h3 += (c >> 14 | d << 18) & LIMB;
		h4 += d >> 8 | 1u << 24;

#define M(x, y) ((uint64_t)(x) * (y))
		const uint64_t d0 = M(h0, r0) + M(h1, s4) + M(h2, s3) + M(h3, s2) + M(h4, s1);
		uint64_t d1 = M(h0, r1) + M(h1, r0) + M(h2, s4) + M(h3, s3) + M(h4, s2);
		uint64_t d2 = M(h0, r2) + M(h1, r1) + M(h2, r0) + M(h3, s4) + M(h4, s3);
		uint64_t d3 = M(h0, r3) + M(h1, r2) + M(h2, r1) + M(h3, r0) + M(h4, s4);
		uint64_t d4 = M(h0, r4) + M(h1, r3) + M(h2, r2) + M(h3, r1) + M(h4, r0);
#undef M
		d1 += d0 >> 26;
		d2 += d1 >> 26;
		d3 += d2 >> 26;
		d4 += d3 >> 26;
		h0 = ((uint32_t)d0 & LIMB) + 5 * (uint32_t)(d4 >> 26);
		h1 = ((uint32_t)d1 & LIMB) + (h0 >> 26);
		h0 &= LIMB;
		h2 = (uint32_t)d2 & LIMB;
		h3 = (uint32_t)d3 & LIMB;
		h4 = (uint32_t)d4 & LIMB;
	}
	p->h[0] = h0, p->h[1] = h1, p->h[2] = h2, p->h[3] = h3, p->h[4] = h4;
}

void gw_poly1305_padded(gw_poly1305 *p, const uint8_t *data, size_t len)
{
	blocks(p, data, len / 16);
	if (len % 16 != 0) {
		uint8_t last[16] = {0};
		memcpy(last, data + len / 16 * 16, len % 16);
		blocks(p, last, 1);
	}
}

void gw_poly1305_finish(gw_poly1305 *p, uint8_t tag[16])
{
	uint32_t *h = p->h, g[5];

	for (int i = 0, carry = 0; i < 10; i++) { /* twice around: all limbs below 2^26 */
		h[i % 5] += (uint32_t)carry * (i % 5 == 0 ? 5 : 1);
		carry = (int)(h[i % 5] >> 26);
		h[i % 5] &= LIMB;
		if (i == 9) h[0] += 5 * (uint32_t)carry;
	}
	/* h - (2^130 - 5), taken when it is not negative. */
	uint32_t carry = 5;
	for (int i = 0; i < 5; i++) {
		g[i] = h[i] + carry;
		carry = g[i] >> 26;
		g[i] &= LIMB;
	}
	const uint32_t take = 0 - carry;
	for (int i = 0; i < 5; i++) h[i] = (h[i] & ~take) | (g[i] & take);

	const uint32_t words[4] = {h[0] | h[1] << 26, h[1] >> 6 | h[2] << 20, h[2] >> 12 | h[3] << 14,
							   h[3] >> 18 | h[4] << 8};
	uint64_t sum = 0;
	for (int i = 0; i < 4; i++) {
		sum = (sum >> 32) + words[i] + p->s[i];
		gw_store_le32(tag + 4 * i, (uint32_t)sum);
	}
	gw_wipe(p, sizeof *p);
}
