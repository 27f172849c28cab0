/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 with AVX-512: four blocks to a group, six groups at once; Poly1305 with the 52-bit multiplier
 * (IFMA), eight blocks abreast in limbs of 44, 44 and 42 bits.
 */
#if defined(__x86_64__)
#include "chacha20poly1305_x86.h"

#define TARGET __attribute__((target("avx2,bmi2,avx512f,avx512bw,avx512vl,avx512dq,avx512ifma")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- ChaCha20 ---- */

#define EACH UNROLL for (uint32_t i = 0; i < n; i++)

/* Four quarter rounds of each group, column by column. */
#define QUARTERS                                                                                                       \
	EACH a[i] = _mm512_add_epi32(a[i], b[i]);                                                                          \
	EACH d[i] = _mm512_rol_epi32(_mm512_xor_si512(d[i], a[i]), 16);                                                    \
	EACH c[i] = _mm512_add_epi32(c[i], d[i]);                                                                          \
	EACH b[i] = _mm512_rol_epi32(_mm512_xor_si512(b[i], c[i]), 12);                                                    \
	EACH a[i] = _mm512_add_epi32(a[i], b[i]);                                                                          \
	EACH d[i] = _mm512_rol_epi32(_mm512_xor_si512(d[i], a[i]), 8);                                                     \
	EACH c[i] = _mm512_add_epi32(c[i], d[i]);                                                                          \
	EACH b[i] = _mm512_rol_epi32(_mm512_xor_si512(b[i], c[i]), 7)

INLINE __m512i row(const void *p)
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
static const uint32_t count[16] __attribute__((aligned(64))) = {0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};

INLINE void groups(const gw_chacha_group *g, const uint32_t n, uint8_t *out)
{
	__m512i a[GW_CHACHA_GROUPS], b[GW_CHACHA_GROUPS], c[GW_CHACHA_GROUPS], d[GW_CHACHA_GROUPS];
	EACH
	{
		a[i] = row(sigma);
		b[i] = row(g[i].key->w);
		c[i] = row(g[i].key->w + 4);
		d[i] = _mm512_add_epi32(row(g[i].row3), _mm512_load_si512(count));
	}
	for (int r = 0; r < 10; r++) {
		QUARTERS;
		EACH
		{
			b[i] = _mm512_shuffle_epi32(b[i], 0x39);
			c[i] = _mm512_shuffle_epi32(c[i], 0x4e);
			d[i] = _mm512_shuffle_epi32(d[i], 0x93);
		}
		QUARTERS;
		EACH
		{
			b[i] = _mm512_shuffle_epi32(b[i], 0x93);
			c[i] = _mm512_shuffle_epi32(c[i], 0x4e);
			d[i] = _mm512_shuffle_epi32(d[i], 0x39);
		}
	}
	EACH
	{
		a[i] = _mm512_add_epi32(a[i], row(sigma));
		b[i] = _mm512_add_epi32(b[i], row(g[i].key->w));
		c[i] = _mm512_add_epi32(c[i], row(g[i].key->w + 4));
		d[i] = _mm512_add_epi32(d[i], _mm512_add_epi32(row(g[i].row3), _mm512_load_si512(count)));
		/* rows of four blocks to blocks of four rows */
		const __m512i ab01 = _mm512_shuffle_i32x4(a[i], b[i], 0x44), ab23 = _mm512_shuffle_i32x4(a[i], b[i], 0xee);
		const __m512i cd01 = _mm512_shuffle_i32x4(c[i], d[i], 0x44), cd23 = _mm512_shuffle_i32x4(c[i], d[i], 0xee);
		_mm512_store_si512(out + 256 * i, _mm512_shuffle_i32x4(ab01, cd01, 0x88));
		_mm512_store_si512(out + 256 * i + 64, _mm512_shuffle_i32x4(ab01, cd01, 0xdd));
		_mm512_store_si512(out + 256 * i + 128, _mm512_shuffle_i32x4(ab23, cd23, 0x88));
		_mm512_store_si512(out + 256 * i + 192, _mm512_shuffle_i32x4(ab23, cd23, 0xdd));
	}
}

TARGET static void stream512(const gw_chacha_group *g, uint32_t n, uint8_t *out)
{
	while (n > 0) { /* 5 = 3 + 2: a sixth one for nothing would cost more */
		const uint32_t m = n == 5 ? 3 : n;
		switch (m) {
		case 1: groups(g, 1, out); break;
		case 2: groups(g, 2, out); break;
		case 3: groups(g, 3, out); break;
		case 4: groups(g, 4, out); break;
		default: groups(g, 6, out); break;
		}
		g += m, n -= m, out += 256 * m;
	}
}

TARGET static void xor512(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t len)
{
	for (; len >= 64; len -= 64, out += 64, in += 64, stream += 64)
		_mm512_storeu_si512(out, _mm512_xor_si512(_mm512_loadu_si512(in), _mm512_load_si512(stream)));
	if (len > 0) {
		const __mmask64 mask = ~0ull >> (64 - len);
		_mm512_mask_storeu_epi8(out, mask,
								_mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, in), _mm512_load_si512(stream)));
	}
}

