/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 (RFC 8439, 2.8; in ESP RFC 7634): blocks of all packets of a batch, one-time keys among them, fill
 * the four lanes of chacha20_neon.S.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../spans.h"
#include "block_sum.h"
#include "copy.h"
#include "poly1305_neon.h"

#define LANES 4
#define CHUNK 16 /* packets whose one-time keys are kept at a time */

typedef struct chacha_key {
	uint32_t w[8] __attribute__((aligned(16)));
} chacha_key;

/* chacha20_neon.S knows the first three members. */
typedef struct lanes {
	uint32_t state[LANES][16] __attribute__((aligned(16)));
	const uint8_t *in[LANES];
	uint8_t *out[LANES];
	uint32_t used;
	bool parts;               /* some part_len is not 0 */
	uint32_t part_len[LANES]; /* of a last block that is not whole; 0: it is */
	uint8_t *part_out[LANES]; /* where it belongs */
	uint8_t part[LANES][64];  /* in and out of it; out of unused lanes */
} lanes;

void gw_chacha20_neon4(const lanes *l);

static const uint8_t zeros[64];

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	if (len != 32) return -EINVAL;
	memcpy(((chacha_key *)ctx)->w, key, 32); /* little-endian, as this machine is */
	return 0;
}

static void run(lanes *l)
{
	if (l->used == 0) return;
	for (; l->used < LANES; l->used++) {
		memcpy(l->state[l->used], l->state[0], 64);
		l->in[l->used] = zeros;
		l->out[l->used] = l->part[l->used];
	}
	gw_chacha20_neon4(l);
	l->used = 0;
	if (!l->parts) return;
	for (uint32_t i = 0; i < LANES; i++) {
		if (l->part_len[i] > 0) gw_copy_few(l->part_out[i], l->part[i], l->part_len[i]);
		l->part_len[i] = 0;
	}
	l->parts = false;
}

/* Takes a lane for one block; rows are the four of the state, the counter in the last. */
static inline void take(lanes *l, const uint32x4_t row[4], const uint8_t *in, uint8_t *out)
{
	if (l->used == LANES) run(l);
	const uint32_t i = l->used++;
	for (uint32_t r = 0; r < 4; r++) vst1q_u32(l->state[i] + 4 * r, row[r]);
	l->in[i] = in;
	l->out[i] = out;
}

/* The state of block 0. */
static inline void first_rows(const gw_op *op, uint32x4_t row[4])
{
	static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	const chacha_key *k = (const chacha_key *)op->key;
	uint32_t last[4] = {0};
	memcpy(last + 1, op->iv, 12);
	row[0] = vld1q_u32(sigma);
	row[1] = vld1q_u32(k->w);
	row[2] = vld1q_u32(k->w + 4);
	row[3] = vld1q_u32(last);
}

static void poly_key(lanes *l, const gw_op *op, uint8_t key[64])
{
	uint32x4_t row[4];
	first_rows(op, row);
	take(l, row, zeros, key);
}

/* Every span but the last is a multiple of 64 bytes: blocks never straddle two. */
static void crypt_bytes(lanes *l, const gw_op *op)
{
	const uint32x4_t one = vsetq_lane_u32(1, vdupq_n_u32(0), 0);
	uint32x4_t row[4];
	uint8_t *out = op->out;
	first_rows(op, row);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len;
		for (; left >= 64; in += 64, out += 64, left -= 64) {
			row[3] = vaddq_u32(row[3], one);
			take(l, row, in, out);
		}
		if (left > 0) {
			row[3] = vaddq_u32(row[3], one);
			if (l->used == LANES) run(l);
			const uint32_t i = l->used;
			gw_copy_few(l->part[i], in, left);
			l->part_len[i] = (uint32_t)left;
			l->part_out[i] = out;
			l->parts = true;
			take(l, row, l->part[i], l->part[i]);
		}
	}
}

static void full_tag(const gw_op *op, bool sealing, const uint8_t key[64], uint8_t tag[16])
{
	gw_poly1305_neon poly;
	gw_block_sum sum;
	const size_t len = gw_op_len(op);
	gw_poly1305_neon_init(&poly, key);
	gw_block_sum_start(&sum, gw_poly1305_neon_blocks, &poly);
	if (op->aad_len > 0) gw_block_sum_update(&sum, op->aad, op->aad_len);
	if (sealing)
		gw_block_sum_update(&sum, op->out, len);
	else
		for (uint32_t s = 0; s < op->n_in; s++) gw_block_sum_update(&sum, op->in[s].data, op->in[s].len);
	gw_block_sum_finish(&sum, vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(op->aad_len), vcreate_u64(len))));
	gw_poly1305_finish(&poly.p, tag);
	gw_wipe_few(poly.square, sizeof poly.square);
}

static void seal_chunk(lanes *l, gw_op *ops, size_t n)
{
	uint8_t key[CHUNK][64], tag[16];
	for (size_t i = 0; i < n; i++) {
		poly_key(l, &ops[i], key[i]);
		crypt_bytes(l, &ops[i]);
	}
	run(l);
	for (size_t i = 0; i < n; i++) {
		full_tag(&ops[i], true, key[i], tag);
		gw_copy_few(ops[i].tag, tag, ops[i].tag_len);
		ops[i].status = 0;
	}
	gw_wipe_few(key, n * sizeof key[0]);
}

static void open_chunk(lanes *l, gw_op *ops, size_t n)
{
	uint8_t key[CHUNK][64], tag[16];
	for (size_t i = 0; i < n; i++) poly_key(l, &ops[i], key[i]);
	run(l);
	for (size_t i = 0; i < n; i++) {
		full_tag(&ops[i], false, key[i], tag);
		ops[i].status = gw_equal_ct(tag, ops[i].tag, ops[i].tag_len) ? 0 : -EBADMSG;
		if (ops[i].status == 0) crypt_bytes(l, &ops[i]);
	}
	run(l);
	gw_wipe_few(key, n * sizeof key[0]);
}

static void in_chunks(gw_op *ops, size_t n, void (*chunk)(lanes *l, gw_op *ops, size_t n))
{
	lanes l;
	l.used = 0;
	l.parts = false;
	memset(l.part_len, 0, sizeof l.part_len);
	while (n > 0) {
		const size_t m = n < CHUNK ? n : CHUNK;
		chunk(&l, ops, m);
		ops += m, n -= m;
	}
	gw_wipe_few(l.state, sizeof l.state);
	gw_wipe_few(l.part, sizeof l.part);
}

static void seal(gw_op *ops, size_t n)
{
	in_chunks(ops, n, seal_chunk);
}

static void open_(gw_op *ops, size_t n)
{
	in_chunks(ops, n, open_chunk);
}

const gw_impl gw_impl_chacha20poly1305_neon = {
	.alg = "rfc7539(chacha20,poly1305)",
	.driver = "chacha20poly1305-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON",
	.kind = GW_KIND_AEAD,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(chacha_key),
	.batch_hint = 16,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#include "neon_end.h"
#else
typedef int gw_chacha20poly1305_neon_not_here;
#endif
