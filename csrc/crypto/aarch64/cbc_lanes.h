/* SPDX-License-Identifier: MIT
 * CBC encryption is serial within a packet, so packets under one key run abreast, each with its own chain: the
 * scheduler. Lanes go in step until the shortest needs its next span or has ended and makes room for the next packet.
 */
#ifndef GW_CRYPTO_AARCH64_CBC_LANES_H
#define GW_CRYPTO_AARCH64_CBC_LANES_H

#include <arm_neon.h>

#include "../impl.h"

#define CBC_LANES_MAX 8

/* A packet in progress. */
typedef struct cbc_lane {
	const gw_op *op;
	const uint8_t *in;
	uint8_t *out;
	size_t blocks; /* left of this span */
	uint32_t span; /* next one */
	uint8x16_t chain;
} cbc_lane;

static inline bool cbc_next_span(cbc_lane *l)
{
	while (l->blocks == 0) {
		if (l->span == l->op->n_in) return false;
		l->in = l->op->in[l->span].data;
		l->blocks = l->op->in[l->span++].len / 16;
	}
	return true;
}

/* Refills lanes from ops and says how many are busy. */
static inline int cbc_fill(cbc_lane *l, int busy, int lanes, gw_op **ops, size_t *n)
{
	for (; busy<lanes && * n> 0; --*n, ++*ops) {
		l[busy] = (cbc_lane){.op = *ops, .out = (*ops)->out, .chain = vld1q_u8((*ops)->iv)};
		busy += cbc_next_span(&l[busy]);
	}
	return busy;
}

static inline size_t cbc_least(const cbc_lane *l, int busy)
{
	size_t least = l[0].blocks;
	for (int i = 1; i < busy; i++) least = l[i].blocks < least ? l[i].blocks : least;
	return least;
}

/* Lanes that have run out of blocks get their next span, or leave. */
static inline int cbc_drain(cbc_lane *l, int busy)
{
	for (int i = 0; i < busy;)
		if (cbc_next_span(&l[i]))
			i++;
		else
			l[i] = l[--busy];
	return busy;
}

/* Ops from the front of the array that have one key. */
static inline size_t cbc_same_key(const gw_op *ops, size_t n)
{
	size_t same = 1;
	while (same < n && ops[same].key == ops->key) same++;
	return same;
}

#endif
