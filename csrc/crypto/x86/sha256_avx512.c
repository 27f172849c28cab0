/* SPDX-License-Identifier: MIT
 * SHA-256, sixteen packets abreast: one word of each in a 512-bit register. Rotations and three-input functions are
 * single instructions here, which makes it faster than the SHA extensions once most lanes are busy.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define INLINE static inline __attribute__((always_inline)) TARGET
/* -O2 alone does not unroll, and arrays of vectors live in registers only when it happens. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define XOR3(a, b, c)     _mm512_ternarylogic_epi32(a, b, c, 0x96)
#define CHOOSE(e, f, g)   _mm512_ternarylogic_epi32(e, f, g, 0xca)
#define MAJORITY(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0xe8)

#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
	do {                                                                                                               \
		__m512i t = _mm512_add_epi32(h, _mm512_add_epi32(w[i], _mm512_set1_epi32((int)k[i])));                         \
		t = _mm512_add_epi32(t, CHOOSE(e, f, g));                                                                      \
		t = _mm512_add_epi32(t, XOR3(_mm512_ror_epi32(e, 6), _mm512_ror_epi32(e, 11), _mm512_ror_epi32(e, 25)));       \
		d = _mm512_add_epi32(d, t);                                                                                    \
		t = _mm512_add_epi32(t, MAJORITY(a, b, c));                                                                    \
		h = _mm512_add_epi32(t, XOR3(_mm512_ror_epi32(a, 2), _mm512_ror_epi32(a, 13), _mm512_ror_epi32(a, 22)));       \
	} while (0)

/* The message words stay in memory: state, words and temporaries together would not fit 32 registers, and what a
 * compiler then spills lies on the critical path. */
#define IN_MEMORY(w) __asm__ volatile("" : "+m"(*(__m512i(*)[16])(w)))

#define SCHEDULE(i)                                                                                                    \
	do {                                                                                                               \
		const __m512i x = w[((i) + 1) & 15], y = w[((i) + 14) & 15];                                                   \
		const __m512i s0 = XOR3(_mm512_ror_epi32(x, 7), _mm512_ror_epi32(x, 18), _mm512_srli_epi32(x, 3));             \
		const __m512i s1 = XOR3(_mm512_ror_epi32(y, 17), _mm512_ror_epi32(y, 19), _mm512_srli_epi32(y, 10));           \
		w[i] = _mm512_add_epi32(_mm512_add_epi32(w[i], w[((i) + 9) & 15]), _mm512_add_epi32(s0, s1));                  \
		IN_MEMORY(w);                                                                                                  \
	} while (0)

#define SIXTEEN(BEFORE)                                                                                                \
	BEFORE(0);                                                                                                         \
	ROUND(a, b, c, d, e, f, g, h, 0);                                                                                  \
	BEFORE(1);                                                                                                         \
	ROUND(h, a, b, c, d, e, f, g, 1);                                                                                  \
	BEFORE(2);                                                                                                         \
	ROUND(g, h, a, b, c, d, e, f, 2);                                                                                  \
	BEFORE(3);                                                                                                         \
	ROUND(f, g, h, a, b, c, d, e, 3);                                                                                  \
	BEFORE(4);                                                                                                         \
	ROUND(e, f, g, h, a, b, c, d, 4);                                                                                  \
	BEFORE(5);                                                                                                         \
	ROUND(d, e, f, g, h, a, b, c, 5);                                                                                  \
	BEFORE(6);                                                                                                         \
	ROUND(c, d, e, f, g, h, a, b, 6);                                                                                  \
	BEFORE(7);                                                                                                         \
	ROUND(b, c, d, e, f, g, h, a, 7);                                                                                  \
	BEFORE(8);                                                                                                         \
	ROUND(a, b, c, d, e, f, g, h, 8);                                                                                  \
	BEFORE(9);                                                                                                         \
	ROUND(h, a, b, c, d, e, f, g, 9);                                                                                  \
	BEFORE(10);                                                                                                        \
	ROUND(g, h, a, b, c, d, e, f, 10);                                                                                 \
	BEFORE(11);                                                                                                        \
	ROUND(f, g, h, a, b, c, d, e, 11);                                                                                 \
	BEFORE(12);                                                                                                        \
	ROUND(e, f, g, h, a, b, c, d, 12);                                                                                 \
	BEFORE(13);                                                                                                        \
	ROUND(d, e, f, g, h, a, b, c, 13);                                                                                 \
	BEFORE(14);                                                                                                        \
	ROUND(c, d, e, f, g, h, a, b, 14);                                                                                 \
	BEFORE(15);                                                                                                        \
	ROUND(b, c, d, e, f, g, h, a, 15)

#define NOTHING(i) (void)0

INLINE __m512i swap_words(__m512i v)
{
	return _mm512_shuffle_epi8(
		v, _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)));
}

INLINE __m512i load_be(const uint8_t *p, size_t at)
{
	return swap_words(_mm512_loadu_si512(p + at));
}

