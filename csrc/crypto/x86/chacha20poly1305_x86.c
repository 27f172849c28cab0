/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 for x86: which packets' groups run together, and each packet's way through both.
 */
#if defined(__x86_64__)
#include "chacha20poly1305_x86.h"

#define STREAM_BYTES (GW_CHACHA_GROUPS * 4 * 64)

int gw_chacha_setkey_x86(void *ctx, const uint8_t *key, size_t len)
{
	if (len != 32) return -EINVAL;
	memcpy(((gw_chacha_key *)ctx)->w, key, 32);
	return 0;
}

static void set_group(gw_chacha_group *g, const gw_op *op, uint32_t counter)
{
	g->key = (const gw_chacha_key *)op->key;
	g->row3[0] = counter;
	memcpy(g->row3 + 1, op->iv, 12);
}

/* The packet's key stream: what was made together with other packets', then more of it by itself. */
typedef struct source {
	const gw_chacha_kernel *k;
	const gw_op *op;
	const uint8_t *at;
	size_t left;
	uint32_t next_block;
	uint8_t *more; /* STREAM_BYTES */
} source;

static void refill(source *s)
{
	gw_chacha_group g[GW_CHACHA_GROUPS];
	for (uint32_t i = 0; i < s->k->groups; i++) {
		set_group(&g[i], s->op, s->next_block);
		s->next_block += s->k->group_blocks;
	}
	s->k->stream(g, s->k->groups, s->more);
	s->at = s->more;
	s->left = (size_t)s->k->groups * s->k->group_blocks * 64;
}

static void crypt_bytes(source *s)
{
	uint8_t *out = s->op->out;
	for (uint32_t i = 0; i < s->op->n_in; i++) {
		const uint8_t *in = s->op->in[i].data;
		for (size_t left = s->op->in[i].len; left > 0;) {
			if (s->left == 0) refill(s);
			const size_t n = left < s->left ? left : s->left;
			s->k->xor (out, in, s->at, n);
			in += n, out += n, left -= n;
			/* Spans end at whole blocks, except the last. */
			s->at += n, s->left -= n;
		}
	}
}

static void seal_one(source *s)
{
	const gw_op *op = s->op;
	gw_poly poly;
	uint8_t tag[16];
	gw_poly_init(&poly, s->at);
	s->at += 64, s->left -= 64;
	crypt_bytes(s);
	s->k->mac(&poly, op->aad, op->aad_len, op->out, gw_op_len(op));
	gw_poly_finish(&poly, tag);
	memcpy(op->tag, tag, op->tag_len);
}

static bool open_one(source *s)
{
	const gw_op *op = s->op;
	gw_poly poly;
	uint8_t tag[16];
	gw_poly_init(&poly, s->at);
	s->at += 64, s->left -= 64;
	if (op->n_in == 1) {
		s->k->mac(&poly, op->aad, op->aad_len, op->in[0].data, op->in[0].len);
	} else {
		gw_poly_padded(&poly, op->aad, op->aad_len);
		for (uint32_t i = 0; i < op->n_in; i++) gw_poly_padded(&poly, op->in[i].data, op->in[i].len);
		gw_poly_lengths(&poly, op->aad_len, gw_op_len(op));
	}
	gw_poly_finish(&poly, tag);
	if (!gw_equal_ct(tag, op->tag, op->tag_len)) return false;
	crypt_bytes(s);
	return true;
}

static void run(const gw_chacha_kernel *k, gw_op *ops, size_t n, bool open)
{
	uint8_t stream[STREAM_BYTES] __attribute__((aligned(64))), more[STREAM_BYTES] __attribute__((aligned(64)));
	bool more_used = false;
	const size_t group_bytes = 64 * (size_t)k->group_blocks;

	while (n > 0) {
		gw_chacha_group g[GW_CHACHA_GROUPS];
		uint32_t groups_of[GW_CHACHA_GROUPS], used = 0, m = 0;
		while (m < n && used < k->groups) {
			const size_t want = (64 + gw_op_len(&ops[m]) + group_bytes - 1) / group_bytes;
			if (m > 0 && used + want > k->groups) break;
			groups_of[m] = want > k->groups ? k->groups : (uint32_t)want; /* a long one starts here and goes on alone */
			for (uint32_t i = 0; i < groups_of[m]; i++) set_group(&g[used++], &ops[m], i * k->group_blocks);
			m++;
		}
		k->stream(g, used, stream);
		const uint8_t *at = stream;
		for (uint32_t i = 0; i < m; i++) {
			source s = {.k = k,
						.op = &ops[i],
						.at = at,
						.left = groups_of[i] * group_bytes,
						.next_block = groups_of[i] * k->group_blocks,
						.more = more};
			at += s.left;
			ops[i].status = 0;
			if (!open)
				seal_one(&s);
			else if (!open_one(&s))
				ops[i].status = -EBADMSG;
			more_used |= s.next_block != groups_of[i] * k->group_blocks;
		}
		ops += m;
		n -= m;
	}
	gw_wipe(stream, sizeof stream);
	if (more_used) gw_wipe(more, sizeof more);
}

void gw_chacha_seal_x86(const gw_chacha_kernel *k, gw_op *ops, size_t n)
{
	run(k, ops, n, false);
}
void gw_chacha_open_x86(const gw_chacha_kernel *k, gw_op *ops, size_t n)
{
	run(k, ops, n, true);
}
#endif
