/* SPDX-License-Identifier: MIT
 * Poly1305 (RFC 8439 2.5) with AVX2: four blocks abreast in limbs of 26 bits. A block alone waits for its own product;
 * four sums, each multiplied by r^4, do not, and meet at the end as r^4, r^3, r^2 and r say.
 */
#if defined(__x86_64__)
#include "chacha20poly1305_x86.h"

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
/* Making the powers of a packet's key pays from here on. */
#define LEAST_BYTES 192

__extension__ typedef unsigned __int128 u128;

typedef struct limbs { /* limb by limb, a lane a block */
	__m256i l0, l1, l2, l3, l4;
} limbs;

typedef struct factor {
	limbs r, r5; /* r5: five times r, for what exceeds 2^130 */
} factor;

static const uint64_t low26 = (1u << 26) - 1;

INLINE uint64_t limb(const uint64_t h[3], int i)
{
	const uint64_t l[5] = {h[0] & low26, h[0] >> 26 & low26, (h[0] >> 52 | h[1] << 12) & low26, h[1] >> 14 & low26,
						   h[1] >> 40 | h[2] << 24};
	return l[i];
}

/* a, b, c, d for the lanes from the lowest on. */
INLINE __m256i lanes(const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *d, int i)
{
	return _mm256_set_epi64x((long long)limb(d, i), (long long)limb(c, i), (long long)limb(b, i),
							 (long long)limb(a, i));
}

INLINE __m256i times5(__m256i v)
{
	return _mm256_add_epi64(v, _mm256_slli_epi64(v, 2));
}

INLINE factor factor_of(const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *d)
{
	const limbs r = {lanes(a, b, c, d, 0), lanes(a, b, c, d, 1), lanes(a, b, c, d, 2), lanes(a, b, c, d, 3),
					 lanes(a, b, c, d, 4)};
	return (factor){r, {times5(r.l0), times5(r.l1), times5(r.l2), times5(r.l3), times5(r.l4)}};
}

#define MUL(a, b)           _mm256_mul_epu32(a, b)
#define ADD(a, b)           _mm256_add_epi64(a, b)
#define SUM5(a, b, c, d, e) ADD(ADD(ADD(a, b), ADD(c, d)), e)

/* h f, limbs of little more than 26 bits. */
INLINE limbs times(limbs h, const factor *f)
{
	const __m256i mask = _mm256_set1_epi64x((long long)low26);
	__m256i d0 =
		SUM5(MUL(h.l0, f->r.l0), MUL(h.l1, f->r5.l4), MUL(h.l2, f->r5.l3), MUL(h.l3, f->r5.l2), MUL(h.l4, f->r5.l1));
	__m256i d1 =
		SUM5(MUL(h.l0, f->r.l1), MUL(h.l1, f->r.l0), MUL(h.l2, f->r5.l4), MUL(h.l3, f->r5.l3), MUL(h.l4, f->r5.l2));
	__m256i d2 =
		SUM5(MUL(h.l0, f->r.l2), MUL(h.l1, f->r.l1), MUL(h.l2, f->r.l0), MUL(h.l3, f->r5.l4), MUL(h.l4, f->r5.l3));
	__m256i d3 =
		SUM5(MUL(h.l0, f->r.l3), MUL(h.l1, f->r.l2), MUL(h.l2, f->r.l1), MUL(h.l3, f->r.l0), MUL(h.l4, f->r5.l4));
	__m256i d4 =
		SUM5(MUL(h.l0, f->r.l4), MUL(h.l1, f->r.l3), MUL(h.l2, f->r.l2), MUL(h.l3, f->r.l1), MUL(h.l4, f->r.l0));
#define CARRY(from, to)                                                                                                \
	to = ADD(to, _mm256_srli_epi64(from, 26));                                                                         \
	from = _mm256_and_si256(from, mask)
	CARRY(d0, d1); /* two chains side by side: 0 to 1 to 2 to 3, and 3 to 4 to 0 to 1 */
	CARRY(d3, d4);
	CARRY(d1, d2);
	d0 = ADD(d0, times5(_mm256_srli_epi64(d4, 26)));
	d4 = _mm256_and_si256(d4, mask);
	CARRY(d2, d3);
	CARRY(d0, d1);
	CARRY(d3, d4);
#undef CARRY
	return (limbs){d0, d1, d2, d3, d4};
}

