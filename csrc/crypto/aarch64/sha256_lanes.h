/* SPDX-License-Identifier: MIT
 * SHA-256 and its HMAC over several messages abreast: the scheduler. Each lane has a message of its own and goes
 * through its spans, its padded tail and (HMAC) the outer block; lanes go in step until the shortest needs something
 * new. An implementation brings `run`: n blocks in each of the first `busy` lanes.
 */
#ifndef GW_CRYPTO_AARCH64_SHA256_LANES_H
#define GW_CRYPTO_AARCH64_SHA256_LANES_H

#include "../md.h"

#define SHA256_LANES_MAX 4

typedef struct sha256_lane {
	uint32_t state[8];
	uint8_t tail[128];
	const uint8_t *data;
	size_t blocks; /* left at data */
	gw_op *op;
	uint32_t span; /* next one */
	enum { SHA256_SPANS, SHA256_TAIL, SHA256_OUTER } stage;
} sha256_lane;

typedef void (*sha256_run)(sha256_lane *lanes, size_t busy, size_t n_blocks);

static inline void sha256_store_digest(const sha256_lane *l, uint8_t *to)
{
	for (int i = 0; i < 8; i++) gw_store_be32(to + 4 * i, l->state[i]);
}

static inline void sha256_start(sha256_lane *l, gw_op *op, bool hmac)
{
	memcpy(l->state, hmac ? ((const gw_hmac_ctx *)op->mac_key)->inner.w32 : gw_sha256_iv, 32);
	l->op = op;
	l->span = 0;
	l->blocks = 0;
	l->stage = SHA256_SPANS;
}

/* What stands behind the last whole block: the message's end, the ESN, padding and the length. */
static inline void sha256_make_tail(sha256_lane *l, bool hmac)
{
	const gw_op *op = l->op;
	uint64_t bytes = hmac ? 64 : 0;
	for (uint32_t i = 0; i < op->n_in; i++) bytes += op->in[i].len;
	size_t used = 0;
	if (op->n_in > 0) {
		const gw_span *last = &op->in[op->n_in - 1];
		used = last->len % 64;
		if (used > 0) memcpy(l->tail, last->data + last->len - used, used);
	}
	if (op->flags & GW_OP_ESN) {
		memcpy(l->tail + used, op->esn, 4);
		used += 4;
		bytes += 4;
	}
	l->tail[used++] = 0x80;
	l->blocks = used > 56 ? 2 : 1;
	memset(l->tail + used, 0, 64 * l->blocks - 8 - used);
	gw_store_be64(l->tail + 64 * l->blocks - 8, bytes * 8);
	l->data = l->tail;
	l->stage = SHA256_TAIL;
}

/* Gives the lane its next blocks; false when its tag is written. */
static inline bool sha256_next(sha256_lane *l, bool hmac)
{
	uint8_t digest[32];
	switch (l->stage) {
	case SHA256_SPANS:
		while (l->span < l->op->n_in) {
			const gw_span *s = &l->op->in[l->span++];
			if (s->len < 64) continue;
			l->data = s->data;
			l->blocks = s->len / 64;
			return true;
		}
		sha256_make_tail(l, hmac);
		return true;
	case SHA256_TAIL:
		if (!hmac) break;
		sha256_store_digest(l, l->tail);
		memcpy(l->state, ((const gw_hmac_ctx *)l->op->mac_key)->outer.w32, 32);
		l->tail[32] = 0x80;
		memset(l->tail + 33, 0, 64 - 33 - 8);
		gw_store_be64(l->tail + 56, (64 + 32) * 8);
		l->data = l->tail;
		l->blocks = 1;
		l->stage = SHA256_OUTER;
		return true;
	case SHA256_OUTER: break;
	}
	sha256_store_digest(l, digest);
	memcpy(l->op->tag, digest, l->op->tag_len);
	return false;
}

static inline __attribute__((always_inline)) void sha256_schedule(gw_op *ops, size_t n, bool hmac, size_t n_lanes,
																  sha256_run run)
{
	sha256_lane lanes[SHA256_LANES_MAX];
	size_t busy = 0;
	for (;;) {
		for (; busy < n_lanes && n > 0; n--, ops++, busy++) {
			sha256_start(&lanes[busy], ops, hmac);
			(void)sha256_next(&lanes[busy], hmac);
		}
		if (busy == 0) return;
		size_t least = lanes[0].blocks;
		for (size_t i = 1; i < busy; i++) least = lanes[i].blocks < least ? lanes[i].blocks : least;
		run(lanes, busy, least);
		for (size_t i = 0; i < busy;) {
			if (lanes[i].blocks > 0 || sha256_next(&lanes[i], hmac)) {
				i++;
				continue;
			}
			sha256_lane *last = &lanes[--busy];
			if (last != &lanes[i]) {
				lanes[i] = *last;
				if (last->data >= last->tail && last->data < last->tail + sizeof last->tail)
					lanes[i].data = lanes[i].tail + (last->data - last->tail);
			}
		}
	}
}

#endif
