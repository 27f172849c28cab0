/* SPDX-License-Identifier: MIT
 * AES keys as the x86 instructions want them, and the helpers that every x86 AES file starts from.
 */
#ifndef GW_CRYPTO_X86_AES_X86_H
#define GW_CRYPTO_X86_AES_X86_H
#if defined(__x86_64__)

#include <immintrin.h>

#include "../impl.h"
#include "../spans.h"

#define GW_TARGET_AESNI __attribute__((target("aes,pclmul,ssse3,sse4.1")))
#define GW_TARGET_VAES                                                                                                 \
	__attribute__((target("aes,pclmul,avx2,vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,avx512dq,bmi2")))
#define GW_NEEDS_AESNI (GW_CPU_AESNI | GW_CPU_SSSE3 | GW_CPU_SSE41)
#define GW_NEEDS_VAES  (GW_NEEDS_AESNI | GW_CPU_AVX2 | GW_CPU_VAES | GW_CPU_AVX512 | GW_CPU_BMI2)

/* -O2 alone does not unroll, and arrays of vectors live in registers only when it happens. */
#if defined(__clang__)
#define GW_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GW_UNROLL _Pragma("GCC unroll 16")
#endif

#define GW_INLINE static inline __attribute__((always_inline))

typedef struct gw_aes_x86_key {
	uint8_t enc[15][16];
	uint8_t dec[15][16]; /* for AESDEC: the middle ones through AESIMC, in order of use */
	uint32_t rounds;
} __attribute__((aligned(64))) gw_aes_x86_key;

typedef struct gw_aes_x86_xts_key {
	gw_aes_x86_key data, tweak;
} gw_aes_x86_xts_key;

/* x86/aes_key.c; setkeys for the table, -EINVAL for lengths that do not exist. */
int gw_aes_x86_setkey(void *ctx, const uint8_t *key, size_t len);
int gw_aes_x86_xts_setkey(void *ctx, const uint8_t *key, size_t len);
/* Round keys of encryption only; returns the number of rounds or 0. */
uint32_t gw_aes_x86_expand(uint8_t enc[15][16], const uint8_t *key, size_t len);

GW_INLINE GW_TARGET_AESNI __m128i gw_load128(const void *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}
GW_INLINE GW_TARGET_AESNI void gw_store128(void *p, __m128i v)
{
	_mm_storeu_si128((__m128i *)p, v);
}
GW_INLINE GW_TARGET_AESNI __m128i gw_key128(const uint8_t *p)
{
	return _mm_load_si128((const __m128i *)(const void *)p);
}

/* Rounds 1 to the last but one, without a loop: its end would be mispredicted. R(r) is one of them. */
#define GW_AES_ROUNDS(rounds, R)                                                                                       \
	do {                                                                                                               \
		R(1);                                                                                                          \
		R(2);                                                                                                          \
		R(3);                                                                                                          \
		R(4);                                                                                                          \
		R(5);                                                                                                          \
		R(6);                                                                                                          \
		R(7);                                                                                                          \
		R(8);                                                                                                          \
		R(9);                                                                                                          \
		if ((rounds) > 10) {                                                                                           \
			R(10);                                                                                                     \
			R(11);                                                                                                     \
		}                                                                                                              \
		if ((rounds) > 12) {                                                                                           \
			R(12);                                                                                                     \
			R(13);                                                                                                     \
		}                                                                                                              \
	} while (0)

GW_INLINE GW_TARGET_AESNI __m128i gw_aesni_encrypt1(const uint8_t rk[15][16], uint32_t rounds, __m128i b)
{
	b = _mm_xor_si128(b, gw_key128(rk[0]));
	for (uint32_t r = 1; r < rounds; r++) b = _mm_aesenc_si128(b, gw_key128(rk[r]));
	return _mm_aesenclast_si128(b, gw_key128(rk[rounds]));
}

GW_INLINE GW_TARGET_AESNI __m128i gw_aesni_decrypt1(const uint8_t rk[15][16], uint32_t rounds, __m128i b)
{
	b = _mm_xor_si128(b, gw_key128(rk[0]));
	for (uint32_t r = 1; r < rounds; r++) b = _mm_aesdec_si128(b, gw_key128(rk[r]));
	return _mm_aesdeclast_si128(b, gw_key128(rk[rounds]));
}

/* IEEE 1619 5.2, one tweak on. */
GW_INLINE GW_TARGET_AESNI __m128i gw_xts_next128(__m128i t)
{
	const __m128i top = _mm_shuffle_epi32(_mm_srai_epi32(t, 31), 0x13); /* bit 127 -> lane 0, bit 63 -> lane 2 */
	return _mm_xor_si128(_mm_add_epi64(t, t), _mm_and_si128(top, _mm_set_epi32(0, 1, 0, 0x87)));
}

/* x86/aes_key.c: ciphertext stealing. in: one whole block and tail bytes more, tweak: of that whole block. */
void gw_aes_x86_xts_tail(const gw_aes_x86_key *k, bool decrypt, const uint8_t tweak[16], const uint8_t *in, size_t tail,
						 uint8_t *out);

#endif
#endif
