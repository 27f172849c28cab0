/* SPDX-License-Identifier: MIT
 * SHA-256 with the SHA extensions: several packets interleaved, because SHA256RNDS2 waits for itself within one. Newer
 * processors start one each cycle and need four to be busy (sha256_shani_avx.c); two are what registers hold here.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

typedef struct half_states {
	__m128i abef, cdgh;
} half_states;

#define INLINE static inline __attribute__((always_inline)) GW_TARGET_SHANI

INLINE __m128i load_be(const uint8_t *p)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

INLINE half_states pack(const uint32_t *s)
{
	return (half_states){_mm_set_epi32((int)s[0], (int)s[1], (int)s[4], (int)s[5]),
						 _mm_set_epi32((int)s[2], (int)s[3], (int)s[6], (int)s[7])};
}

INLINE void unpack(half_states h, uint32_t *s)
{
	uint32_t x[4], y[4];
	_mm_storeu_si128((__m128i *)(void *)x, h.abef);
	_mm_storeu_si128((__m128i *)(void *)y, h.cdgh);
	s[0] = x[3], s[1] = x[2], s[4] = x[1], s[5] = x[0];
	s[2] = y[3], s[3] = y[2], s[6] = y[1], s[7] = y[0];
}

/* Four rounds with message words w. */
INLINE half_states four_rounds(half_states h, __m128i w, int r)
{
	const __m128i wk = _mm_add_epi32(w, _mm_load_si128((const __m128i *)(const void *)(gw_sha256_k + r)));
	h.cdgh = _mm_sha256rnds2_epu32(h.cdgh, h.abef, wk);
	h.abef = _mm_sha256rnds2_epu32(h.abef, h.cdgh, _mm_shuffle_epi32(wk, 0x0e));
	return h;
}

/* Message words 16 on from a: w[t-16], w[t-12], w[t-8], w[t-4] -> w[t]. */
INLINE __m128i schedule(__m128i a, __m128i b, __m128i c, __m128i d)
{
	return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4)), d);
}

/* -O2 alone does not unroll; a loop costs register copies that the two streams have no room for: a quarter. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 3")
#endif

#define STEP(i, x, w0, w1, w2, w3)                                                                                     \
	x = four_rounds(x, w0, 4 * (i));                                                                                   \
	w0 = schedule(w0, w1, w2, w3)

GW_TARGET_SHANI void gw_sha256_blocks_shani(void *state, const uint8_t *data, size_t n)
{
	half_states x = pack((const uint32_t *)state);
	for (; n > 0; n--, data += 64) {
		const half_states before = x;
		__m128i a = load_be(data), b = load_be(data + 16), c = load_be(data + 32), d = load_be(data + 48);
		for (int i = 0; i < 12; i += 4) {
			STEP(i, x, a, b, c, d);
			STEP(i + 1, x, b, c, d, a);
			STEP(i + 2, x, c, d, a, b);
			STEP(i + 3, x, d, a, b, c);
		}
		x = four_rounds(x, a, 48);
		x = four_rounds(x, b, 52);
		x = four_rounds(x, c, 56);
		x = four_rounds(x, d, 60);
		x.abef = _mm_add_epi32(x.abef, before.abef);
		x.cdgh = _mm_add_epi32(x.cdgh, before.cdgh);
	}
	unpack(x, (uint32_t *)state);
}

GW_TARGET_SHANI static void two(uint32_t *s, uint32_t *t, const uint8_t *p, const uint8_t *q, size_t n)
{
	half_states x = pack(s), y = pack(t);
	for (; n > 0; n--, p += 64, q += 64) {
		const half_states before_x = x, before_y = y;
		__m128i a = load_be(p), b = load_be(p + 16), c = load_be(p + 32), d = load_be(p + 48);
		__m128i e = load_be(q), f = load_be(q + 16), g = load_be(q + 32), h = load_be(q + 48);
		UNROLL
		for (int i = 0; i < 12; i += 4) {
			STEP(i, x, a, b, c, d);
			STEP(i, y, e, f, g, h);
			STEP(i + 1, x, b, c, d, a);
			STEP(i + 1, y, f, g, h, e);
			STEP(i + 2, x, c, d, a, b);
			STEP(i + 2, y, g, h, e, f);
			STEP(i + 3, x, d, a, b, c);
			STEP(i + 3, y, h, e, f, g);
		}
		x = four_rounds(x, a, 48);
		y = four_rounds(y, e, 48);
		x = four_rounds(x, b, 52);
		y = four_rounds(y, f, 52);
		x = four_rounds(x, c, 56);
		y = four_rounds(y, g, 56);
		x = four_rounds(x, d, 60);
		y = four_rounds(y, h, 60);
		x.abef = _mm_add_epi32(x.abef, before_x.abef);
		x.cdgh = _mm_add_epi32(x.cdgh, before_x.cdgh);
		y.abef = _mm_add_epi32(y.abef, before_y.abef);
		y.cdgh = _mm_add_epi32(y.cdgh, before_y.cdgh);
	}
	unpack(x, s);
	unpack(y, t);
}

/* Four streams: where the processor has AVX, by hand. */
GW_TARGET_SHANI static void four(uint32_t s[4][8], const uint8_t *const data[4], size_t n)
{
	if (gw_cpu() & GW_CPU_AVX) {
		half_states x[4];
		for (int k = 0; k < 4; k++) x[k] = pack(s[k]);
		gw_sha256_four_avx(x, data, n);
		for (int k = 0; k < 4; k++) unpack(x[k], s[k]);
	} else {
		two(s[0], s[1], data[0], data[1], n);
		two(s[2], s[3], data[2], data[3], n);
	}
}

