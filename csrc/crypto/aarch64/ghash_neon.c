/* SPDX-License-Identifier: MIT
 * See ghash_neon.h.
 */
#if defined(__aarch64__)

#include "ghash_neon.h"

#include "aes_neon.h"

#define NONE 0xff /* TBL gives 0 */

/* [s - 1]: where the bytes of a sum of distance s go: as they are, and those that wrapped, eight bytes lower. */
static const uint8_t place[4][2][16] __attribute__((aligned(64))) = {
	{{NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, NONE},
	 {NONE, NONE, NONE, NONE, NONE, NONE, NONE, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE}},
	{{NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, NONE, NONE},
	 {NONE, NONE, NONE, NONE, NONE, NONE, 12, 13, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE}},
	{{NONE, NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NONE, NONE, NONE},
	 {NONE, NONE, NONE, NONE, NONE, 10, 11, 12, 13, 14, 15, NONE, NONE, NONE, NONE, NONE}},
	{{NONE, NONE, NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7, NONE, NONE, NONE, NONE},
	 {NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13, 14, 15, NONE, NONE, NONE, NONE}},
};

/* [s - 1]: rotation of each half by s bytes */
static const uint8_t rotation[4][16] __attribute__((aligned(64))) = {
	{1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8},
	{2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9},
	{3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10},
	{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11},
};

/* Written out: compilers load the halves of an operand one by one for the intrinsics. */
NEON_INLINE uint8x16_t mul_low(uint8x16_t a, uint8x16_t b)
{
	uint8x16_t r;
	__asm__("pmull %0.8h, %1.8b, %2.8b" : "=w"(r) : "w"(a), "w"(b));
	return r;
}

NEON_INLINE uint8x16_t mul_high(uint8x16_t a, uint8x16_t b)
{
	uint8x16_t r;
	__asm__("pmull2 %0.8h, %1.16b, %2.16b" : "=w"(r) : "w"(a), "w"(b));
	return r;
}

/* Sums by distance, of products of low halves, of high halves, and of halves added (Karatsuba). */
typedef struct sums {
	uint8x16_t low[GHASH_NEON_SHIFTS], high[GHASH_NEON_SHIFTS], mid[GHASH_NEON_SHIFTS];
} sums;

NEON_INLINE void add_products(uint8x16_t *low, uint8x16_t *high, uint8x16_t x, const uint8_t (*h)[16],
							  const uint8x16_t *rotate)
{
	const uint8x16_t h0 = vld1q_u8(h[0]);
	low[0] = veorq_u8(low[0], mul_low(x, h0));
	high[0] = veorq_u8(high[0], mul_high(x, h0));
	NEON_UNROLL for (int s = 1; s < GHASH_NEON_SHIFTS; s++)
	{
		const uint8x16_t hs = vld1q_u8(h[s]);
		low[s] = veorq_u8(low[s], mul_low(x, hs));
		high[s] = veorq_u8(high[s], mul_high(x, hs));
		if (s == 4) break;
		const uint8x16_t xs = vqtbl1q_u8(x, rotate[s - 1]);
		low[s] = veorq_u8(low[s], mul_low(xs, h0));
		high[s] = veorq_u8(high[s], mul_high(xs, h0));
	}
}

NEON_INLINE void add_pair(sums *a, uint8x16_t x, uint8x16_t y, const gw_ghash_neon_pair *p, const uint8x16_t *rotate)
{
	const uint64x2_t x64 = vreinterpretq_u64_u8(x), y64 = vreinterpretq_u64_u8(y);
	const uint8x16_t m = vreinterpretq_u8_u64(veorq_u64(vzip1q_u64(x64, y64), vzip2q_u64(x64, y64)));
	add_products(a->low, a->high, x, p->high, rotate);
	add_products(a->low, a->high, y, p->low, rotate);
	/* both halves of the middle products are of one weight */
	add_products(a->mid, a->mid, m, p->mid, rotate);
}

NEON_INLINE uint8x16_t collect(const uint8x16_t *sum)
{
	uint8x16_t r = sum[0];
	NEON_UNROLL for (int s = 1; s < GHASH_NEON_SHIFTS; s++)
	{
		r = veorq_u8(r, vqtbl1q_u8(sum[s], vld1q_u8(place[s - 1][0])));
		r = veorq_u8(r, vqtbl1q_u8(sum[s], vld1q_u8(place[s - 1][1])));
	}
	return r;
}

