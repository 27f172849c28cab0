/* SPDX-License-Identifier: MIT
 * CBC encryption with AES-NI: eight packets abreast.
 */
#if defined(__x86_64__)
#include "cbc_lanes.h"

#define EACH8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

/* Keys of different lengths in one run are rare: these lanes then go one by one. */
GW_TARGET_AESNI static void run8(gw_cbc_lanes *l, size_t blocks)
{
	uint32_t rounds = l->key[0]->rounds, same = 1;
	for (int i = 1; i < 8; i++) same &= l->key[i]->rounds == rounds;
	if (!same) {
		gw_cbc_run_each(l, 8, blocks);
		return;
	}
#define F(i)                                                                                                           \
	const uint8_t *in##i = l->in[i], (*k##i)[16] = l->key[i]->enc;                                                     \
	uint8_t *out##i = l->out[i];                                                                                       \
	__m128i c##i = gw_load128(l->chain[i]);
	EACH8(F)
#undef F
	const size_t bytes = 16 * blocks;
	for (size_t at = 0; at < bytes; at += 16) {
#define F(i) c##i = _mm_xor_si128(_mm_xor_si128(c##i, gw_load128(in##i + at)), gw_key128(k##i[0]));
		EACH8(F)
#undef F
		for (uint32_t r = 1; r < rounds; r++) {
#define F(i) c##i = _mm_aesenc_si128(c##i, gw_key128(k##i[r]));
			EACH8(F)
#undef F
		}
#define F(i)                                                                                                           \
	c##i = _mm_aesenclast_si128(c##i, gw_key128(k##i[rounds]));                                                        \
	gw_store128(out##i + at, c##i);
		EACH8(F)
#undef F
	}
#define F(i)                                                                                                           \
	l->in[i] = in##i + bytes;                                                                                          \
	l->out[i] = out##i + bytes;                                                                                        \
	gw_store128(l->chain[i], c##i);
	EACH8(F)
#undef F
}

GW_TARGET_AESNI void gw_cbc_encrypt_aesni(gw_op *ops, size_t n)
{
	if (n > 0) gw_cbc_schedule(ops, n, 8, run8);
}
#endif
