/* SPDX-License-Identifier: MIT
 * CBC encryption is serial within a packet, so packets run abreast: each in a lane of its own, with its own key.
 * This is the scheduler: lanes go in step until the first of them has used up its span, then that one gets its next
 * span or the next packet. Included by the files that bring a kernel, once each.
 */
#ifndef GW_CRYPTO_X86_CBC_LANES_H
#define GW_CRYPTO_X86_CBC_LANES_H

#include "aes_x86.h"

#define GW_CBC_LANES_MAX   16
#define GW_CBC_IDLE_BLOCKS 32 /* a lane without a packet works on a scratch buffer of this size */

typedef struct gw_cbc_lanes {
	const uint8_t *in[GW_CBC_LANES_MAX];
	uint8_t *out[GW_CBC_LANES_MAX];
	const gw_aes_x86_key *key[GW_CBC_LANES_MAX];
	uint8_t chain[GW_CBC_LANES_MAX][16] __attribute__((aligned(64)));
} gw_cbc_lanes;

typedef struct gw_cbc_queue {
	gw_cbc_lanes l;
	gw_op *op[GW_CBC_LANES_MAX]; /* NULL: idle */
	uint32_t span[GW_CBC_LANES_MAX];
	size_t left[GW_CBC_LANES_MAX]; /* blocks of this span */
	uint8_t scratch[GW_CBC_IDLE_BLOCKS * 16];
	gw_op *next, *end;
} gw_cbc_queue;

/* The lane's next run of blocks: 1, or 0 when its packet is done. */
static inline int gw_cbc_next_span(gw_cbc_queue *q, uint32_t lane)
{
	const gw_op *op = q->op[lane];
	for (; q->span[lane] < op->n_in; q->span[lane]++) {
		const gw_span *s = &op->in[q->span[lane]];
		if (s->len < 16) continue;
		q->l.in[lane] = s->data;
		q->left[lane] = s->len / 16;
		q->span[lane]++;
		return 1;
	}
	return 0;
}

static inline void gw_cbc_next_op(gw_cbc_queue *q, uint32_t lane)
{
	while (q->next < q->end) {
		gw_op *op = q->next++;
		q->op[lane] = op;
		q->span[lane] = 0;
		q->l.key[lane] = (const gw_aes_x86_key *)op->key;
		if (op->flags & GW_OP_IV_NONCE) { /* one block more, in front: the nonce becomes the IV */
			memset(q->l.chain[lane], 0, 16);
			q->l.in[lane] = q->l.out[lane] = op->iv;
			q->left[lane] = 1;
			return;
		}
		memcpy(q->l.chain[lane], op->iv, 16);
		q->l.out[lane] = op->out;
		if (gw_cbc_next_span(q, lane)) return;
	}
	q->op[lane] = NULL;
	q->l.in[lane] = q->l.out[lane] = q->scratch;
	q->left[lane] = GW_CBC_IDLE_BLOCKS;
}

static inline void gw_cbc_refill(gw_cbc_queue *q, uint32_t lane)
{
	if (q->op[lane] == NULL) {
		q->l.in[lane] = q->l.out[lane] = q->scratch;
		q->left[lane] = GW_CBC_IDLE_BLOCKS;
		return;
	}
	if (q->l.out[lane] == q->op[lane]->iv + 16 && q->span[lane] == 0) q->l.out[lane] = q->op[lane]->out;
	if (!gw_cbc_next_span(q, lane)) gw_cbc_next_op(q, lane);
}

/* Lane by lane, for the rare run whose keys are of different lengths. */
GW_INLINE GW_TARGET_AESNI void gw_cbc_run_each(gw_cbc_lanes *l, int lanes, size_t blocks)
{
	for (int i = 0; i < lanes; i++) {
		__m128i c = gw_load128(l->chain[i]);
		for (size_t b = 0; b < blocks; b++, l->in[i] += 16, l->out[i] += 16) {
			c = gw_aesni_encrypt1(l->key[i]->enc, l->key[i]->rounds, _mm_xor_si128(c, gw_load128(l->in[i])));
			gw_store128(l->out[i], c);
		}
		gw_store128(l->chain[i], c);
	}
}

/* run: encrypts `blocks` blocks in each of the lanes and moves in, out and chain on. */
static inline __attribute__((always_inline)) void gw_cbc_schedule(gw_op *ops, size_t n, uint32_t lanes,
																  void (*run)(gw_cbc_lanes *l, size_t blocks))
{
	gw_cbc_queue q;
	q.next = ops;
	q.end = ops + n;
	memset(q.scratch, 0, sizeof q.scratch);
	for (uint32_t i = 0; i < lanes; i++) {
		q.l.key[i] = (const gw_aes_x86_key *)ops->key;
		memset(q.l.chain[i], 0, 16);
		gw_cbc_next_op(&q, i);
	}
	for (;;) {
		size_t least = q.left[0];
		uint32_t busy = 0;
		for (uint32_t i = 0; i < lanes; i++) {
			busy |= q.op[i] != NULL;
			if (q.left[i] < least) least = q.left[i];
		}
		if (!busy) return;
		run(&q.l, least);
		for (uint32_t i = 0; i < lanes; i++)
			if ((q.left[i] -= least) == 0) gw_cbc_refill(&q, i);
	}
}

#endif
