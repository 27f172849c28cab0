/* SPDX-License-Identifier: MIT
 * Four blocks a register: what the VAES files share.
 */
#ifndef GW_CRYPTO_X86_AES_VAES_H
#define GW_CRYPTO_X86_AES_VAES_H
#if defined(__x86_64__)

#include "aes_x86.h"

typedef struct gw_four { /* 16 blocks: enough chains to hide VAESENC's latency */
	__m512i a, b, c, d;
} gw_four;

GW_INLINE GW_TARGET_VAES __m512i gw_load512(const void *p)
{
	return _mm512_loadu_si512(p);
}
GW_INLINE GW_TARGET_VAES void gw_store512(void *p, __m512i v)
{
	_mm512_storeu_si512(p, v);
}
GW_INLINE GW_TARGET_VAES __m512i gw_key512(const uint8_t *rk)
{
	return _mm512_broadcast_i32x4(gw_key128(rk));
}

GW_INLINE GW_TARGET_VAES gw_four gw_load256bytes(const uint8_t *p)
{
	return (gw_four){gw_load512(p), gw_load512(p + 64), gw_load512(p + 128), gw_load512(p + 192)};
}

GW_INLINE GW_TARGET_VAES void gw_store256bytes(uint8_t *p, gw_four v)
{
	gw_store512(p, v.a);
	gw_store512(p + 64, v.b);
	gw_store512(p + 128, v.c);
	gw_store512(p + 192, v.d);
}

GW_INLINE GW_TARGET_VAES gw_four gw_xor_four(gw_four v, gw_four w)
{
	return (gw_four){_mm512_xor_si512(v.a, w.a), _mm512_xor_si512(v.b, w.b), _mm512_xor_si512(v.c, w.c),
					 _mm512_xor_si512(v.d, w.d)};
}

#define GW_VAES_ROUND(op, v, key)                                                                                      \
	do {                                                                                                               \
		const __m512i k_ = (key);                                                                                      \
		(v).a = op((v).a, k_);                                                                                         \
		(v).b = op((v).b, k_);                                                                                         \
		(v).c = op((v).c, k_);                                                                                         \
		(v).d = op((v).d, k_);                                                                                         \
	} while (0)

GW_INLINE GW_TARGET_VAES gw_four gw_vaes_encrypt4(const uint8_t rk[15][16], uint32_t rounds, gw_four v)
{
	GW_VAES_ROUND(_mm512_xor_si512, v, gw_key512(rk[0]));
#define R(r) GW_VAES_ROUND(_mm512_aesenc_epi128, v, gw_key512(rk[r]))
	GW_AES_ROUNDS(rounds, R);
#undef R
	GW_VAES_ROUND(_mm512_aesenclast_epi128, v, gw_key512(rk[rounds]));
	return v;
}

GW_INLINE GW_TARGET_VAES gw_four gw_vaes_decrypt4(const uint8_t rk[15][16], uint32_t rounds, gw_four v)
{
	GW_VAES_ROUND(_mm512_xor_si512, v, gw_key512(rk[0]));
#define R(r) GW_VAES_ROUND(_mm512_aesdec_epi128, v, gw_key512(rk[r]))
	GW_AES_ROUNDS(rounds, R);
#undef R
	GW_VAES_ROUND(_mm512_aesdeclast_epi128, v, gw_key512(rk[rounds]));
	return v;
}

/* Byte masks of what is left, for the four registers of a last run of up to 256 bytes. */
typedef struct gw_masks {
	__mmask64 a, b, c, d;
} gw_masks;

GW_INLINE __mmask64 gw_mask_of(size_t left)
{
	return left >= 64 ? ~0ull : (1ull << left) - 1;
}
GW_INLINE size_t gw_minus(size_t a, size_t b)
{
	return a > b ? a - b : 0;
}
GW_INLINE gw_masks gw_masks_of(size_t left)
{
	return (gw_masks){gw_mask_of(left), gw_mask_of(gw_minus(left, 64)), gw_mask_of(gw_minus(left, 128)),
					  gw_mask_of(gw_minus(left, 192))};
}

GW_INLINE GW_TARGET_VAES gw_four gw_load_masked(const uint8_t *p, gw_masks m)
{
	return (gw_four){_mm512_maskz_loadu_epi8(m.a, p), _mm512_maskz_loadu_epi8(m.b, p + 64),
					 _mm512_maskz_loadu_epi8(m.c, p + 128), _mm512_maskz_loadu_epi8(m.d, p + 192)};
}

GW_INLINE GW_TARGET_VAES void gw_store_masked(uint8_t *p, gw_masks m, gw_four v)
{
	_mm512_mask_storeu_epi8(p, m.a, v.a);
	_mm512_mask_storeu_epi8(p + 64, m.b, v.b);
	_mm512_mask_storeu_epi8(p + 128, m.c, v.c);
	_mm512_mask_storeu_epi8(p + 192, m.d, v.d);
}

#endif
#endif
