/* SPDX-License-Identifier: MIT */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../md.h"
#include "copy.h"
#include "sha256_lanes.h"

#define MAX_LANES 4

typedef struct lane {
	gw_op *op;     /* NULL: nothing left to do */
	uint32_t span; /* of op, next */
	size_t blocks; /* left of the current stretch */
	uint64_t total_bytes;
	uint32_t used; /* bytes of buf */
	enum { DATA, PADDING, OUTER } phase;
	uint8_t buf[128];
} lane;

typedef struct batch {
	uint32_t state[8 * MAX_LANES] __attribute__((aligned(16)));
	const uint8_t *data[MAX_LANES];
	lane lane[MAX_LANES];
	const gw_sha256_core *core;
	bool hmac;
	gw_op *ops; /* not yet begun */
	size_t n;
} batch;

/* State to and from native words: [lane][8], or [8][4] (interleaved). */
static inline void set_state(batch *b, uint32_t l, const uint32_t *words)
{
	if (b->core->interleaved)
		for (uint32_t i = 0; i < 8; i++) b->state[4 * i + l] = words[i];
	else
		for (uint32_t i = 0; i < 8; i += 4) vst1q_u32(b->state + 8 * l + i, vld1q_u32(words + i));
}

static inline void get_state(const batch *b, uint32_t l, uint32_t words[8])
{
	if (b->core->interleaved)
		for (uint32_t i = 0; i < 8; i++) words[i] = b->state[4 * i + l];
	else
		for (uint32_t i = 0; i < 8; i += 4) vst1q_u32(words + i, vld1q_u32(b->state + 8 * l + i));
}

/* Ends the message with what is in buf, which is zero behind it: one block or two. */
static inline void pad(batch *b, uint32_t l, uint64_t total_bytes)
{
	lane *x = &b->lane[l];
	const uint32_t end = x->used < 56 ? 64 : 128;
	x->buf[x->used] = 0x80;
	gw_store_be64(x->buf + end - 8, total_bytes * 8);
	b->data[l] = x->buf;
	x->blocks = end / 64;
}

static inline void clear_buf(lane *x)
{
	for (uint32_t i = 0; i < sizeof x->buf; i += 16) vst1q_u8(x->buf + i, vdupq_n_u8(0));
}

/* 32 bytes, any alignment. */
static inline void digest(const batch *b, uint32_t l, uint8_t *out)
{
	uint32_t words[8];
	get_state(b, l, words);
	for (uint32_t i = 0; i < 8; i += 4) vst1q_u8(out + 4 * i, vrev32q_u8(vreinterpretq_u8_u32(vld1q_u32(words + i))));
}

/* The lane's next stretch of blocks; false when the packet is done and its tag written. */
static bool next_stretch(batch *b, uint32_t l)
{
	lane *x = &b->lane[l];
	const gw_op *op = x->op;
	uint8_t out[32];
	switch (x->phase) {
	case DATA:
		while (x->span < op->n_in) {
			const gw_span *s = &op->in[x->span++];
			const size_t whole = s->len / 64;
			x->total_bytes += s->len;
			x->used = (uint32_t)(s->len % 64); /* not 0 in the last span only */
			gw_copy_few(x->buf, s->data + whole * 64, x->used);
			if (whole == 0) continue;
			b->data[l] = s->data;
			x->blocks = whole;
			return true;
		}
		if (op->flags & GW_OP_ESN) {
			memcpy(x->buf + x->used, op->esn, 4);
			x->used += 4;
			x->total_bytes += 4;
		}
		pad(b, l, x->total_bytes);
		x->phase = PADDING;
		return true;
	case PADDING:
		if (!b->hmac) break;
		clear_buf(x);
		digest(b, l, x->buf);
		set_state(b, l, ((const gw_hmac_ctx *)op->mac_key)->outer.w32);
		x->used = 32;
		pad(b, l, 64 + 32);
		x->phase = OUTER;
		return true;
	case OUTER: break;
	}
	digest(b, l, out);
	gw_copy_few(op->tag, out, op->tag_len);
	x->op = NULL;
	return false;
}

static void next_packet(batch *b, uint32_t l)
{
	lane *x = &b->lane[l];
	x->op = NULL;
	if (b->n == 0) return;
	x->op = b->ops++;
	b->n--;
	x->span = x->used = 0;
	x->phase = DATA;
	clear_buf(x);
	x->total_bytes = b->hmac ? 64 : 0;
	set_state(b, l, b->hmac ? ((const gw_hmac_ctx *)x->op->mac_key)->inner.w32 : gw_sha256_iv);
	(void)next_stretch(b, l); /* there is always the padding */
}

static void finish_alone(batch *b, uint32_t l)
{
	uint32_t words[8];
	for (; b->lane[l].op != NULL; (void)next_stretch(b, l)) {
		get_state(b, l, words);
		gw_sha256_neon_blocks(words, b->data[l], b->lane[l].blocks);
		set_state(b, l, words);
	}
	gw_wipe_few(words, sizeof words);
}

void gw_sha256_lanes(const gw_sha256_core *core, gw_op *ops, size_t n, bool hmac)
{
	batch b;
	b.core = core;
	b.hmac = hmac;
	b.ops = ops;
	b.n = n;
	for (uint32_t l = 0; l < core->lanes; l++) next_packet(&b, l);
	for (;;) {
		size_t steps = SIZE_MAX;
		uint32_t active = 0, model = 0;
		for (uint32_t l = 0; l < core->lanes; l++) {
			if (b.lane[l].op == NULL) continue;
			active++;
			if (b.lane[l].blocks < steps) {
				steps = b.lane[l].blocks;
				model = l;
			}
		}
		if (active < core->worth) break;
		for (uint32_t l = 0; l < core->lanes; l++) /* anything readable; its state is nobody's */
			if (b.lane[l].op == NULL) b.data[l] = b.data[model];
		core->run(b.state, b.data, steps);
		for (uint32_t l = 0; l < core->lanes; l++) {
			lane *x = &b.lane[l];
			if (x->op == NULL) continue;
			x->blocks -= steps;
			b.data[l] += 64 * steps;
			if (x->blocks == 0 && !next_stretch(&b, l)) next_packet(&b, l);
		}
	}
	for (uint32_t l = 0; l < core->lanes; l++) finish_alone(&b, l);
	gw_wipe_few(&b, sizeof b);
}

#include "neon_end.h"
#else
typedef int gw_sha256_lanes_not_here;
#endif
