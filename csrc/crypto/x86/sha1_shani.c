/* SPDX-License-Identifier: MIT
 * SHA-1 (FIPS 180-4 6.1) with the SHA extensions, and its HMAC (RFC 2404): legacy suites only.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

#define INLINE static inline __attribute__((always_inline)) GW_TARGET_SHANI

static const uint32_t iv[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

/* Word 0 goes to the highest lane, as the instructions want it. */
INLINE __m128i load_be(const uint8_t *p)
{
	const __m128i swap = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

/* Four rounds; e comes from a of four rounds before, rotated by SHA1NEXTE. */
#define ROUNDS(w, f)                                                                                                   \
	do {                                                                                                               \
		const __m128i before = abcd;                                                                                   \
		abcd = _mm_sha1rnds4_epu32(abcd, _mm_sha1nexte_epu32(e, w), f);                                                \
		e = before;                                                                                                    \
	} while (0)

/* w[t-16], w[t-12], w[t-8], w[t-4] -> w[t], in place of the first */
#define SCHEDULE(a, b, c, d) a = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(a, b), c), d)

#define STEP(a, b, c, d, f)                                                                                            \
	ROUNDS(a, f);                                                                                                      \
	SCHEDULE(a, b, c, d)

GW_TARGET_SHANI static void blocks(void *state, const uint8_t *data, size_t n)
{
	uint32_t *s = (uint32_t *)state;
	__m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0x1b);
	__m128i e0 = _mm_set_epi32((int)s[4], 0, 0, 0);
	for (; n > 0; n--, data += 64) {
		const __m128i abcd0 = abcd;
		__m128i a = load_be(data), b = load_be(data + 16), c = load_be(data + 32), d = load_be(data + 48), e = abcd;
		abcd = _mm_sha1rnds4_epu32(abcd, _mm_add_epi32(e0, a), 0);
		SCHEDULE(a, b, c, d);
		STEP(b, c, d, a, 0);
		STEP(c, d, a, b, 0);
		STEP(d, a, b, c, 0);
		STEP(a, b, c, d, 0);
		STEP(b, c, d, a, 1);
		STEP(c, d, a, b, 1);
		STEP(d, a, b, c, 1);
		STEP(a, b, c, d, 1);
		STEP(b, c, d, a, 1);
		STEP(c, d, a, b, 2);
		STEP(d, a, b, c, 2);
		STEP(a, b, c, d, 2);
		STEP(b, c, d, a, 2);
		STEP(c, d, a, b, 2);
		STEP(d, a, b, c, 3);
		ROUNDS(a, 3);
		ROUNDS(b, 3);
		ROUNDS(c, 3);
		ROUNDS(d, 3);
		e0 = _mm_sha1nexte_epu32(e, e0);
		abcd = _mm_add_epi32(abcd, abcd0);
	}
	_mm_storeu_si128((__m128i *)state, _mm_shuffle_epi32(abcd, 0x1b));
	s[4] = (uint32_t)_mm_extract_epi32(e0, 3);
}

static const gw_md md = {.block_bytes = 64, .word_bytes = 4, .digest_bytes = 20, .iv = iv, .blocks = blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&md, ops, n);
}
static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&md, ops, n);
}
static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&md, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha1_shani = {
	.alg = "sha1",
	.driver = "sha1-shani/gwbench",
	.tag = "shani",
	.isa = "x86-64 SHA extensions",
	.kind = GW_KIND_HASH,
	.priority = 350,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha1_shani = {
	.alg = "hmac(sha1)",
	.driver = "hmac-sha1-shani/gwbench",
	.tag = "shani",
	.isa = "x86-64 SHA extensions",
	.kind = GW_KIND_MAC,
	.priority = 350,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_SHANI,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 1,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#endif
