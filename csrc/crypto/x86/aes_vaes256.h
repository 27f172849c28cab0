/* SPDX-License-Identifier: MIT
 * Two blocks a register: what the VAES files for CPUs without AVX-512 share.
 */
#ifndef GW_CRYPTO_X86_AES_VAES256_H
#define GW_CRYPTO_X86_AES_VAES256_H
#if defined(__x86_64__)

#include "aes_x86.h"

#define GW_TARGET_VAES256 __attribute__((target("aes,pclmul,avx2,vaes,vpclmulqdq,bmi2")))
#define GW_NEEDS_VAES256  (GW_NEEDS_AESNI | GW_CPU_AVX2 | GW_CPU_VAES | GW_CPU_BMI2)

#define GW_EACH8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

typedef struct gw_eight { /* 16 blocks: AESENC's latency times two a cycle */
	__m256i r0, r1, r2, r3, r4, r5, r6, r7;
} gw_eight;

GW_INLINE GW_TARGET_VAES256 __m256i gw_load256(const void *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}
GW_INLINE GW_TARGET_VAES256 void gw_store256(void *p, __m256i v)
{
	_mm256_storeu_si256((__m256i *)p, v);
}
GW_INLINE GW_TARGET_VAES256 __m256i gw_key256(const uint8_t *rk)
{
	return _mm256_broadcastsi128_si256(gw_key128(rk));
}

GW_INLINE GW_TARGET_VAES256 gw_eight gw_load_eight(const uint8_t *p)
{
	gw_eight v;
#define F(i) v.r##i = gw_load256(p + 32 * (i));
	GW_EACH8(F)
#undef F
	return v;
}

GW_INLINE GW_TARGET_VAES256 void gw_store_eight(uint8_t *p, gw_eight v)
{
#define F(i) gw_store256(p + 32 * (i), v.r##i);
	GW_EACH8(F)
#undef F
}

GW_INLINE GW_TARGET_VAES256 gw_eight gw_encrypt_eight(const uint8_t rk[15][16], uint32_t rounds, gw_eight v)
{
	__m256i key = gw_key256(rk[0]);
#define F(i) v.r##i = _mm256_xor_si256(v.r##i, key);
	GW_EACH8(F)
#undef F
	for (uint32_t r = 1; r < rounds; r++) {
		key = gw_key256(rk[r]);
#define F(i) v.r##i = _mm256_aesenc_epi128(v.r##i, key);
		GW_EACH8(F)
#undef F
	}
	key = gw_key256(rk[rounds]);
#define F(i) v.r##i = _mm256_aesenclast_epi128(v.r##i, key);
	GW_EACH8(F)
#undef F
	return v;
}

GW_INLINE GW_TARGET_VAES256 gw_eight gw_decrypt_eight(const uint8_t rk[15][16], uint32_t rounds, gw_eight v)
{
	__m256i key = gw_key256(rk[0]);
#define F(i) v.r##i = _mm256_xor_si256(v.r##i, key);
	GW_EACH8(F)
#undef F
	for (uint32_t r = 1; r < rounds; r++) {
		key = gw_key256(rk[r]);
#define F(i) v.r##i = _mm256_aesdec_epi128(v.r##i, key);
		GW_EACH8(F)
#undef F
	}
	key = gw_key256(rk[rounds]);
#define F(i) v.r##i = _mm256_aesdeclast_epi128(v.r##i, key);
	GW_EACH8(F)
#undef F
	return v;
}

#endif
#endif
