/* SPDX-License-Identifier: MIT
 * Two lanes: one sums the even blocks, one the odd ones, both times r^2 a step; the last step multiplies by r^2 and r
 * instead, and the lanes are added. An odd number of blocks begins with nothing in the first lane. Limbs of 26 bits as
 * in the scalar code, products in 64 bits.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "poly1305_neon.h"

#define LIMB 0x3ffffffu

/* a = a * b modulo 2^130 - 5, limbs a little above 26 bits at most. */
static void multiply(uint32_t a[5], const uint32_t b[5])
{
	uint64_t d[5];
	for (int i = 0; i < 5; i++) {
		d[i] = 0;
		for (int j = 0; j < 5; j++) d[i] += (uint64_t)a[j] * (j <= i ? b[i - j] : 5 * b[5 + i - j]);
	}
	for (int i = 0; i < 4; i++) d[i + 1] += d[i] >> 26;
	for (int i = 0; i < 5; i++) a[i] = (uint32_t)d[i] & LIMB;
	a[0] += 5 * (uint32_t)(d[4] >> 26);
	a[1] += a[0] >> 26;
	a[0] &= LIMB;
}

typedef struct limbs {
	uint32x2_t l[5];
} limbs;

/* Both blocks' limbs, with 2^128 added. */
static inline limbs load_two(const uint8_t *m)
{
	const uint32x2_t mask = vdup_n_u32(LIMB);
	const uint32x2x4_t w = vld4_u32((const uint32_t *)(const void *)m);
	limbs x;
	x.l[0] = vand_u32(w.val[0], mask);
	x.l[1] = vand_u32(vsli_n_u32(vshr_n_u32(w.val[0], 26), w.val[1], 6), mask);
	x.l[2] = vand_u32(vsli_n_u32(vshr_n_u32(w.val[1], 20), w.val[2], 12), mask);
	x.l[3] = vand_u32(vsli_n_u32(vshr_n_u32(w.val[2], 14), w.val[3], 18), mask);
	x.l[4] = vorr_u32(vshr_n_u32(w.val[3], 8), vdup_n_u32(1u << 24));
	return x;
}

static inline limbs times(limbs h, const uint32x2_t r[5], const uint32x2_t s[5])
{
	const uint32x2_t mask = vdup_n_u32(LIMB);
	uint64x2_t d[5];
	limbs x;
#define ROW(i, a, b, c, e, f)                                                                                          \
	d[i] = vmull_u32(h.l[0], a);                                                                                       \
	d[i] = vmlal_u32(d[i], h.l[1], b);                                                                                 \
	d[i] = vmlal_u32(d[i], h.l[2], c);                                                                                 \
	d[i] = vmlal_u32(d[i], h.l[3], e);                                                                                 \
	d[i] = vmlal_u32(d[i], h.l[4], f)
	ROW(0, r[0], s[4], s[3], s[2], s[1]);
	ROW(1, r[1], r[0], s[4], s[3], s[2]);
	ROW(2, r[2], r[1], r[0], s[4], s[3]);
	ROW(3, r[3], r[2], r[1], r[0], s[4]);
	ROW(4, r[4], r[3], r[2], r[1], r[0]);
#undef ROW
	for (int i = 0; i < 4; i++) d[i + 1] = vsraq_n_u64(d[i + 1], d[i], 26);
	for (int i = 0; i < 5; i++) x.l[i] = vand_u32(vmovn_u64(d[i]), mask);
	x.l[0] = vmla_u32(x.l[0], vshrn_n_u64(d[4], 26), vdup_n_u32(5));
	x.l[1] = vsra_n_u32(x.l[1], x.l[0], 26);
	x.l[0] = vand_u32(x.l[0], mask);
	return x;
}

void gw_poly1305_neon_init(gw_poly1305_neon *s, const uint8_t key[32])
{
	gw_poly1305_init(&s->p, key);
	memcpy(s->square, s->p.r, sizeof s->square);
	multiply(s->square, s->p.r);
}

void gw_poly1305_neon_blocks(void *state, const uint8_t *m, size_t n)
{
	gw_poly1305_neon *q = (gw_poly1305_neon *)state;
	gw_poly1305 *p = &q->p;
	uint32_t high = 0;
	uint32x2_t r[5], s[5];
	limbs h, x;
	for (int i = 0; i < 5; i++) {
		r[i] = vdup_n_u32(q->square[i]);
		s[i] = vmul_n_u32(r[i], 5);
	}
	if (n & 1) {
		uint8_t first[32];
		vst1q_u8(first, vdupq_n_u8(0));
		vst1q_u8(first + 16, vld1q_u8(m));
		x = load_two(first);
		x.l[4] = vset_lane_u32(0, x.l[4], 0);
		for (int i = 0; i < 5; i++) x.l[i] = vadd_u32(x.l[i], vset_lane_u32(p->h[i], vdup_n_u32(0), 1));
		m += 16, n += 1;
	} else {
		x = load_two(m);
		for (int i = 0; i < 5; i++) x.l[i] = vadd_u32(x.l[i], vset_lane_u32(p->h[i], vdup_n_u32(0), 0));
		m += 32;
	}
	for (n -= 2; n > 0; n -= 2, m += 32) {
		h = times(x, r, s);
		x = load_two(m);
		for (int i = 0; i < 5; i++) x.l[i] = vadd_u32(h.l[i], x.l[i]);
	}
	for (int i = 0; i < 5; i++) {
		r[i] = vset_lane_u32(p->r[i], r[i], 1);
		s[i] = vmul_n_u32(r[i], 5);
	}
	h = times(x, r, s);
	for (int i = 0; i < 5; i++) {
		const uint32_t sum = vget_lane_u32(h.l[i], 0) + vget_lane_u32(h.l[i], 1) + high;
		p->h[i] = sum & LIMB;
		high = sum >> 26;
	}
	p->h[0] += 5 * high;
}

#include "neon_end.h"
#else
typedef int gw_poly1305_neon_not_here;
#endif
