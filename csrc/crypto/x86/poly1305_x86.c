/* SPDX-License-Identifier: MIT
 * Poly1305 (RFC 8439 2.5) in scalar C: two limbs of 64 bits and a little one, 128-bit products.
 */
#if defined(__x86_64__)
#include "chacha20poly1305_x86.h"

__extension__ typedef unsigned __int128 u128;

void gw_poly_init(gw_poly *p, const uint8_t key[32])
{
	p->h[0] = p->h[1] = p->h[2] = 0;
	p->r[0] = gw_load_le64(key) & 0x0ffffffc0fffffff;
	p->r[1] = gw_load_le64(key + 8) & 0x0ffffffc0ffffffc;
	p->pad[0] = gw_load_le64(key + 16);
	p->pad[1] = gw_load_le64(key + 24);
}

/* h = (h + block + 2^128) * r modulo 2^130 - 5. r[1] is a multiple of 4, so that r[1] * 2^128 is r[1] / 4 * 5. */
static void blocks(gw_poly *p, const uint8_t *m, size_t n)
{
	const uint64_t r0 = p->r[0], r1 = p->r[1], s1 = r1 + (r1 >> 2);
	uint64_t h0 = p->h[0], h1 = p->h[1], h2 = p->h[2];
	for (; n > 0; n--, m += 16) {
		u128 t = (u128)h0 + gw_load_le64(m);
		h0 = (uint64_t)t;
		t = (u128)h1 + gw_load_le64(m + 8) + (uint64_t)(t >> 64);
		h1 = (uint64_t)t;
		h2 += (uint64_t)(t >> 64) + 1;

		const u128 d0 = (u128)h0 * r0 + (u128)h1 * s1;
		const u128 d1 = (u128)h0 * r1 + (u128)h1 * r0 + h2 * s1 + (uint64_t)(d0 >> 64);
		h2 = h2 * r0 + (uint64_t)(d1 >> 64);
		t = (u128)(uint64_t)d0 + (h2 >> 2) + (h2 & ~(uint64_t)3); /* what exceeds 2^130, times 5 */
		h0 = (uint64_t)t;
		t = (u128)(uint64_t)d1 + (uint64_t)(t >> 64);
		h1 = (uint64_t)t;
		h2 = (h2 & 3) + (uint64_t)(t >> 64);
	}
	p->h[0] = h0, p->h[1] = h1, p->h[2] = h2;
}

/* One product by itself, for the powers of r. */
void gw_poly_times_r(const gw_poly *p, uint64_t h[3])
{
	const uint64_t r0 = p->r[0], r1 = p->r[1], s1 = r1 + (r1 >> 2);
	const u128 d0 = (u128)h[0] * r0 + (u128)h[1] * s1;
	const u128 d1 = (u128)h[0] * r1 + (u128)h[1] * r0 + h[2] * s1 + (uint64_t)(d0 >> 64);
	const uint64_t top = h[2] * r0 + (uint64_t)(d1 >> 64);
	u128 t = (u128)(uint64_t)d0 + (top >> 2) + (top & ~(uint64_t)3);
	h[0] = (uint64_t)t;
	t = (u128)(uint64_t)d1 + (uint64_t)(t >> 64);
	h[1] = (uint64_t)t;
	h[2] = (top & 3) + (uint64_t)(t >> 64);
}

void gw_poly_padded(gw_poly *p, const uint8_t *data, size_t len)
{
	blocks(p, data, len / 16);
	if (len % 16 != 0) {
		uint8_t last[16] = {0};
		memcpy(last, data + (len & ~(size_t)15), len % 16);
		blocks(p, last, 1);
	}
}

void gw_poly_lengths(gw_poly *p, uint64_t aad_len, uint64_t len)
{
	uint8_t lengths[16];
	gw_store_le64(lengths, aad_len);
	gw_store_le64(lengths + 8, len);
	blocks(p, lengths, 1);
}

void gw_poly_mac(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len)
{
	gw_poly_padded(p, aad, aad_len);
	gw_poly_padded(p, data, len);
	gw_poly_lengths(p, aad_len, len);
}

void gw_poly_finish(gw_poly *p, uint8_t tag[16])
{
	/* h - (2^130 - 5), taken when it is not negative */
	u128 t = (u128)p->h[0] + 5;
	const uint64_t g0 = (uint64_t)t;
	t = (u128)p->h[1] + (uint64_t)(t >> 64);
	const uint64_t g1 = (uint64_t)t, take = 0 - ((p->h[2] + (uint64_t)(t >> 64)) >> 2);
	t = (u128)((p->h[0] & ~take) | (g0 & take)) + p->pad[0];
	gw_store_le64(tag, (uint64_t)t);
	t = (u128)((p->h[1] & ~take) | (g1 & take)) + p->pad[1] + (uint64_t)(t >> 64);
	gw_store_le64(tag + 8, (uint64_t)t);
	gw_wipe(p, sizeof *p);
}
#endif
