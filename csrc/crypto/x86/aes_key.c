/* SPDX-License-Identifier: MIT
 * AES key expansion (FIPS 197 5.2) with AESKEYGENASSIST as the S-box: no table, no secret-dependent address.
 */
#if defined(__x86_64__)
#include "../block.h"
#include "aes_x86.h"

GW_TARGET_AESNI static uint32_t sub_word(uint32_t w)
{
	return (uint32_t)_mm_cvtsi128_si32(_mm_aeskeygenassist_si128(_mm_set_epi32(0, 0, (int)w, 0), 0));
}

GW_TARGET_AESNI uint32_t gw_aes_x86_expand(uint8_t enc[15][16], const uint8_t *key, size_t len)
{
	if (len != 16 && len != 24 && len != 32) return 0;
	const uint32_t nk = (uint32_t)len / 4, rounds = nk + 6, words = 4 * (rounds + 1);
	uint8_t *w = enc[0];
	uint32_t rcon = 1, t = 0;

	memcpy(w, key, len);
	for (uint32_t i = nk; i < words; i++) { /* little-endian words: RotWord is a right rotation */
		memcpy(&t, w + 4 * (i - 1), 4);
		if (i % nk == 0) {
			t = sub_word(t >> 8 | t << 24) ^ rcon;
			rcon = rcon << 1 ^ (rcon & 0x80 ? 0x11b : 0);
		} else if (nk == 8 && i % nk == 4) {
			t = sub_word(t);
		}
		uint32_t before;
		memcpy(&before, w + 4 * (i - nk), 4);
		t ^= before;
		memcpy(w + 4 * i, &t, 4);
	}
	return rounds;
}

GW_TARGET_AESNI int gw_aes_x86_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_x86_key *k = (gw_aes_x86_key *)ctx;
	k->rounds = gw_aes_x86_expand(k->enc, key, len);
	if (k->rounds == 0) return -EINVAL;
	for (uint32_t r = 0; r <= k->rounds; r++) {
		const __m128i from = gw_key128(k->enc[k->rounds - r]);
		gw_store128(k->dec[r], r == 0 || r == k->rounds ? from : _mm_aesimc_si128(from));
	}
	return 0;
}

int gw_aes_x86_xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_x86_xts_key *k = (gw_aes_x86_xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_x86_setkey(&k->data, key, len / 2);
	return gw_aes_x86_setkey(&k->tweak, key + len / 2, len / 2);
}

GW_TARGET_AESNI static void xts_block(const gw_aes_x86_key *k, bool decrypt, __m128i tweak, const uint8_t *in,
									  uint8_t *out)
{
	__m128i b = _mm_xor_si128(gw_load128(in), tweak);
	b = decrypt ? gw_aesni_decrypt1(k->dec, k->rounds, b) : gw_aesni_encrypt1(k->enc, k->rounds, b);
	gw_store128(out, _mm_xor_si128(b, tweak));
}

/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
GW_TARGET_AESNI void gw_aes_x86_xts_tail(const gw_aes_x86_key *k, bool decrypt, const uint8_t tweak[16],
										 const uint8_t *in, size_t tail, uint8_t *out)
{
	const __m128i t = gw_load128(tweak), next = gw_xts_next128(t);
	uint8_t full[16], cut[16];
	xts_block(k, decrypt, decrypt ? next : t, in, full);
	memcpy(cut, in + 16, tail);
	memcpy(cut + tail, full + tail, 16 - tail);
	xts_block(k, decrypt, decrypt ? t : next, cut, out);
	memcpy(out + 16, full, tail);
}
#endif
