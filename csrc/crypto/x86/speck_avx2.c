/* SPDX-License-Identifier: MIT
 * Speck64/128 and Speck128/256 in XTS mode with AVX2, for benchmarks only: 256 bytes at once, 32 or 16 blocks, the two
 * words of each in vectors of their own. See generic/speck.c for the byte order and the tweak.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "../block.h"
#include "../impl.h"
#include "../spans.h"

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define ROUNDS64  27
#define ROUNDS128 34
#define CHUNK     256 /* four vectors of either word */

typedef struct speck64_key {
	uint32_t data[ROUNDS64], tweak[ROUNDS64];
} speck64_key;

typedef struct speck128_key {
	uint64_t data[ROUNDS128], tweak[ROUNDS128];
} speck128_key;

/* ---- scalar: keys and the first tweak ---- */

INLINE uint32_t ror32(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}
INLINE uint64_t ror64(uint64_t v, int n)
{
	return v >> n | v << (64 - n);
}

#define ENC32(x, y, k) (x = (ror32(x, 8) + y) ^ (k), y = ror32(y, 29) ^ x)
#define ENC64(x, y, k) (x = (ror64(x, 8) + y) ^ (k), y = ror64(y, 61) ^ x)

TARGET static void expand64(uint32_t *rk, const uint8_t *key)
{
	uint32_t y = gw_load_le32(key), l[3];
	for (int i = 0; i < 3; i++) l[i] = gw_load_le32(key + 4 + 4 * i);
	for (uint32_t i = 0; i < ROUNDS64; i++) {
		rk[i] = y;
		ENC32(l[i % 3], y, i);
	}
	gw_wipe(l, sizeof l);
}

TARGET static void expand128(uint64_t *rk, const uint8_t *key)
{
	uint64_t y = gw_load_le64(key), l[3];
	for (int i = 0; i < 3; i++) l[i] = gw_load_le64(key + 8 + 8 * i);
	for (uint64_t i = 0; i < ROUNDS128; i++) {
		rk[i] = y;
		ENC64(l[i % 3], y, i);
	}
	gw_wipe(l, sizeof l);
}

static int setkey64(void *ctx, const uint8_t *key, size_t len)
{
	speck64_key *k = (speck64_key *)ctx;
	if (len != 32) return -EINVAL;
	expand64(k->data, key);
	expand64(k->tweak, key + 16);
	return 0;
}

static int setkey128(void *ctx, const uint8_t *key, size_t len)
{
	speck128_key *k = (speck128_key *)ctx;
	if (len != 64) return -EINVAL;
	expand128(k->data, key);
	expand128(k->tweak, key + 32);
	return 0;
}

TARGET static void first_tweak64(const void *key, const uint8_t *iv, uint8_t *tweak)
{
	uint32_t y = gw_load_le32(iv), x = gw_load_le32(iv + 4);
	for (int i = 0; i < ROUNDS64; i++) ENC32(x, y, ((const speck64_key *)key)->tweak[i]);
	gw_store_le32(tweak, y);
	gw_store_le32(tweak + 4, x);
}

TARGET static void first_tweak128(const void *key, const uint8_t *iv, uint8_t *tweak)
{
	uint64_t y = gw_load_le64(iv), x = gw_load_le64(iv + 8);
	for (int i = 0; i < ROUNDS128; i++) ENC64(x, y, ((const speck128_key *)key)->tweak[i]);
	gw_store_le64(tweak, y);
	gw_store_le64(tweak + 8, x);
}

/* ---- 256 bytes ---- */

INLINE __m256i get(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
INLINE void put(uint8_t *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)(void *)p, v);
}
INLINE __m256i xor (__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }

#define EACH UNROLL for (int i = 0; i < 4; i++)

/* Bytes of a rotation to the right by 8, and to the left; in words of 4 or 8 bytes. */
#define LANE(a, b, c, d) _mm256_set_epi32(a, b, c, d, a, b, c, d)
#define RIGHT32          LANE(0x0c0f0e0d, 0x080b0a09, 0x04070605, 0x00030201)
#define LEFT32           LANE(0x0e0d0c0f, 0x0a09080b, 0x06050407, 0x02010003)
#define RIGHT64          LANE(0x080f0e0d, 0x0c0b0a09, 0x00070605, 0x04030201)
#define LEFT64           LANE(0x0e0d0c0b, 0x0a09080f, 0x06050403, 0x02010007)

