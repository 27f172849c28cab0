/* SPDX-License-Identifier: MIT
 * CBC encryption, serial within a packet, of eight packets abreast: a lane takes the next packet of the batch when
 * its own is done. Lanes without a packet of their own do another lane's work a second time, to the same place.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "aes_neonbs.h"
#include "copy.h"

void gw_neonbs_cbc_batch(gw_op *ops, size_t n);

typedef struct cbc_lane {
	gw_op *op;     /* NULL: nothing left to do */
	uint32_t span; /* of op, that is being worked on */
	size_t blocks; /* left in this span */
} cbc_lane;

typedef struct cbc_batch {
	gw_neonbs_lanes lanes;
	cbc_lane lane[GW_NEONBS_LANES];
	const gw_neonbs_key *key[GW_NEONBS_LANES];
	gw_neonbs_mixed mixed;
	gw_op *ops; /* not yet begun */
	size_t n;
} cbc_batch;

/* The lane's next stretch within its packet; false when the packet is done. */
static bool next_span(cbc_batch *b, uint32_t l)
{
	cbc_lane *lane = &b->lane[l];
	const gw_op *op = lane->op;
	while (lane->span < op->n_in) {
		const gw_span *s = &op->in[lane->span++];
		if (s->len < 16) continue;
		b->lanes.in[l] = s->data;
		lane->blocks = s->len / 16;
		return true;
	}
	return false;
}

/* Gives the lane the next packet of the batch that has as many rounds as the running ones, and anything to do. */
static bool next_packet(cbc_batch *b, uint32_t l, uint32_t rounds)
{
	static const uint8_t zero[16];
	cbc_lane *lane = &b->lane[l];
	for (; b->n > 0; b->ops++, b->n--) {
		gw_op *op = b->ops;
		const gw_neonbs_key *k = (const gw_neonbs_key *)op->key;
		if (k->rounds != rounds) break;
		lane->op = op;
		lane->span = 0;
		b->key[l] = k;
		if (op->flags & GW_OP_IV_NONCE) { /* the nonce is one block more, with nothing before it */
			memcpy(b->lanes.chain[l], zero, 16);
			b->lanes.in[l] = op->iv;
			b->lanes.out[l] = op->iv;
			lane->blocks = 1;
		} else {
			memcpy(b->lanes.chain[l], op->iv, 16);
			b->lanes.out[l] = op->out;
			if (!next_span(b, l)) continue;
		}
		b->ops++, b->n--;
		return true;
	}
	lane->op = NULL;
	return false;
}

/* After a stretch: the same packet's next, or the next packet. */
static void refill(cbc_batch *b, uint32_t l, uint32_t rounds)
{
	cbc_lane *lane = &b->lane[l];
	if (lane->span == 0) b->lanes.out[l] = lane->op->out; /* the nonce's block is done */
	if (!next_span(b, l)) (void)next_packet(b, l, rounds);
}

/* Lanes with nothing to do follow lane `model`. */
static void follow(cbc_batch *b, uint32_t model)
{
	for (uint32_t l = 0; l < GW_NEONBS_LANES; l++) {
		if (b->lane[l].op != NULL) continue;
		b->lanes.in[l] = b->lanes.in[model];
		b->lanes.out[l] = b->lanes.out[model];
		memcpy(b->lanes.chain[l], b->lanes.chain[model], 16);
		b->key[l] = b->key[model];
	}
}

/* The packets that are left, one by one, when they are too few for the core to pay. */
static void finish_serial(cbc_batch *b, uint32_t rounds)
{
	for (uint32_t l = 0; l < GW_NEONBS_LANES; l++)
		while (b->lane[l].op != NULL) {
			gw_neonvp_cbc_encrypt(b->key[l]->serial, rounds, b->lanes.out[l], b->lanes.in[l], b->lane[l].blocks,
								  b->lanes.chain[l]);
			b->lanes.out[l] += 16 * b->lane[l].blocks;
			refill(b, l, rounds);
		}
}

static void run(cbc_batch *b, uint32_t rounds)
{
	for (uint32_t l = 0; l < GW_NEONBS_LANES; l++) (void)next_packet(b, l, rounds);
	for (;;) {
		size_t steps = SIZE_MAX;
		uint32_t model = 0, active = 0;
		bool same = true;
		for (uint32_t l = 0; l < GW_NEONBS_LANES; l++)
			if (b->lane[l].op != NULL) {
				active++;
				if (b->lane[l].blocks >= steps) continue;
				steps = b->lane[l].blocks;
				model = l;
			}
		if (active <= GW_NEONBS_BREAK_EVEN) {
			finish_serial(b, rounds);
			return;
		}
		follow(b, model);
		for (uint32_t l = 1; l < GW_NEONBS_LANES; l++) same &= b->key[l] == b->key[0];
		if (!same) gw_neonbs_mix(&b->mixed, b->key);
		gw_neonbs_cbc_encrypt(same ? b->key[0]->slices : b->mixed.slices, rounds, &b->lanes, steps);
		for (uint32_t l = 0; l < GW_NEONBS_LANES; l++) {
			if (b->lane[l].op == NULL) continue;
			b->lane[l].blocks -= steps;
			if (b->lane[l].blocks == 0) refill(b, l, rounds);
		}
	}
}

void gw_neonbs_cbc_batch(gw_op *ops, size_t n)
{
	cbc_batch b;
	b.ops = ops;
	b.n = n;
	memset(b.mixed.key, 0, sizeof b.mixed.key);
	while (b.n > 0) run(&b, ((const gw_neonbs_key *)b.ops->key)->rounds);
	gw_wipe_few(b.lanes.chain, sizeof b.lanes.chain);
	if (b.mixed.key[0] != NULL) gw_wipe_few(b.mixed.slices, sizeof b.mixed.slices);
}

#include "neon_end.h"
#else
typedef int gw_neonbs_cbc_not_here;
#endif
