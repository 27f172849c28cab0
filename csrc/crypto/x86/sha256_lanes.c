/* SPDX-License-Identifier: MIT
 * The lane scheduler of SHA-256 and its HMAC.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

typedef enum phase { SPANS, LAST, OUTER } phase;

typedef struct job {
	gw_op *op; /* NULL: idle */
	phase now;
	uint32_t span;
	uint8_t buf[128]; /* last bytes with padding; then the outer block */
} job;

typedef struct scheduler {
	gw_sha256_lanes l;
	job job[GW_SHA256_LANES];
	gw_op *next, *end;
	bool hmac;
} scheduler;

static void set_state(scheduler *s, uint32_t lane, const uint32_t *state)
{
	for (int i = 0; i < 8; i++) s->l.state[i][lane] = state[i];
}

static void store_state(const scheduler *s, uint32_t lane, uint8_t *out)
{
	for (int i = 0; i < 8; i++) gw_store_be32(out + 4 * i, s->l.state[i][lane]);
}

/* Padding (FIPS 180-4 5.1.1) behind `used` bytes of buf; returns blocks. */
static size_t pad(uint8_t *buf, size_t used, uint64_t total_bytes)
{
	const size_t padded = used + 9 <= 64 ? 64 : 128;
	buf[used] = 0x80;
	memset(buf + used + 1, 0, padded - used - 1);
	gw_store_be64(buf + padded - 8, 8 * total_bytes);
	return padded / 64;
}

static void last_bytes(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	const gw_op *op = j->op;
	uint64_t total = s->hmac ? 64 : 0;
	size_t used = 0;
	for (uint32_t i = 0; i < op->n_in; i++) total += op->in[i].len;
	if (op->n_in > 0) {
		const gw_span *in = &op->in[op->n_in - 1];
		used = in->len % 64;
		memcpy(j->buf, in->data + in->len - used, used);
	}
	if (op->flags & GW_OP_ESN) {
		memcpy(j->buf + used, op->esn, 4);
		used += 4, total += 4;
	}
	s->l.left[lane] = pad(j->buf, used, total);
	s->l.data[lane] = j->buf;
	j->now = LAST;
}

/* The next span with whole blocks; without one the last bytes. */
static void next_span(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	for (; j->span < j->op->n_in; j->span++) {
		const gw_span *in = &j->op->in[j->span];
		if (in->len < 64) continue;
		s->l.data[lane] = in->data;
		s->l.left[lane] = in->len / 64;
		j->span++;
		return;
	}
	last_bytes(s, lane);
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
	j->now = SPANS;
	j->span = 0;
	set_state(s, lane, s->hmac ? ((const gw_hmac_ctx *)j->op->mac_key)->inner.w32 : gw_sha256_iv);
	next_span(s, lane);
}

/* What follows when the lane has used up its blocks. */
static void advance(scheduler *s, uint32_t lane)
{
	job *j = &s->job[lane];
	if (j->now == SPANS) {
		next_span(s, lane);
	} else if (j->now == LAST && s->hmac) {
		store_state(s, lane, j->buf);
		s->l.left[lane] = pad(j->buf, 32, 64 + 32);
		s->l.data[lane] = j->buf;
		set_state(s, lane, ((const gw_hmac_ctx *)j->op->mac_key)->outer.w32);
		j->now = OUTER;
	} else {
		uint8_t digest[32];
		store_state(s, lane, digest);
		memcpy(j->op->tag, digest, j->op->tag_len);
		next_op(s, lane);
	}
}

static void schedule(const gw_sha256_kernel *k, gw_op *ops, size_t n, bool hmac)
{
	static const uint8_t nothing[64]; /* idle lanes never run far: see least */
	scheduler s;
	s.next = ops;
	s.end = ops + n;
	s.hmac = hmac;
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
		if (busy == 0) return;
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
