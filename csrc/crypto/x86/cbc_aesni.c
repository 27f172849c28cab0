/* SPDX-License-Identifier: MIT
 * CBC encryption with AES-NI: eight packets abreast, or four, or one: AESENC waits four cycles for itself at most, so
 * that more lanes than packets cost time and gain nothing.
 */
#if defined(__x86_64__)
#include "cbc_lanes.h"

#define EACH4(F) F(0) F(1) F(2) F(3)
#define EACH8(F) EACH4(F) F(4) F(5) F(6) F(7)

#define BEGIN(i)                                                                                                       \
	const uint8_t *in##i = l->in[i], (*k##i)[16] = l->key[i]->enc;                                                     \
	uint8_t *out##i = l->out[i];                                                                                       \
	__m128i c##i = gw_load128(l->chain[i]);
#define FIRST(i) c##i = _mm_xor_si128(_mm_xor_si128(c##i, gw_load128(in##i + at)), gw_key128(k##i[0]));
#define ROUND(i) c##i = _mm_aesenc_si128(c##i, gw_key128(k##i[r]));
#define LAST(i)                                                                                                        \
	c##i = _mm_aesenclast_si128(c##i, gw_key128(k##i[rounds]));                                                        \
	gw_store128(out##i + at, c##i);
#define END(i)                                                                                                         \
	l->in[i] = in##i + bytes;                                                                                          \
	l->out[i] = out##i + bytes;                                                                                        \
	gw_store128(l->chain[i], c##i);

/* Keys of different lengths in one run are rare: these lanes then go one by one. */
static bool equal_rounds(const gw_cbc_lanes *l, int lanes)
{
	bool same = true;
	for (int i = 1; i < lanes; i++) same &= l->key[i]->rounds == l->key[0]->rounds;
	return same;
}

#define RUN(name, lanes, EACH)                                                                                         \
	GW_TARGET_AESNI static void name(gw_cbc_lanes *l, size_t blocks)                                                   \
	{                                                                                                                  \
		const uint32_t rounds = l->key[0]->rounds;                                                                     \
		const size_t bytes = 16 * blocks;                                                                              \
		if (!equal_rounds(l, lanes)) {                                                                                 \
			gw_cbc_run_each(l, lanes, blocks);                                                                         \
			return;                                                                                                    \
		}                                                                                                              \
		EACH(BEGIN)                                                                                                    \
		for (size_t at = 0; at < bytes; at += 16) {                                                                    \
			EACH(FIRST)                                                                                                \
			for (uint32_t r = 1; r < rounds; r++) {                                                                    \
				EACH(ROUND)                                                                                            \
			}                                                                                                          \
			EACH(LAST)                                                                                                 \
		}                                                                                                              \
		EACH(END)                                                                                                      \
	}

RUN(run4, 4, EACH4)
RUN(run8, 8, EACH8)

/* A packet alone: its blocks wait for each other, and idle lanes would only be in their way. */
GW_TARGET_AESNI static void one(const gw_op *op)
{
	const gw_aes_x86_key *k = (const gw_aes_x86_key *)op->key;
	__m128i c = gw_load128(op->iv);
	uint8_t *out = op->out;
	if (op->flags & GW_OP_IV_NONCE) {
		c = gw_aesni_encrypt1(k->enc, k->rounds, c);
		gw_store128(op->iv, c);
	}
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len / 16; left > 0; left--, in += 16, out += 16) {
			/* The first round key joins the input before the chain does: one step less to wait for. */
			c = _mm_xor_si128(c, _mm_xor_si128(gw_load128(in), gw_key128(k->enc[0])));
#define R(r) c = _mm_aesenc_si128(c, gw_key128(k->enc[r]))
			GW_AES_ROUNDS(k->rounds, R);
#undef R
			c = _mm_aesenclast_si128(c, gw_key128(k->enc[k->rounds]));
			gw_store128(out, c);
		}
	}
}

GW_TARGET_AESNI void gw_cbc_encrypt_aesni(gw_op *ops, size_t n)
{
	if (n == 1)
		one(ops);
	else if (n > 4)
		gw_cbc_schedule(ops, n, 8, run8);
	else if (n > 0)
		gw_cbc_schedule(ops, n, 4, run4);
}
#endif
