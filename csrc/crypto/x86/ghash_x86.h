/* SPDX-License-Identifier: MIT
 * GHASH with carry-less multiplication (SP 800-38D 6.3), one block: keys, IVs and long AAD.
 *
 * Blocks are held byte-reversed. A product of two such numbers comes out one bit low; powers of H are kept multiplied
 * by x to make up for it. Reduction folds from below (Montgomery's way): the low 64 bits of LO into MI, then those
 * of MI into HI, each by one multiplication with the polynomial's upper half, 0xc2 << 56.
 */
#ifndef GW_CRYPTO_X86_GHASH_X86_H
#define GW_CRYPTO_X86_GHASH_X86_H
#if defined(__x86_64__)

#include "aes_x86.h"

#define GW_GHASH_POLY 0xc200000000000000ull

GW_INLINE GW_TARGET_AESNI __m128i gw_reverse128(__m128i v)
{
	return _mm_shuffle_epi8(v, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

GW_INLINE GW_TARGET_AESNI __m128i gw_ghash_reduce128(__m128i lo, __m128i mi, __m128i hi)
{
	const __m128i poly = _mm_set_epi64x(0, (long long)GW_GHASH_POLY);
	mi = _mm_xor_si128(mi, _mm_xor_si128(_mm_shuffle_epi32(lo, 0x4e), _mm_clmulepi64_si128(lo, poly, 0x00)));
	return _mm_xor_si128(hi, _mm_xor_si128(_mm_shuffle_epi32(mi, 0x4e), _mm_clmulepi64_si128(mi, poly, 0x00)));
}

/* a times b, where b is a kept power. */
GW_INLINE GW_TARGET_AESNI __m128i gw_ghash_mul128(__m128i a, __m128i b)
{
	const __m128i mi = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
	return gw_ghash_reduce128(_mm_clmulepi64_si128(a, b, 0x00), mi, _mm_clmulepi64_si128(a, b, 0x11));
}

/* H as AES gives it -> kept power: byte-reversed, times x modulo the polynomial. */
GW_INLINE GW_TARGET_AESNI __m128i gw_ghash_key128(__m128i h)
{
	const __m128i v = gw_reverse128(h);
	const __m128i top = _mm_shuffle_epi32(_mm_srai_epi32(v, 31), 0xff); /* all ones when bit 127 is set */
	const __m128i up = _mm_or_si128(_mm_add_epi64(v, v), _mm_slli_si128(_mm_srli_epi64(v, 63), 8));
	return _mm_xor_si128(up, _mm_and_si128(top, _mm_set_epi64x((long long)GW_GHASH_POLY, 1)));
}

GW_INLINE GW_TARGET_AESNI __m128i gw_load_part128(const uint8_t *p, size_t n)
{
	uint8_t b[16] = {0};
	memcpy(b, p, n < 16 ? n : 16);
	return gw_load128(b);
}

/* y over n bytes padded with zeros to blocks; y and the result byte-reversed. */
GW_INLINE GW_TARGET_AESNI __m128i gw_ghash_bytes128(__m128i h, __m128i y, const uint8_t *p, size_t n)
{
	for (; n >= 16; p += 16, n -= 16) y = gw_ghash_mul128(_mm_xor_si128(y, gw_reverse128(gw_load128(p))), h);
	if (n > 0) y = gw_ghash_mul128(_mm_xor_si128(y, gw_reverse128(gw_load_part128(p, n))), h);
	return y;
}

/* The first counter block when the IV is not 12 bytes (SP 800-38D 7.1), as bytes. */
GW_INLINE GW_TARGET_AESNI __m128i gw_gcm_hashed_iv(__m128i h, const uint8_t *iv, size_t len)
{
	const __m128i y = gw_ghash_bytes128(h, _mm_setzero_si128(), iv, len);
	const __m128i bits = _mm_set_epi64x(0, (long long)(8 * (uint64_t)len));
	return gw_reverse128(gw_ghash_mul128(_mm_xor_si128(y, bits), h));
}

#endif
#endif
