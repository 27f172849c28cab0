/* SPDX-License-Identifier: MIT
 * The lane scheduler of SHA-256 and its HMAC.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

/* A message of up to this many bytes is copied whole, which saves a turn of the scheduler. */
#define SHORT_BYTES 128

typedef struct job {
	gw_op *op; /* NULL: idle */
	bool last; /* at buf, the last run */
	uint32_t span;
	uint8_t buf[SHORT_BYTES + 64] __attribute__((aligned(64))); /* last bytes, ESN, padding */
} job;

typedef struct scheduler {
	gw_sha256_lanes l;
	gw_sha256_outer outer;
	const gw_sha256_kernel *k;
	job job[GW_SHA256_LANES];
	gw_op *next, *end;
	bool hmac;
} scheduler;

static void set_state(scheduler *s, uint32_t lane, const uint32_t *state)
{
	for (int i = 0; i < 8; i++) s->l.state[i][lane] = state[i];
}

/* The bytes of the last span from `from` on, ESN and padding (FIPS 180-4 5.1.1). */
static void last_bytes(scheduler *s, uint32_t lane, size_t from)
{
	job *j = &s->job[lane];
	const gw_op *op = j->op;
	uint64_t total = s->hmac ? 64 : 0;
	size_t used = 0;

	for (uint32_t i = 0; i < op->n_in; i++) total += op->in[i].len;
	const gw_span *in = op->n_in > 0 ? &op->in[op->n_in - 1] : NULL;
	const size_t esn = op->flags & GW_OP_ESN ? 4 : 0;
	used = in == NULL ? 0 : in->len - from;
	const size_t blocks = (used + esn + 9 + 63) / 64;
	/* Two blocks at most hold zeros; sizes that are constants become a few stores, where a longer memset would not. */
	memset(j->buf + used / 64 * 64, 0, 64);
	memset(j->buf + 64 * (blocks - 1), 0, 64);
	if (used > 0) memcpy(j->buf, in->data + from, used);
	if (esn > 0) memcpy(j->buf + used, op->esn, 4);
	j->buf[used + esn] = 0x80;
	gw_store_be64(j->buf + 64 * blocks - 8, 8 * (total + esn));
	s->l.left[lane] = blocks;
	s->l.data[lane] = j->buf;
	j->last = true;
}

/* The next span with whole blocks; without one the last bytes. */
static void next_span(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	const gw_op *op = j->op;
	for (; j->span < op->n_in; j->span++) {
		const gw_span *in = &op->in[j->span];
		const bool final = j->span + 1 == op->n_in;
		if (final && in->len < SHORT_BYTES - 12) {
			last_bytes(s, lane, 0);
			return;
		}
		if (in->len < 64) continue;
		s->l.data[lane] = in->data;
		s->l.left[lane] = in->len / 64;
		j->span++;
		return;
	}
	last_bytes(s, lane, op->n_in > 0 ? op->in[op->n_in - 1].len & ~(size_t)63 : 0);
}

static void next_op(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	if (s->next == s->end) {
		j->op = NULL;
		s->l.left[lane] = 0;
		return;
	}
	j->op = s->next++;
	j->last = false;
	j->span = 0;
	set_state(s, lane, s->hmac ? ((const gw_hmac_ctx *)j->op->mac_key)->inner.w32 : gw_sha256_iv);
	next_span(s, lane);
}

/* What follows when the lane has used up its blocks. */
static void advance(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	if (!j->last) {
		next_span(s, lane);
		return;
	}
	if (s->hmac) {
		gw_sha256_outer *o = &s->outer;
		for (int i = 0; i < 8; i++) o->inner[i][o->n] = s->l.state[i][lane];
		o->op[o->n++] = j->op;
		if (o->n == s->k->lanes) s->k->outer(o);
	} else {
		uint8_t digest[32];
		for (int i = 0; i < 8; i++) gw_store_be32(digest + 4 * i, s->l.state[i][lane]);
		memcpy(j->op->tag, digest, j->op->tag_len);
	}
	next_op(s, lane);
}

static void schedule(const gw_sha256_kernel *k, gw_op *ops, size_t n, bool hmac)
{
	static const uint8_t nothing[64]; /* idle lanes never run far: see least */
	scheduler s;
	s.next = ops;
	s.end = ops + n;
	s.hmac = hmac;
	s.k = k;
	s.outer.n = 0;
	memset(s.l.left, 0, sizeof s.l.left);
	for (uint32_t i = 0; i < k->lanes; i++) next_op(&s, i);
	for (;;) {
		size_t least = SIZE_MAX;
		uint32_t busy = 0;
		for (uint32_t i = 0; i < k->lanes; i++) {
			if (s.job[i].op == NULL) continue;
			busy++;
			if (s.l.left[i] < least) least = s.l.left[i];
		}
		if (busy == 0) break;
		if (busy < k->enough) {
			k->rest(&s.l);
			for (uint32_t i = 0; i < k->lanes; i++)
				if (s.job[i].op != NULL) advance(&s, i);
			continue;
		}
		if (busy < k->lanes) { /* idle lanes hash the same block over and over: one block at a time */
			least = 1;
			for (uint32_t i = 0; i < k->lanes; i++)
				if (s.job[i].op == NULL) s.l.data[i] = nothing;
		}
		k->run(&s.l, least);
		for (uint32_t i = 0; i < k->lanes; i++)
			if (s.job[i].op != NULL && (s.l.left[i] -= least) == 0) advance(&s, i);
	}
	if (s.outer.n > 0) k->outer(&s.outer);
}

void gw_sha256_lanes_hash(const gw_sha256_kernel *k, gw_op *ops, size_t n)
{
	schedule(k, ops, n, false);
}
void gw_sha256_lanes_hmac(const gw_sha256_kernel *k, gw_op *ops, size_t n)
{
	schedule(k, ops, n, true);
}
#endif
