/* SPDX-License-Identifier: MIT
 * GHASH (SP 800-38D 6.4) by the 64-bit PMULL: eight blocks a reduction.
 *
 * A block is a polynomial with x^0 in the top bit of its first byte. After rev64 the two lanes are the 64-bit halves
 * as numbers, first half in lane 0. Products of such reflected polynomials come out one bit low, so powers of H are
 * kept multiplied by x. Each power also has the XOR of its halves, for Karatsuba's middle product.
 */
#ifndef GW_CRYPTO_AARCH64_GHASH_CE_H
#define GW_CRYPTO_AARCH64_GHASH_CE_H

#include "aes_ce.h"

#define GHASH_CE_POWERS 8

typedef struct gw_ghash_ce_key {
	uint64_t power[GHASH_CE_POWERS][2] __attribute__((aligned(16))); /* [i]: H^(8-i) * x */
	uint64_t mid[GHASH_CE_POWERS];                                   /* the halves of these, added */
} gw_ghash_ce_key;

/* An unreduced sum of products: weights x^0, x^64, x^128 of 64 x 64 bit products. */
typedef struct ghash_sum {
	uint64x2_t lo, mid, hi;
} ghash_sum;

/* Written out because compilers take vmull_p64's scalar arguments as a reason to load each half by itself. */
CE_INLINE uint64x2_t ghash_mul_lo(uint64x2_t a, uint64x2_t b) /* of lanes 0 */
{
	uint64x2_t r;
	__asm__("pmull %0.1q, %1.1d, %2.1d" : "=w"(r) : "w"(a), "w"(b));
	return r;
}

CE_INLINE uint64x2_t ghash_mul_hi(uint64x2_t a, uint64x2_t b) /* of lanes 1 */
{
	uint64x2_t r;
	__asm__("pmull2 %0.1q, %1.2d, %2.2d" : "=w"(r) : "w"(a), "w"(b));
	return r;
}

CE_INLINE uint64x2_t ghash_block(uint8x16_t bytes)
{
	return vreinterpretq_u64_u8(vrev64q_u8(bytes));
}

/* Two blocks by powers [at] and [at + 1]; their middle terms are made together. */
CE_INLINE void ghash_add2(ghash_sum *s, uint64x2_t a, uint64x2_t b, const gw_ghash_ce_key *k, int at)
{
	const uint64x2_t ha = vld1q_u64(k->power[at]), hb = vld1q_u64(k->power[at + 1]), hm = vld1q_u64(&k->mid[at]);
	const uint64x2_t m = veorq_u64(vtrn1q_u64(a, b), vtrn2q_u64(a, b));
	s->hi = veorq_u64(s->hi, ghash_mul_lo(a, ha));
	s->lo = veorq_u64(s->lo, ghash_mul_hi(a, ha));
	s->mid = veorq_u64(s->mid, ghash_mul_lo(m, hm));
	s->hi = veorq_u64(s->hi, ghash_mul_lo(b, hb));
	s->lo = veorq_u64(s->lo, ghash_mul_hi(b, hb));
	s->mid = veorq_u64(s->mid, ghash_mul_hi(m, hm));
}

CE_INLINE void ghash_add1(ghash_sum *s, uint64x2_t a, const gw_ghash_ce_key *k, int at)
{
	const uint64x2_t h = vld1q_u64(k->power[at]), m = veorq_u64(a, vextq_u64(a, a, 1));
	s->hi = veorq_u64(s->hi, ghash_mul_lo(a, h));
	s->lo = veorq_u64(s->lo, ghash_mul_hi(a, h));
	s->mid = veorq_u64(s->mid, ghash_mul_lo(m, vdupq_n_u64(k->mid[at])));
}

/* The remainder, in the lane order of a block. */
CE_INLINE uint64x2_t ghash_reduce(ghash_sum s)
{
	const uint64x2_t poly = vdupq_n_u64(0xc200000000000000);
	s.mid = veorq_u64(s.mid, veorq_u64(s.lo, s.hi));
	s.mid = veorq_u64(s.mid, veorq_u64(vextq_u64(s.lo, s.lo, 1), ghash_mul_lo(s.lo, poly)));
	s.hi = veorq_u64(s.hi, veorq_u64(vextq_u64(s.mid, s.mid, 1), ghash_mul_lo(s.mid, poly)));
	return vextq_u64(s.hi, s.hi, 1);
}

CE_INLINE ghash_sum ghash_zero(void)
{
	const uint64x2_t z = vdupq_n_u64(0);
	return (ghash_sum){z, z, z};
}

/* y = (y ^ block) * H for 1 to 8 whole blocks. */
CE_INLINE uint64x2_t ghash_few(uint64x2_t y, const uint8_t *data, int blocks, const gw_ghash_ce_key *k)
{
	ghash_sum s = ghash_zero();
	CE_ROLLED for (int i = 0; i < blocks; i++)
	{
		ghash_add1(&s, veorq_u64(y, ghash_block(vld1q_u8(data + 16 * i))), k, GHASH_CE_POWERS - blocks + i);
		y = vdupq_n_u64(0);
	}
	return ghash_reduce(s);
}

#endif
