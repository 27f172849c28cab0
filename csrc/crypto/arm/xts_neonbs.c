/* SPDX-License-Identifier: MIT
 * XTS (IEEE 1619) on the bit-sliced core: groups of eight blocks at once; first tweaks, left-over blocks and stolen
 * ciphertext share lanes with the other requests of the batch.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../spans.h"
#include "aes_neonbs.h"
#include "copy.h"

#include "aes_neonbs_slots.h"
#include "xts_tweak.h"

#define CHUNK 16 /* requests whose tweaks are kept at a time */

typedef struct xts_key {
	gw_neonbs_key data, tweak;
} xts_key;

/* A request with an incomplete last block (IEEE 1619, 5.3.2 and 5.4.2). */
typedef struct steal {
	uint32_t tail;     /* bytes of the last block; 0: nothing to steal */
	uint8_t last[32];  /* the last two blocks of the input */
	uint8_t full[16];  /* the result of the last whole one */
	uint8_t tweak[16]; /* of the other */
	uint8_t *out;      /* of the last two */
} steal;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = (xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_neonbs_setkey(&k->data, key, len / 2);
	return gw_neonbs_setkey(&k->tweak, key + len / 2, len / 2);
}

static void put(gw_neonbs_slots *s, const uint8_t *in, uint8x16_t tweak, uint8_t *out)
{
	gw_neonbs_slots_put(s, out, veorq_u8(vld1q_u8(in), tweak), tweak);
}

static void first_tweaks(gw_neonbs_slots *s, const gw_op *ops, size_t n, uint8_t tweak[CHUNK][16])
{
	for (size_t i = 0; i < n; i++) {
		gw_neonbs_slots_key(s, &((const xts_key *)ops[i].key)->tweak);
		gw_neonbs_slots_put(s, tweak[i], vld1q_u8(ops[i].iv), vdupq_n_u8(0));
	}
	gw_neonbs_slots_run(s);
}

/* All whole blocks that come before stealing; then the first step of stealing. */
static void whole_blocks(gw_neonbs_slots *s, const gw_op *op, uint8_t tweak[16], steal *st)
{
	const gw_neonbs_key *k = &((const xts_key *)op->key)->data;
	gw_neonbs_slots_key(s, k);
	st->tail = 0;
	if (op->n_in == 1 && op->in[0].len % 16 == 0 && op->in[0].len < 128) { /* short and simple */
		const uint8_t *in = op->in[0].data, *end = in + op->in[0].len;
		uint8x16_t t = vld1q_u8(tweak);
		for (uint8_t *to = op->out; in < end; in += 16, to += 16) {
			put(s, in, t, to);
			t = gw_xts_tweak_next(t);
		}
		return;
	}
	const size_t len = gw_op_len(op);
	size_t whole = len / 16;
	uint8_t *out = op->out;

	if (len < 16) return;
	st->tail = (uint32_t)(len % 16);
	if (st->tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, st->last, 16 + st->tail); /* before an in-place run could change it */
	}
	for (uint32_t j = 0; j < op->n_in; j++) {
		const uint8_t *in = op->in[j].data;
		size_t blocks = op->in[j].len / 16 < whole ? op->in[j].len / 16 : whole;
		const size_t groups = blocks / 8;
		whole -= blocks;
		if (groups > 0) {
			(s->decrypt ? gw_neonbs_xts_decrypt : gw_neonbs_xts_encrypt)(k->slices, k->rounds, out, in, groups, tweak);
			in += 128 * groups, out += 128 * groups, blocks -= 8 * groups;
		}
		if (blocks == 0) continue;
		uint8x16_t t = vld1q_u8(tweak);
		for (; blocks > 0; in += 16, out += 16, blocks--) {
			put(s, in, t, out);
			t = gw_xts_tweak_next(t);
		}
		vst1q_u8(tweak, t);
	}
	if (st->tail == 0) return;
	memcpy(st->tweak, tweak, 16);
	gw_xts_next(s->decrypt ? tweak : st->tweak); /* the last two tweaks change places when decrypting */
	st->out = out;
	put(s, st->last, vld1q_u8(tweak), st->full);
}

static void second_step(gw_neonbs_slots *s, const gw_op *op, steal *st)
{
	uint8_t cut[16];
	memcpy(cut, st->last + 16, st->tail);
	memcpy(cut + st->tail, st->full + st->tail, 16 - st->tail);
	memcpy(st->out + 16, st->full, st->tail);
	gw_neonbs_slots_key(s, &((const xts_key *)op->key)->data);
	put(s, cut, vld1q_u8(st->tweak), st->out);
}

static void xts(gw_op *ops, size_t n, bool decrypt)
{
	gw_neonbs_slots s;
	uint8_t tweak[CHUNK][16];
	steal st[CHUNK];
	gw_neonbs_slots_init(&s, false);
	while (n > 0) {
		const size_t m = n < CHUNK ? n : CHUNK;
		bool steals = false;
		s.decrypt = false;
		first_tweaks(&s, ops, m, tweak);
		s.decrypt = decrypt;
		for (size_t i = 0; i < m; i++) {
			whole_blocks(&s, &ops[i], tweak[i], &st[i]);
			steals |= st[i].tail != 0;
		}
		gw_neonbs_slots_run(&s);
		for (size_t i = 0; i < m && steals; i++)
			if (st[i].tail != 0) second_step(&s, &ops[i], &st[i]);
		gw_neonbs_slots_run(&s);
		if (steals) gw_wipe_few(st, sizeof st);
		ops += m, n -= m;
	}
	gw_neonbs_slots_wipe(&s);
	gw_wipe_few(tweak, sizeof tweak);
}

static void encrypt(gw_op *ops, size_t n)
{
	xts(ops, n, false);
}

static void decrypt(gw_op *ops, size_t n)
{
	xts(ops, n, true);
}

const gw_impl gw_impl_xts_aes_neonbs = {
	.alg = "xts(aes)",
	.driver = "xts-aes-neonbs/gwbench",
	.tag = "neonbs",
	.isa = "ARMv7 NEON, bit-sliced",
	.kind = GW_KIND_CIPHER,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(xts_key),
	.batch_hint = 16,
	.setkey = setkey,
	.encrypt = encrypt,
	.decrypt = decrypt,
};

#include "neon_end.h"
#else
typedef int gw_xts_neonbs_not_here;
#endif