/* ---- Poly1305 ---- */

#define M44 0xfffffffffffull
#define M42 0x3ffffffffffull

__extension__ typedef unsigned __int128 u128;

typedef struct limbs {
	uint64_t v[3];
} limbs;

INLINE limbs times(limbs x, limbs y)
{
	const uint64_t s1 = 20 * y.v[1], s2 = 20 * y.v[2]; /* 2^132 = 4 * 5 */
	const u128 d0 = (u128)x.v[0] * y.v[0] + (u128)x.v[1] * s2 + (u128)x.v[2] * s1;
	const u128 d1 = (u128)x.v[0] * y.v[1] + (u128)x.v[1] * y.v[0] + (u128)x.v[2] * s2 + (uint64_t)(d0 >> 44);
	const u128 d2 = (u128)x.v[0] * y.v[2] + (u128)x.v[1] * y.v[1] + (u128)x.v[2] * y.v[0] + (uint64_t)(d1 >> 44);
	const uint64_t low = ((uint64_t)d0 & M44) + 5 * (uint64_t)(d2 >> 42);
	return (limbs){{low & M44, ((uint64_t)d1 & M44) + (low >> 44), (uint64_t)d2 & M42}};
}

typedef struct factor {
	__m512i r0, r1, r2, s1, s2;
} factor;

INLINE __m512i times20(__m512i v)
{
	return _mm512_add_epi64(_mm512_slli_epi64(v, 4), _mm512_slli_epi64(v, 2));
}

INLINE factor factor_of(__m512i r0, __m512i r1, __m512i r2)
{
	return (factor){r0, r1, r2, times20(r1), times20(r2)};
}

#define LO(acc, x, y) _mm512_madd52lo_epu64(acc, x, y)
#define HI(acc, x, y) _mm512_madd52hi_epu64(acc, x, y)

/* h * f in each lane; limbs of the result are below 2^44 (the second one by a little above), 2^44, 2^42. */
INLINE void multiply(__m512i h[3], const factor *f)
{
	const __m512i zero = _mm512_setzero_si512();
	const __m512i m44 = _mm512_set1_epi64((long long)M44), m42 = _mm512_set1_epi64((long long)M42);
	const __m512i lo0 = LO(LO(LO(zero, h[0], f->r0), h[1], f->s2), h[2], f->s1);
	const __m512i hi0 = HI(HI(HI(zero, h[0], f->r0), h[1], f->s2), h[2], f->s1);
	__m512i lo1 = LO(LO(LO(zero, h[0], f->r1), h[1], f->r0), h[2], f->s2);
	const __m512i hi1 = HI(HI(HI(zero, h[0], f->r1), h[1], f->r0), h[2], f->s2);
	__m512i lo2 = LO(LO(LO(zero, h[0], f->r2), h[1], f->r1), h[2], f->r0);
	const __m512i hi2 = HI(HI(HI(zero, h[0], f->r2), h[1], f->r1), h[2], f->r0);
	/* A high half counts 2^52: 2^8 of a limb of 44 bits, 2^10 of one of 42. */
	lo1 = _mm512_add_epi64(lo1, _mm512_add_epi64(_mm512_slli_epi64(hi0, 8), _mm512_srli_epi64(lo0, 44)));
	lo2 = _mm512_add_epi64(lo2, _mm512_add_epi64(_mm512_slli_epi64(hi1, 8), _mm512_srli_epi64(lo1, 44)));
	const __m512i top = _mm512_add_epi64(_mm512_slli_epi64(hi2, 10), _mm512_srli_epi64(lo2, 42));
	const __m512i low = _mm512_add_epi64(_mm512_and_si512(lo0, m44), _mm512_add_epi64(top, _mm512_slli_epi64(top, 2)));
	h[0] = _mm512_and_si512(low, m44);
	h[1] = _mm512_add_epi64(_mm512_and_si512(lo1, m44), _mm512_srli_epi64(low, 44));
	h[2] = _mm512_and_si512(lo2, m42);
}

/* Adds eight blocks; bit: 2^128 of each (in the third limb), none where a lane stands empty. Lanes hold the blocks
 * 0 4 1 5 2 6 3 7. */
INLINE void add_blocks(__m512i h[3], const uint8_t *m, __m512i bit)
{
	const __m512i m44 = _mm512_set1_epi64((long long)M44);
	const __m512i x = _mm512_loadu_si512(m), y = _mm512_loadu_si512(m + 64);
	const __m512i lo = _mm512_unpacklo_epi64(x, y), hi = _mm512_unpackhi_epi64(x, y);
	h[0] = _mm512_add_epi64(h[0], _mm512_and_si512(lo, m44));
	h[1] = _mm512_add_epi64(
		h[1], _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(lo, 44), _mm512_slli_epi64(hi, 20)), m44));
	h[2] = _mm512_add_epi64(h[2], _mm512_or_si512(_mm512_srli_epi64(hi, 24), bit));
}

