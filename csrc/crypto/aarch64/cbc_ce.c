/* SPDX-License-Identifier: MIT
 * CBC encryption by the Crypto Extensions. A packet alone waits for each AES round; so packets under one key run
 * abreast, up to four, each with its own chain.
 */
#if defined(__aarch64__)

#include "aes_ce.h"
#include "cbc_lanes.h"

#define LANES 4

/* `deep` blocks in each lane, loaded before any is stored. x is chain ^ last key: the XOR with that key joins the one
 * with the first round key, so that nothing but AES stands on the path from block to block. */
CE_INLINE void cbc_step(uint8x16_t *x, const uint8_t **in, uint8_t **out, int lanes, int deep, uint8x16_t ends,
						const ce_keys *k)
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
		ce_extra(x, lanes, k, 1, false);
		CE_UNROLL for (int r = 1; r < 9; r++) CE_UNROLL for (int i = 0; i < lanes; i++) x[i] =
			vaesmcq_u8(vaeseq_u8(x[i], k->rk[r]));
		CE_UNROLL for (int i = 0; i < lanes; i++)
		{
			x[i] = vaeseq_u8(x[i], k->rk[9]);
			b[i][j] = veorq_u8(x[i], k->rk[10]);
		}
	}
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		ce_store(b[i], deep, out[i]);
		out[i] += 16 * deep;
	}
}

/* `blocks` blocks in each of `lanes` lanes. */
CE_INLINE void cbc_run(cbc_lane *l, int lanes, size_t blocks, const ce_keys *k)
{
	const uint8x16_t ends = veorq_u8(vld1q_u8(k->first[0]), k->rk[10]);
	const int deep = lanes == 1 ? 4 : 2;
	uint8x16_t x[LANES];
	const uint8_t *in[LANES];
	uint8_t *out[LANES];
	size_t left = blocks;
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		x[i] = veorq_u8(l[i].chain, k->rk[10]);
		in[i] = l[i].in;
		out[i] = l[i].out;
	}
	CE_ROLLED for (; left >= (size_t)deep; left -= (size_t)deep) cbc_step(x, in, out, lanes, deep, ends, k);
	CE_ROLLED for (; left > 0; left--) cbc_step(x, in, out, lanes, 1, ends, k);
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		l[i].chain = veorq_u8(x[i], k->rk[10]);
		l[i].in = in[i];
		l[i].out = out[i];
		l[i].blocks -= blocks;
	}
}

/* extra: that of the key, as a constant: a lone packet has no other blocks to share a branch with. */
CE_INLINE void cbc_ops(gw_op *ops, size_t n, uint32_t extra)
{
	const gw_aes_ce_key *k = ops->key;
	ce_keys keys = ce_load_keys(k->enc, k->rounds);
	keys.extra = extra;
	cbc_lane l[LANES];
	int busy = 0;
	while ((busy = cbc_fill(l, busy, LANES, &ops, &n)) > 0) {
		const size_t least = cbc_least(l, busy);
		if (busy == LANES)
			cbc_run(l, LANES, least, &keys);
		else
			CE_ROLLED for (int i = 0; i < busy; i++) cbc_run(l + i, 1, least, &keys);
		busy = cbc_drain(l, busy);
	}
}

static void cbc_slow(const gw_op *op)
{
	const uint8_t *chain = op->iv;
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++)
		for (size_t at = 0; at + 16 <= op->in[s].len; at += 16, out += 16) {
			gw_xor16(out, op->in[s].data + at, chain);
			gw_aes_ce_encrypt_block(op->key, out, out);
			chain = out;
		}
}

CE void gw_cbc_ce_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].flags & GW_OP_IV_NONCE) gw_aes_ce_encrypt_block(ops[i].key, ops[i].iv, ops[i].iv);
	while (n > 0) {
		const size_t same = cbc_same_key(ops, n);
		switch (((const gw_aes_ce_key *)ops->key)->rounds) {
		case 10: cbc_ops(ops, same, 0); break;
		case 14: cbc_ops(ops, same, 4); break;
		default: /* AES-192 is rare, and code is not free on a router */
			for (size_t i = 0; i < same; i++) cbc_slow(&ops[i]);
		}
		ops += same, n -= same;
	}
}

#endif