/* 16 lanes' blocks -> w[i] = word i of every lane: a 16 x 16 transposition of words in four steps of pairs. */
INLINE void load_words(const uint8_t *const *data, size_t at, __m512i *w)
{
	__m512i t[16];
	UNROLL for (int i = 0; i < 16; i += 2)
	{
		const __m512i x = load_be(data[i], at), y = load_be(data[i + 1], at);
		t[i] = _mm512_unpacklo_epi32(x, y);
		t[i + 1] = _mm512_unpackhi_epi32(x, y);
	}
	UNROLL for (int i = 0; i < 16; i += 4)
	{
		w[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
		w[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
		w[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
		w[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
	/* w[4 g + j] holds word 4 q + j of lanes 4 g .. 4 g + 3 in its quarter q. */
	UNROLL for (int j = 0; j < 4; j++)
	{
		const __m512i p = _mm512_shuffle_i32x4(w[j], w[4 + j], 0x88), q = _mm512_shuffle_i32x4(w[j], w[4 + j], 0xdd);
		const __m512i r = _mm512_shuffle_i32x4(w[8 + j], w[12 + j], 0x88),
					  s = _mm512_shuffle_i32x4(w[8 + j], w[12 + j], 0xdd);
		t[j] = _mm512_shuffle_i32x4(p, r, 0x88);
		t[8 + j] = _mm512_shuffle_i32x4(p, r, 0xdd);
		t[4 + j] = _mm512_shuffle_i32x4(q, s, 0x88);
		t[12 + j] = _mm512_shuffle_i32x4(q, s, 0xdd);
	}
	UNROLL for (int i = 0; i < 16; i++) w[i] = t[i];
}

/* s += compression of one block, whose words are w. */
INLINE void compress(__m512i *s, __m512i *w)
{
	__m512i a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
	const uint32_t *k = gw_sha256_k;

	IN_MEMORY(w);
	SIXTEEN(NOTHING);
	for (int r = 16; r < 64; r += 16) {
		k += 16;
		SIXTEEN(SCHEDULE);
	}
	s[0] = _mm512_add_epi32(s[0], a);
	s[1] = _mm512_add_epi32(s[1], b);
	s[2] = _mm512_add_epi32(s[2], c);
	s[3] = _mm512_add_epi32(s[3], d);
	s[4] = _mm512_add_epi32(s[4], e);
	s[5] = _mm512_add_epi32(s[5], f);
	s[6] = _mm512_add_epi32(s[6], g);
	s[7] = _mm512_add_epi32(s[7], h);
}

TARGET static void run16(gw_sha256_lanes *l, size_t blocks)
{
	__m512i s[8], w[16];
	UNROLL for (int i = 0; i < 8; i++) s[i] = _mm512_load_si512(l->state[i]);
	const size_t bytes = 64 * blocks;
	for (size_t at = 0; at < bytes; at += 64) {
		load_words(l->data, at, w);
		compress(s, w);
	}
	UNROLL for (int i = 0; i < 8; i++) _mm512_store_si512(l->state[i], s[i]);
	for (int i = 0; i < 16; i++) l->data[i] += bytes;
}

/* With fewer packets than that the SHA extensions, two abreast, are faster. */
#define ENOUGH 10

/* The inner digests are the first words of the outer block as they stand: nothing is stored and loaded as bytes. */
TARGET static void outer16(gw_sha256_outer *o)
{
	__m512i s[8], w[16];
	uint32_t out[8][16] __attribute__((aligned(64)));
	bool same = true;

	if (o->n < ENOUGH) {
		gw_sha256_outer_shani(o);
		return;
	}
	for (uint32_t i = 1; i < o->n; i++) same &= o->op[i]->mac_key == o->op[0]->mac_key;
	if (same) {
		const uint32_t *from = ((const gw_hmac_ctx *)o->op[0]->mac_key)->outer.w32;
		UNROLL for (int i = 0; i < 8; i++) s[i] = _mm512_set1_epi32((int)from[i]);
	} else {
		for (uint32_t lane = 0; lane < 16; lane++) {
			const gw_op *op = o->op[lane < o->n ? lane : 0];
			for (int i = 0; i < 8; i++) out[i][lane] = ((const gw_hmac_ctx *)op->mac_key)->outer.w32[i];
		}
		UNROLL for (int i = 0; i < 8; i++) s[i] = _mm512_load_si512(out[i]);
	}
	UNROLL for (int i = 0; i < 8; i++) w[i] = _mm512_load_si512(o->inner[i]);
	w[8] = _mm512_set1_epi32((int)0x80000000);
	UNROLL for (int i = 9; i < 15; i++) w[i] = _mm512_setzero_si512();
	w[15] = _mm512_set1_epi32(8 * (64 + 32));
	compress(s, w);

	UNROLL for (int i = 0; i < 8; i++) _mm512_store_si512(out[i], swap_words(s[i]));
	for (uint32_t lane = 0; lane < o->n; lane++) {
		const gw_op *op = o->op[lane];
		if (op->tag_len == 16) {
			for (int i = 0; i < 4; i++) memcpy(op->tag + 4 * i, &out[i][lane], 4);
		} else {
			uint32_t digest[8];
			for (int i = 0; i < 8; i++) digest[i] = out[i][lane];
			memcpy(op->tag, digest, op->tag_len);
		}
	}
	o->n = 0;
}

static const gw_sha256_kernel kernel = {
	.lanes = 16, .enough = ENOUGH, .run = run16, .rest = gw_sha256_rest_shani, .outer = outer16};

static void hash(gw_op *ops, size_t n)
{
	gw_sha256_lanes_hash(&kernel, ops, n);
}
static void hmac(gw_op *ops, size_t n)
{
	gw_sha256_lanes_hmac(&kernel, ops, n);
}

const gw_impl gw_impl_sha256_avx512 = {
	.alg = "sha256",
	.driver = "sha256-avx512/gwbench",
	.tag = "avx512",
	.isa = "x86-64 AVX-512, 16 packets abreast; SHA extensions below 10",
	.kind = GW_KIND_HASH,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI | GW_CPU_AVX512,
	.batch_hint = 16,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_avx512 = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-avx512/gwbench",
	.tag = "avx512",
	.isa = "x86-64 AVX-512, 16 packets abreast; SHA extensions below 10",
	.kind = GW_KIND_MAC,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI | GW_CPU_AVX512,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 16,
	.setkey = gw_hmac_sha256_setkey_shani,
	.encrypt = hmac,
};
#endif
