/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 with AVX2: two blocks to a group, three groups at once, which fill the sixteen registers.
 */
#if defined(__x86_64__)
#include "chacha20poly1305_x86.h"

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define AT_ONCE           3
#define EACH              UNROLL for (uint32_t i = 0; i < n; i++)
#define ROL(v, bits)      _mm256_or_si256(_mm256_slli_epi32(v, bits), _mm256_srli_epi32(v, 32 - (bits)))
#define ROL_BYTES(v, how) _mm256_shuffle_epi8(v, how)

/* Four quarter rounds of each group, column by column. */
#define QUARTERS                                                                                                       \
	EACH a[i] = _mm256_add_epi32(a[i], b[i]);                                                                          \
	EACH d[i] = ROL_BYTES(_mm256_xor_si256(d[i], a[i]), by2);                                                          \
	EACH c[i] = _mm256_add_epi32(c[i], d[i]);                                                                          \
	EACH b[i] = _mm256_xor_si256(b[i], c[i]);                                                                          \
	EACH b[i] = ROL(b[i], 12);                                                                                         \
	EACH a[i] = _mm256_add_epi32(a[i], b[i]);                                                                          \
	EACH d[i] = ROL_BYTES(_mm256_xor_si256(d[i], a[i]), by1);                                                          \
	EACH c[i] = _mm256_add_epi32(c[i], d[i]);                                                                          \
	EACH b[i] = _mm256_xor_si256(b[i], c[i]);                                                                          \
	EACH b[i] = ROL(b[i], 7)

INLINE __m256i row(const void *p)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
}

INLINE void put(uint8_t *out, __m256i v)
{
	_mm256_store_si256((__m256i *)(void *)out, v);
}

static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

INLINE void groups(const gw_chacha_group *g, const uint32_t n, uint8_t *out)
{
	const __m256i by2 = _mm256_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11,
										10, 5, 4, 7, 6, 1, 0, 3, 2);
	const __m256i by1 = _mm256_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3, 14, 13, 12, 15, 10, 9, 8,
										11, 6, 5, 4, 7, 2, 1, 0, 3);
	const __m256i count = _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0);
	__m256i a[AT_ONCE], b[AT_ONCE], c[AT_ONCE], d[AT_ONCE];
	EACH
	{
		a[i] = row(sigma);
		b[i] = row(g[i].key->w);
		c[i] = row(g[i].key->w + 4);
		d[i] = _mm256_add_epi32(row(g[i].row3), count);
	}
	for (int r = 0; r < 10; r++) {
		QUARTERS;
		EACH
		{
			b[i] = _mm256_shuffle_epi32(b[i], 0x39);
			c[i] = _mm256_shuffle_epi32(c[i], 0x4e);
			d[i] = _mm256_shuffle_epi32(d[i], 0x93);
		}
		QUARTERS;
		EACH
		{
			b[i] = _mm256_shuffle_epi32(b[i], 0x93);
			c[i] = _mm256_shuffle_epi32(c[i], 0x4e);
			d[i] = _mm256_shuffle_epi32(d[i], 0x39);
		}
	}
	EACH
	{
		a[i] = _mm256_add_epi32(a[i], row(sigma));
		b[i] = _mm256_add_epi32(b[i], row(g[i].key->w));
		c[i] = _mm256_add_epi32(c[i], row(g[i].key->w + 4));
		d[i] = _mm256_add_epi32(d[i], _mm256_add_epi32(row(g[i].row3), count));
		put(out + 128 * i, _mm256_permute2x128_si256(a[i], b[i], 0x20));
		put(out + 128 * i + 32, _mm256_permute2x128_si256(c[i], d[i], 0x20));
		put(out + 128 * i + 64, _mm256_permute2x128_si256(a[i], b[i], 0x31));
		put(out + 128 * i + 96, _mm256_permute2x128_si256(c[i], d[i], 0x31));
	}
}

TARGET static void stream256(const gw_chacha_group *g, uint32_t n, uint8_t *out)
{
	for (; n >= 3; g += 3, n -= 3, out += 3 * 128) groups(g, 3, out);
	if (n == 2) groups(g, 2, out);
	if (n == 1) groups(g, 1, out);
}

TARGET static void xor256(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t len)
{
	for (; len >= 32; len -= 32, out += 32, in += 32, stream += 32) {
		const __m256i data = _mm256_loadu_si256((const __m256i *)(const void *)in);
		const __m256i key = _mm256_load_si256((const __m256i *)(const void *)stream);
		_mm256_storeu_si256((__m256i *)(void *)out, _mm256_xor_si256(data, key));
	}
	for (size_t i = 0; i < len; i++) out[i] = in[i] ^ stream[i];
}

static const gw_chacha_kernel kernel = {
	.group_blocks = 2, .groups = GW_CHACHA_GROUPS, .stream = stream256, .xor = xor256, .mac = gw_poly_mac_avx2};

static void seal(gw_op *ops, size_t n)
{
	gw_chacha_seal_x86(&kernel, ops, n);
}
static void open_(gw_op *ops, size_t n)
{
	gw_chacha_open_x86(&kernel, ops, n);
}

const gw_impl gw_impl_chacha20poly1305_avx2 = {
	.alg = "rfc7539(chacha20,poly1305)",
	.driver = "chacha20poly1305-avx2/gwbench",
	.tag = "avx2",
	.isa = "x86-64 AVX2",
	.kind = GW_KIND_AEAD,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_AVX2 | GW_CPU_BMI2,
	.key_ctx_bytes = sizeof(gw_chacha_key),
	.batch_hint = 3,
	.setkey = gw_chacha_setkey_x86,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