NEON_INLINE uint8x16_t reduce(const sums *a)
{
	const uint8x16_t zero = vdupq_n_u8(0), again = vsetq_lane_u8(0x86, zero, 0);
	uint8x16_t low = collect(a->low), high = collect(a->high);
	const uint8x16_t mid = veorq_u8(collect(a->mid), veorq_u8(low, high));
	low = veorq_u8(low, vextq_u8(zero, mid, 8));
	high = veorq_u8(high, vextq_u8(mid, zero, 8));
	/* x^128 = x^7 + x^2 + x + 1 = 0x87; what leaves at the top once more comes back at byte 0: r + 0x86 r */
	const uint8x16_t even = mul_low(high, vdupq_n_u8(0x87)), odd = mul_high(high, vdupq_n_u8(0x87));
	const uint8x16_t up = vuzp2q_u8(even, odd), turned = vextq_u8(up, up, 15);
	low = veorq_u8(low, veorq_u8(vuzp1q_u8(even, odd), turned));
	return veorq_u8(low, mul_low(turned, again));
}

NEON_INLINE void load_rotations(uint8x16_t *rotate)
{
	NEON_UNROLL for (int s = 0; s < 3; s++) rotate[s] = vld1q_u8(rotation[s]);
}

void gw_ghash_neon_setkey(gw_ghash_neon_key *k, const uint8_t h[16])
{
	const uint8x16_t one = vrbitq_u8(vld1q_u8(h));
	uint8x16_t rotate[3], power = one;
	load_rotations(rotate);
	NEON_ROLLED for (int i = 3; i >= 0; i--)
	{
		gw_ghash_neon_pair *p = &k->pair[i];
		NEON_ROLLED for (int j = 0; j < 2; j++)
		{ /* the odd power first, it is the lower one */
			uint8_t(*to)[16] = j == 0 ? p->low : p->high;
			const uint8x16_t m = veorq_u8(power, vextq_u8(power, power, 8));
			for (int s = 0; s < GHASH_NEON_SHIFTS; s++) {
				const uint8x16_t mr = s ? vqtbl1q_u8(m, vld1q_u8(rotation[s - 1])) : m;
				vst1q_u8(to[s], s ? vqtbl1q_u8(power, vld1q_u8(rotation[s - 1])) : power);
				vst1_u8(p->mid[s] + (j == 0 ? 8 : 0), vget_low_u8(mr));
			}
			/* by H, the lower power of the last pair; with its higher one, which may not be there yet, goes 0 */
			sums a;
			memset(&a, 0, sizeof a);
			add_pair(&a, vdupq_n_u8(0), power, &k->pair[3], rotate);
			power = reduce(&a);
		}
	}
}

void gw_ghash_neon(const gw_ghash_neon_key *k, uint8_t y[16], const uint8_t *data, size_t len)
{
	uint8x16_t rotate[3], acc = vrbitq_u8(vld1q_u8(y));
	load_rotations(rotate);
	NEON_ROLLED while (len > 0)
	{
		uint8_t padded[128];
		const gw_ghash_neon_pair *p = k->pair, *end = k->pair + 4;
		sums a;
		memset(&a, 0, sizeof a);
		if (len < 128) { /* fewer blocks: the lower powers; an odd number has a zero block in front */
			const size_t blocks = (len + 15) / 16, skip = blocks & 1;
			memset(padded, 0, 128);
			memcpy(padded + 16 * skip, data, len);
			p += 4 - (blocks + skip) / 2;
			data = padded;
			len = 128;
			uint8x16_t first = veorq_u8(vld1q_u8(padded + 16 * skip), vrbitq_u8(acc));
			vst1q_u8(padded + 16 * skip, first);
			acc = vdupq_n_u8(0);
		}
		NEON_ROLLED for (; p < end; p++, data += 32)
		{
			const uint8x16_t first = veorq_u8(vrbitq_u8(vld1q_u8(data)), acc), second = vrbitq_u8(vld1q_u8(data + 16));
			acc = vdupq_n_u8(0);
			add_pair(&a, first, second, p, rotate);
		}
		acc = reduce(&a);
		len -= 128;
	}
	vst1q_u8(y, vrbitq_u8(acc));
}

#endif
