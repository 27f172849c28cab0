/* SPDX-License-Identifier: MIT
 * SHA-256 and its HMAC, four packets of a batch abreast: a lane takes the next packet when its own is done. With
 * fewer than three packets left, one stream after the other is faster and is used.
 */
#if defined(__arm__) && !defined(__ARMEB__)
#include "../md.h"

#define LANES 4

void gw_sha256_neon4(uint32_t state[8][LANES], const uint8_t *data[LANES], size_t blocks);
void gw_sha256_neon_blocks(void *state, const uint8_t *data, size_t blocks);

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
	uint32_t state[8][LANES] __attribute__((aligned(16)));
	const uint8_t *data[LANES];
	lane lane[LANES];
	bool hmac;
	gw_op *ops; /* not yet begun */
	size_t n;
} batch;

static void set_state(batch *b, uint32_t l, const uint32_t *words)
{
	for (uint32_t i = 0; i < 8; i++) b->state[i][l] = words[i];
}

/* Ends the message with what is in buf: one block or two. */
static void pad(batch *b, uint32_t l, uint64_t total_bytes)
{
	lane *x = &b->lane[l];
	const uint32_t end = x->used < 56 ? 64 : 128;
	x->buf[x->used++] = 0x80;
	memset(x->buf + x->used, 0, end - 8 - x->used);
	gw_store_be64(x->buf + end - 8, total_bytes * 8);
	b->data[l] = x->buf;
	x->blocks = end / 64;
}

static void digest(const batch *b, uint32_t l, uint8_t out[32])
{
	for (uint32_t i = 0; i < 8; i++) gw_store_be32(out + 4 * i, b->state[i][l]);
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
			memcpy(x->buf, s->data + whole * 64, x->used);
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
		digest(b, l, x->buf);
		set_state(b, l, ((const gw_hmac_ctx *)op->mac_key)->outer.w32);
		x->used = 32;
		pad(b, l, 64 + 32);
		x->phase = OUTER;
		return true;
	case OUTER: break;
	}
	digest(b, l, out);
	memcpy(op->tag, out, op->tag_len);
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
	x->total_bytes = b->hmac ? 64 : 0;
	set_state(b, l, b->hmac ? ((const gw_hmac_ctx *)x->op->mac_key)->inner.w32 : gw_sha256_iv);
	(void)next_stretch(b, l); /* there is always the padding */
}

static void finish_alone(batch *b, uint32_t l)
{
	uint32_t words[8];
	for (; b->lane[l].op != NULL; (void)next_stretch(b, l)) {
		for (uint32_t i = 0; i < 8; i++) words[i] = b->state[i][l];
		gw_sha256_neon_blocks(words, b->data[l], b->lane[l].blocks);
		set_state(b, l, words);
	}
	gw_wipe(words, sizeof words);
}

static void run(gw_op *ops, size_t n, bool hmac)
{
	batch b;
	b.hmac = hmac;
	b.ops = ops;
	b.n = n;
	for (uint32_t l = 0; l < LANES; l++) next_packet(&b, l);
	for (;;) {
		size_t steps = SIZE_MAX;
		uint32_t active = 0, model = 0;
		for (uint32_t l = 0; l < LANES; l++) {
			if (b.lane[l].op == NULL) continue;
			active++;
			if (b.lane[l].blocks < steps) {
				steps = b.lane[l].blocks;
				model = l;
			}
		}
		if (active < 3) break;
		for (uint32_t l = 0; l < LANES; l++) /* anything readable; its state is nobody's */
			if (b.lane[l].op == NULL) b.data[l] = b.data[model];
		gw_sha256_neon4(b.state, b.data, steps);
		for (uint32_t l = 0; l < LANES; l++) {
			lane *x = &b.lane[l];
			if (x->op == NULL) continue;
			x->blocks -= steps;
			if (x->blocks == 0 && !next_stretch(&b, l)) next_packet(&b, l);
		}
	}
	for (uint32_t l = 0; l < LANES; l++) finish_alone(&b, l);
	gw_wipe(&b, sizeof b);
}

static void hash(gw_op *ops, size_t n)
{
	run(ops, n, false);
}

static void hmac(gw_op *ops, size_t n)
{
	run(ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	static const gw_md sha256 = {
		.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = gw_sha256_neon_blocks};
	return gw_md_hmac_setkey(&sha256, (gw_hmac_ctx *)ctx, key, len);
}

/* Half the instructions of one stream, but of the dearer kind: by the estimate (12.2 cycles a byte against 11.4 on a
 * Cortex-A8, more on a Cortex-A7, whose NEON is 64 bits wide) one stream is preferred. */
const gw_impl gw_impl_sha256_neon4 = {
	.alg = "sha256",
	.driver = "sha256-neon4/gwbench",
	.tag = "neon4",
	.isa = "ARMv7 NEON, 4 packets abreast",
	.kind = GW_KIND_HASH,
	.priority = 310,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = 16,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_neon4 = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-neon4/gwbench",
	.tag = "neon4",
	.isa = "ARMv7 NEON, 4 packets abreast",
	.kind = GW_KIND_MAC,
	.priority = 310,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 16,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha256_neon4_not_here;
#endif