/* Below that many bytes the powers of r cost more than they save. */
#define LONG_BYTES 256

TARGET static void mac512(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len)
{
	if (len < LONG_BYTES || aad_len > 16) {
		gw_poly_mac(p, aad, aad_len, data, len);
		return;
	}
	/* Powers of r, in the order in which the lanes hold their blocks. */
	static const uint8_t power_of_lane[8] = {8, 4, 7, 3, 6, 2, 5, 1};
	limbs r[9];
	uint64_t lanes[3][8] __attribute__((aligned(64)));
	r[1] = (limbs){{p->r[0] & M44, (p->r[0] >> 44 | p->r[1] << 20) & M44, p->r[1] >> 24}};
	r[2] = times(r[1], r[1]);
	r[3] = times(r[2], r[1]);
	r[4] = times(r[2], r[2]);
	r[5] = times(r[4], r[1]);
	r[6] = times(r[4], r[2]);
	r[7] = times(r[4], r[3]);
	r[8] = times(r[4], r[4]);
	UNROLL for (int l = 0; l < 3; l++)
	{
		UNROLL for (int i = 0; i < 8; i++) lanes[l][i] = r[power_of_lane[i]].v[l];
	}
	const factor r8 = factor_of(_mm512_set1_epi64((long long)r[8].v[0]), _mm512_set1_epi64((long long)r[8].v[1]),
								_mm512_set1_epi64((long long)r[8].v[2]));

	/* Empty lanes in front, AAD, data, what is left of the data, lengths: whole vectors all the way. */
	const size_t a = aad_len > 0, full = len / 16, partial = len % 16 != 0;
	const size_t empty = (0 - (a + full + partial + 1)) & 7, first = 8 - empty - a;
	uint8_t edge[128] __attribute__((aligned(64)));
	const __m512i bit = _mm512_set1_epi64(1ll << 40);
	const __m512i index = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
	__m512i h[3] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};

	memset(edge, 0, sizeof edge);
	if (a) memcpy(edge + 16 * empty, aad, aad_len);
	memcpy(edge + 16 * (empty + a), data, 16 * first);
	const __mmask8 there = _mm512_cmpge_epi64_mask(index, _mm512_set1_epi64((long long)empty));
	add_blocks(h, edge, _mm512_maskz_mov_epi64(there, bit));

	const uint8_t *at = data + 16 * first;
	size_t left = full - first;
	for (; left >= 8; left -= 8, at += 128) {
		multiply(h, &r8);
		add_blocks(h, at, bit);
	}
	memset(edge, 0, sizeof edge);
	memcpy(edge, at, 16 * left + len % 16);
	gw_store_le64(edge + 112, aad_len);
	gw_store_le64(edge + 120, len);
	multiply(h, &r8);
	add_blocks(h, edge, bit);

	const factor last =
		factor_of(_mm512_load_si512(lanes[0]), _mm512_load_si512(lanes[1]), _mm512_load_si512(lanes[2]));
	multiply(h, &last);
	/* Limbs to 64-bit words; h[2] keeps what exceeds 2^128. */
	uint64_t l0 = (uint64_t)_mm512_reduce_add_epi64(h[0]), l1 = (uint64_t)_mm512_reduce_add_epi64(h[1]);
	uint64_t l2 = (uint64_t)_mm512_reduce_add_epi64(h[2]);
	l1 += l0 >> 44, l0 &= M44;
	l2 += l1 >> 44, l1 &= M44;
	l0 += 5 * (l2 >> 42), l2 &= M42;
	l1 += l0 >> 44, l0 &= M44;
	l2 += l1 >> 44, l1 &= M44;
	p->h[0] = l0 | l1 << 44;
	p->h[1] = l1 >> 20 | l2 << 24;
	p->h[2] = l2 >> 40;
	gw_wipe(r, sizeof r);
	gw_wipe(lanes, sizeof lanes);
}

static const gw_chacha_kernel kernel = {
	.group_blocks = 4, .groups = GW_CHACHA_GROUPS, .stream = stream512, .xor = xor512, .mac = mac512};

static void seal(gw_op *ops, size_t n)
{
	gw_chacha_seal_x86(&kernel, ops, n);
}
static void open_(gw_op *ops, size_t n)
{
	gw_chacha_open_x86(&kernel, ops, n);
}

const gw_impl gw_impl_chacha20poly1305_avx512 = {
	.alg = "rfc7539(chacha20,poly1305)",
	.driver = "chacha20poly1305-avx512/gwbench",
	.tag = "avx512",
	.isa = "x86-64 AVX-512 IFMA",
	.kind = GW_KIND_AEAD,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_AVX2 | GW_CPU_BMI2 | GW_CPU_AVX512 | GW_CPU_AVX512IFMA,
	.key_ctx_bytes = sizeof(gw_chacha_key),
	.batch_hint = 6,
	.setkey = gw_chacha_setkey_x86,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