/* 64 bytes: blocks 0, 2, 1, 3 in the lanes from the lowest on, each with its 2^128. */
INLINE limbs load(const uint8_t *p)
{
	const __m256i mask = _mm256_set1_epi64x((long long)low26);
	const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
	const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
	const __m256i lo = _mm256_unpacklo_epi64(a, b), hi = _mm256_unpackhi_epi64(a, b);
	return (limbs){
		_mm256_and_si256(lo, mask),
		_mm256_and_si256(_mm256_srli_epi64(lo, 26), mask),
		_mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(lo, 52), _mm256_slli_epi64(hi, 12)), mask),
		_mm256_and_si256(_mm256_srli_epi64(hi, 14), mask),
		_mm256_or_si256(_mm256_srli_epi64(hi, 40), _mm256_set1_epi64x(1 << 24)),
	};
}

INLINE limbs add(limbs a, limbs b)
{
	return (limbs){ADD(a.l0, b.l0), ADD(a.l1, b.l1), ADD(a.l2, b.l2), ADD(a.l3, b.l3), ADD(a.l4, b.l4)};
}

INLINE uint64_t sum(__m256i v)
{
	const __m128i w = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
	return (uint64_t)_mm_cvtsi128_si64(w) + (uint64_t)_mm_extract_epi64(w, 1);
}

/* n bytes, a multiple of 64 and at least 64. */
TARGET static void fours(gw_poly *p, const uint8_t *data, size_t n)
{
	uint64_t r[4][3]; /* r, r^2, r^3, r^4 */
	for (int i = 0; i < 4; i++) {
		memcpy(r[i], i == 0 ? (const uint64_t[3]){p->r[0], p->r[1], 0} : r[i - 1], sizeof r[i]);
		if (i > 0) gw_poly_times_r(p, r[i]);
	}
	factor all = factor_of(r[3], r[3], r[3], r[3]), last = factor_of(r[3], r[1], r[2], r[0]);
	limbs h = load(data);
	h = add(h, (limbs){_mm256_set_epi64x(0, 0, 0, (long long)limb(p->h, 0)),
					   _mm256_set_epi64x(0, 0, 0, (long long)limb(p->h, 1)),
					   _mm256_set_epi64x(0, 0, 0, (long long)limb(p->h, 2)),
					   _mm256_set_epi64x(0, 0, 0, (long long)limb(p->h, 3)),
					   _mm256_set_epi64x(0, 0, 0, (long long)limb(p->h, 4))});
	for (n -= 64, data += 64; n > 0; n -= 64, data += 64) h = add(times(h, &all), load(data));
	h = times(h, &last);
	u128 t = (u128)sum(h.l0) + ((u128)sum(h.l1) << 26) + ((u128)sum(h.l2) << 52);
	p->h[0] = (uint64_t)t;
	t = (t >> 64) + ((u128)sum(h.l3) << 14) + ((u128)sum(h.l4) << 40);
	p->h[1] = (uint64_t)t;
	const uint64_t top = (uint64_t)(t >> 64);
	t = (u128)p->h[0] + 5 * (top >> 2);
	p->h[0] = (uint64_t)t;
	t = (u128)p->h[1] + (uint64_t)(t >> 64);
	p->h[1] = (uint64_t)t;
	p->h[2] = (top & 3) + (uint64_t)(t >> 64);
	gw_wipe(r, sizeof r);
	gw_wipe(&all, sizeof all);
	gw_wipe(&last, sizeof last);
}

void gw_poly_mac_avx2(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len)
{
	const size_t many = len >= LEAST_BYTES ? len & ~(size_t)63 : 0;
	gw_poly_padded(p, aad, aad_len);
	if (many > 0) fours(p, data, many);
	gw_poly_padded(p, data + many, len - many);
	gw_poly_lengths(p, aad_len, len);
}
#endif