static void get(const gw_sha256_lanes *l, int lane, uint32_t *s)
{
	for (int i = 0; i < 8; i++) s[i] = l->state[i][lane];
}

static void put(gw_sha256_lanes *l, int lane, const uint32_t *s)
{
	for (int i = 0; i < 8; i++) l->state[i][lane] = s[i];
}

static void run4(gw_sha256_lanes *l, size_t blocks)
{
	uint32_t s[4][8];
	for (int k = 0; k < 4; k++) get(l, k, s[k]);
	four(s, l->data, blocks);
	for (int k = 0; k < 4; k++) {
		put(l, k, s[k]);
		l->data[k] += 64 * blocks;
	}
}

/* Two lanes at a time, whichever have something left; the last one alone. */
void gw_sha256_rest_shani(gw_sha256_lanes *l)
{
	uint32_t s[2][8];
	int lane[2], n = 0;
	for (int i = 0; i <= GW_SHA256_LANES; i++) {
		if (i < GW_SHA256_LANES) {
			if (l->left[i] == 0) continue;
			get(l, i, s[n]);
			lane[n++] = i;
		}
		if (n == 2) {
			const size_t a = l->left[lane[0]], b = l->left[lane[1]], least = a < b ? a : b;
			two(s[0], s[1], l->data[lane[0]], l->data[lane[1]], least);
			const int done = a == least ? 0 : 1;
			for (int k = 0; k < 2; k++) {
				l->data[lane[k]] += 64 * least;
				l->left[lane[k]] -= least;
			}
			put(l, lane[done], s[done]);
			if (l->left[lane[1 - done]] == 0) {
				put(l, lane[1 - done], s[1 - done]);
				n = 0;
			} else { /* the longer one waits for the next lane */
				memmove(s[0], s[1 - done], sizeof s[0]);
				lane[0] = lane[1 - done];
				n = 1;
			}
		}
	}
	if (n == 1) {
		gw_sha256_blocks_shani(s[0], l->data[lane[0]], l->left[lane[0]]);
		put(l, lane[0], s[0]);
		l->left[lane[0]] = 0;
	}
}

/* Four at a time, then two, the last one alone. */
void gw_sha256_outer_shani(gw_sha256_outer *o)
{
	uint8_t block[4][64] = {{0}};
	const uint8_t *const data[4] = {block[0], block[1], block[2], block[3]};
	uint32_t state[4][8];
	for (uint32_t at = 0, n; at < o->n; at += n) {
		n = o->n - at >= 4 ? 4 : o->n - at >= 2 ? 2 : 1;
		for (uint32_t k = 0; k < n; k++) {
			const gw_hmac_ctx *key = (const gw_hmac_ctx *)o->op[at + k]->mac_key;
			memcpy(state[k], key->outer.w32, 32);
			for (int i = 0; i < 8; i++) gw_store_be32(block[k] + 4 * i, o->inner[i][at + k]);
			block[k][32] = 0x80;
			gw_store_be64(block[k] + 56, 8 * (64 + 32));
		}
		if (n == 4)
			four(state, data, 1);
		else if (n == 2)
			two(state[0], state[1], block[0], block[1], 1);
		else
			gw_sha256_blocks_shani(state[0], block[0], 1);
		for (uint32_t k = 0; k < n; k++) {
			uint8_t digest[32];
			for (int i = 0; i < 8; i++) gw_store_be32(digest + 4 * i, state[k][i]);
			memcpy(o->op[at + k]->tag, digest, o->op[at + k]->tag_len);
		}
	}
	o->n = 0;
}

static const gw_md md = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = gw_sha256_blocks_shani};
static const gw_sha256_kernel kernel = {
	.lanes = 4, .enough = 4, .run = run4, .rest = gw_sha256_rest_shani, .outer = gw_sha256_outer_shani};

static void hash(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hash(&md, ops, n);
	else
		gw_sha256_lanes_hash(&kernel, ops, n);
}

static void hmac(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hmac(&md, ops, n);
	else
		gw_sha256_lanes_hmac(&kernel, ops, n);
}

int gw_hmac_sha256_setkey_shani(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&md, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha256_shani = {
	.alg = "sha256",
	.driver = "sha256-shani/gwbench",
	.tag = "shani",
	.isa = "x86-64 SHA extensions",
	.kind = GW_KIND_HASH,
	.priority = 350,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI,
	.batch_hint = 4,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_shani = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-shani/gwbench",
	.tag = "shani",
	.isa = "x86-64 SHA extensions",
	.kind = GW_KIND_MAC,
	.priority = 350,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 4,
	.setkey = gw_hmac_sha256_setkey_shani,
	.encrypt = hmac,
};
#endif