/* Whole rounds over v, bits wide words; the first word of a block is y. */
#define ROUNDS(bits, set, rounds, rk)                                                                                  \
	do {                                                                                                               \
		if (!decrypt) {                                                                                                \
			const __m256i right = RIGHT##bits;                                                                         \
			for (int r = 0; r < (rounds); r++) {                                                                       \
				const __m256i k = set((rk)[r]);                                                                        \
				EACH x[i] = xor(_mm256_add_epi##bits(_mm256_shuffle_epi8(x[i], right), y[i]), k);                      \
				EACH y[i] =                                                                                            \
					xor(_mm256_or_si256(_mm256_slli_epi##bits(y[i], 3), _mm256_srli_epi##bits(y[i], (bits)-3)), x[i]); \
			}                                                                                                          \
		} else {                                                                                                       \
			const __m256i left = LEFT##bits;                                                                           \
			for (int r = (rounds)-1; r >= 0; r--) {                                                                    \
				const __m256i k = set((rk)[r]);                                                                        \
				EACH                                                                                                   \
				{                                                                                                      \
					const __m256i t = xor(y[i], x[i]);                                                                 \
					y[i] = _mm256_or_si256(_mm256_srli_epi##bits(t, 3), _mm256_slli_epi##bits(t, (bits)-3));           \
				}                                                                                                      \
				EACH x[i] = _mm256_shuffle_epi8(_mm256_sub_epi##bits(xor(x[i], k), y[i]), left);                       \
			}                                                                                                          \
		}                                                                                                              \
	} while (0)

#define SET32(k) _mm256_set1_epi32((int)(k))
#define SET64(k) _mm256_set1_epi64x((long long)(k))

	/* out = E(in ^ tweaks) ^ tweaks */
	INLINE void chunk64(const void *key, bool decrypt, const uint8_t *tweaks, const uint8_t *in, uint8_t *out)
{
	__m256i x[4], y[4];
	EACH
	{
		const __m256 a = _mm256_castsi256_ps(xor(get(in + 64 * i), get(tweaks + 64 * i)));
		const __m256 b = _mm256_castsi256_ps(xor(get(in + 64 * i + 32), get(tweaks + 64 * i + 32)));
		y[i] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
		x[i] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
	}
	ROUNDS(32, SET32, ROUNDS64, ((const speck64_key *)key)->data);
	EACH
	{
		put(out + 64 * i, xor(_mm256_unpacklo_epi32(y[i], x[i]), get(tweaks + 64 * i)));
		put(out + 64 * i + 32, xor(_mm256_unpackhi_epi32(y[i], x[i]), get(tweaks + 64 * i + 32)));
	}
}

INLINE void chunk128(const void *key, bool decrypt, const uint8_t *tweaks, const uint8_t *in, uint8_t *out)
{
	__m256i x[4], y[4];
	EACH
	{
		const __m256i a = xor(get(in + 64 * i), get(tweaks + 64 * i));
		const __m256i b = xor(get(in + 64 * i + 32), get(tweaks + 64 * i + 32));
		y[i] = _mm256_unpacklo_epi64(a, b);
		x[i] = _mm256_unpackhi_epi64(a, b);
	}
	ROUNDS(64, SET64, ROUNDS128, ((const speck128_key *)key)->data);
	EACH
	{
		put(out + 64 * i, xor(_mm256_unpacklo_epi64(y[i], x[i]), get(tweaks + 64 * i)));
		put(out + 64 * i + 32, xor(_mm256_unpackhi_epi64(y[i], x[i]), get(tweaks + 64 * i + 32)));
	}
}

typedef void (*chunk_fn)(const void *key, const uint8_t *tweaks, const uint8_t *in, uint8_t *out);

#define CHUNK_FN(name, bits, decrypt)                                                                                  \
	TARGET static void name(const void *key, const uint8_t *tweaks, const uint8_t *in, uint8_t *out)                   \
	{                                                                                                                  \
		chunk##bits(key, decrypt, tweaks, in, out);                                                                    \
	}
CHUNK_FN(encrypt_chunk64, 64, false)
CHUNK_FN(decrypt_chunk64, 64, true)
CHUNK_FN(encrypt_chunk128, 128, false)
CHUNK_FN(decrypt_chunk128, 128, true)

/* ---- XTS ---- */

static void next_tweak(uint8_t *t, size_t bytes)
{
	if (bytes == 16) {
		gw_xts_next(t);
		return;
	}
	const uint64_t v = gw_load_le64(t);
	gw_store_le64(t, v << 1 ^ (0x1b & (0 - (v >> 63))));
}

static void one_block(chunk_fn crypt, const void *key, size_t bytes, const uint8_t *tweak, const uint8_t *in,
					  uint8_t *out)
{
	uint8_t tweaks[CHUNK] = {0}, data[CHUNK] = {0};
	memcpy(tweaks, tweak, bytes);
	memcpy(data, in, bytes);
	crypt(key, tweaks, data, data);
	memcpy(out, data, bytes);
}

static void xts(const gw_op *op, size_t bytes, chunk_fn crypt, bool decrypt)
{
	const size_t len = gw_op_len(op), tail = len % bytes;
	size_t whole = len - tail; /* bytes that come before ciphertext stealing */
	uint8_t tweak[16], tweaks[CHUNK], data[CHUNK], last[32], *out = op->out;

	if (len < bytes) return;
	if (tail != 0) gw_op_gather(op, whole -= bytes, last, bytes + tail); /* before an in-place run could change it */
	(bytes == 8 ? first_tweak64 : first_tweak128)(op->key, op->iv, tweak);
	memset(tweaks, 0, sizeof tweaks);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len - op->in[s].len % bytes; left > 0 && whole > 0;) {
			size_t n = left < CHUNK ? left : CHUNK;
			if (n > whole) n = whole;
			for (size_t i = 0; i < n; i += bytes) {
				memcpy(tweaks + i, tweak, bytes);
				next_tweak(tweak, bytes);
			}
			if (n == CHUNK) {
				crypt(op->key, tweaks, in, out);
			} else {
				memset(data, 0, sizeof data);
				memcpy(data, in, n);
				crypt(op->key, tweaks, data, data);
				memcpy(out, data, n);
			}
			in += n, out += n, left -= n, whole -= n;
		}
	}
	if (tail != 0) {
		uint8_t other[16], full[16], cut[16];
		memcpy(other, tweak, bytes);
		next_tweak(other, bytes);
		one_block(crypt, op->key, bytes, decrypt ? other : tweak, last, full);
		memcpy(cut, last + bytes, tail);
		memcpy(cut + tail, full + tail, bytes - tail);
		one_block(crypt, op->key, bytes, decrypt ? tweak : other, cut, out);
		memcpy(out + bytes, full, tail);
	}
	gw_wipe(tweaks, sizeof tweaks);
}

#define IMPL(bits, bytes)                                                                                              \
	static void encrypt##bits(gw_op *ops, size_t n)                                                                    \
	{                                                                                                                  \
		for (size_t i = 0; i < n; i++) xts(&ops[i], bytes, encrypt_chunk##bits, false);                                \
	}                                                                                                                  \
	static void decrypt##bits(gw_op *ops, size_t n)                                                                    \
	{                                                                                                                  \
		for (size_t i = 0; i < n; i++) xts(&ops[i], bytes, decrypt_chunk##bits, true);                                 \
	}                                                                                                                  \
	const gw_impl gw_impl_xts_speck##bits##_avx2 = {                                                                   \
		.alg = "xts(speck" #bits ")",                                                                                  \
		.driver = "xts-speck" #bits "-avx2/gwbench",                                                                   \
		.tag = "avx2",                                                                                                 \
		.isa = "x86-64 AVX2",                                                                                          \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 300,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_AVX2,                                                                                      \
		.key_ctx_bytes = sizeof(speck##bits##_key),                                                                    \
		.batch_hint = 1,                                                                                               \
		.setkey = setkey##bits,                                                                                        \
		.encrypt = encrypt##bits,                                                                                      \
		.decrypt = decrypt##bits,                                                                                      \
	}

IMPL(64, 8);
IMPL(128, 16);
#endif
