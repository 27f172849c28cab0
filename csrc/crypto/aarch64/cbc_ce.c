/* SPDX-License-Identifier: MIT
 * CBC encryption by the Crypto Extensions. A packet alone waits for each AES round; so packets under one key run
 * abreast, up to four, each with its own chain.
 */
#if defined(__aarch64__)

#include "aes_ce.h"

#define LANES 4

/* A packet in progress. */
typedef struct lane {
	const gw_op *op;
	const uint8_t *in;
	uint8_t *out;
	size_t blocks; /* left of this span */
	uint32_t span; /* next one */
	uint8x16_t chain;
} lane;

static bool next_span(lane *l)
{
	while (l->blocks == 0) {
		if (l->span == l->op->n_in) return false;
		l->in = l->op->in[l->span].data;
		l->blocks = l->op->in[l->span++].len / 16;
	}
	return true;
}

/* `deep` blocks in each lane, loaded before any is stored. x is chain ^ last key: the XOR with that key joins the one
 * with the first round key, so that nothing but AES stands on the path from block to block. */
CE_INLINE void cbc_step(uint8x16_t *x, const uint8_t **in, uint8_t **out, int lanes, int deep, uint8x16_t ends,
						const uint8x16_t *rk, int rounds)
{
	uint8x16_t b[LANES][4];
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		ce_load(b[i], deep, in[i]);
		in[i] += 16 * deep;
	}
	CE_UNROLL for (int j = 0; j < deep; j++)
	{
		CE_UNROLL for (int i = 0; i < lanes; i++) x[i] = vaesmcq_u8(vaeseq_u8(x[i], veorq_u8(b[i][j], ends)));
		CE_UNROLL for (int r = 1; r < rounds - 1; r++) CE_UNROLL for (int i = 0; i < lanes; i++) x[i] =
			vaesmcq_u8(vaeseq_u8(x[i], rk[r]));
		CE_UNROLL for (int i = 0; i < lanes; i++)
		{
			x[i] = vaeseq_u8(x[i], rk[rounds - 1]);
			b[i][j] = veorq_u8(x[i], rk[rounds]);
		}
	}
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		ce_store(b[i], deep, out[i]);
		out[i] += 16 * deep;
	}
}

/* `blocks` blocks in each of `lanes` lanes. */
CE_INLINE void cbc_run(lane *l, int lanes, size_t blocks, const uint8x16_t *rk, int rounds)
{
	const uint8x16_t ends = veorq_u8(rk[0], rk[rounds]);
	const int deep = lanes == 1 ? 4 : 2;
	uint8x16_t x[LANES];
	const uint8_t *in[LANES];
	uint8_t *out[LANES];
	size_t left = blocks;
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		x[i] = veorq_u8(l[i].chain, rk[rounds]);
		in[i] = l[i].in;
		out[i] = l[i].out;
	}
	CE_ROLLED for (; left >= (size_t)deep; left -= (size_t)deep) cbc_step(x, in, out, lanes, deep, ends, rk, rounds);
	CE_ROLLED for (; left > 0; left--) cbc_step(x, in, out, lanes, 1, ends, rk, rounds);
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		l[i].chain = veorq_u8(x[i], rk[rounds]);
		l[i].in = in[i];
		l[i].out = out[i];
		l[i].blocks -= blocks;
	}
}

/* Ops that all have one key: lanes go in step until the shortest needs something new. */
CE_INLINE void cbc_same_key(gw_op *ops, size_t n, int rounds)
{
	const gw_aes_ce_key *k = ops->key;
	uint8x16_t rk[CE_MAX_ROUNDS + 1];
	lane l[LANES];
	int busy = 0;
	ce_load_keys(rk, k->enc, rounds);
	for (;;) {
		for (; busy < LANES && n > 0; n--, ops++) {
			l[busy] = (lane){.op = ops, .out = ops->out, .chain = vld1q_u8(ops->iv)};
			busy += next_span(&l[busy]);
		}
		if (busy == 0) return;
		size_t least = l[0].blocks;
		for (int i = 1; i < busy; i++) least = l[i].blocks < least ? l[i].blocks : least;
		if (busy == LANES) {
			cbc_run(l, LANES, least, rk, rounds);
		} else {
			int i = 0;
			for (; i + 4 <= busy; i += 4) cbc_run(l + i, 4, least, rk, rounds);
			for (; i + 2 <= busy; i += 2) cbc_run(l + i, 2, least, rk, rounds);
			if (i < busy) cbc_run(l + i, 1, least, rk, rounds);
		}
		for (int i = 0; i < busy;)
			if (next_span(&l[i]))
				i++;
			else
				l[i] = l[--busy];
	}
}

CE void gw_cbc_ce_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].flags & GW_OP_IV_NONCE) gw_aes_ce_encrypt_block(ops[i].key, ops[i].iv, ops[i].iv);
	while (n > 0) {
		size_t same = 1;
		while (same < n && ops[same].key == ops->key) same++;
		CE_BY_ROUNDS(((const gw_aes_ce_key *)ops->key)->rounds, cbc_same_key, ops, same);
		ops += same, n -= same;
	}
}

#endif
