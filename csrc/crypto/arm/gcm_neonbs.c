/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) from bit-sliced counter mode and GHASH by vmull.p8. The block that masks the tag and the blocks
 * that are left over of each packet share lanes with those of the other packets of the batch.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../spans.h"
#include "aes_neonbs.h"
#include "block_sum.h"
#include "copy.h"
#include "ghash_neon.h"

#include "aes_neonbs_slots.h"

#define CHUNK 16 /* packets whose tag masks are kept at a time */

typedef struct gcm_key {
	gw_neonbs_key aes;
	gw_ghash_neon_key ghash;
} gcm_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	uint8_t h[128] __attribute__((aligned(16))) = {0};
	if (gw_neonbs_setkey(&k->aes, key, len) != 0) return -EINVAL;
	gw_neonbs_encrypt(k->aes.slices, k->aes.rounds, h, h, 1);
	gw_ghash_neon_init(&k->ghash, h);
	gw_wipe_few(h, sizeof h);
	return 0;
}

/* A hash in the making. */
typedef struct ghash {
	const gcm_key *key;
	uint8_t y[16];
} ghash;

static void ghash_blocks(void *ctx, const uint8_t *data, size_t n)
{
	ghash *h = (ghash *)ctx;
	gw_ghash_neon(h->y, &h->key->ghash, data, n);
}

/* The block of lengths in bits (SP 800-38D, 7.1 step 5). */
static inline uint8x16_t lengths(uint64_t aad_bytes, uint64_t text_bytes)
{
	const uint64x2_t bits = vcombine_u64(vcreate_u64(aad_bytes * 8), vcreate_u64(text_bytes * 8));
	return vrev64q_u8(vreinterpretq_u8_u64(bits));
}

static void first_counter(const gcm_key *k, const gw_op *op, uint8_t j0[16])
{
	if (op->iv_len == 12) {
		memcpy(j0, op->iv, 12);
		gw_store_be32(j0 + 12, 1);
	} else {
		ghash h = {.key = k};
		gw_block_sum sum;
		gw_block_sum_start(&sum, ghash_blocks, &h);
		gw_block_sum_update(&sum, op->iv, op->iv_len);
		gw_block_sum_finish(&sum, lengths(0, op->iv_len));
		memcpy(j0, h.y, 16);
	}
}

/* The whole tag, over the ciphertext: out when sealing, in when opening. */
static void full_tag(const gcm_key *k, const gw_op *op, bool sealing, const uint8_t mask[16], uint8_t tag[16])
{
	ghash h = {.key = k};
	gw_block_sum sum;
	const size_t len = gw_op_len(op);
	gw_block_sum_start(&sum, ghash_blocks, &h);
	if (op->aad_len > 0) gw_block_sum_update(&sum, op->aad, op->aad_len);
	if (sealing)
		gw_block_sum_update(&sum, op->out, len);
	else
		for (uint32_t j = 0; j < op->n_in; j++) gw_block_sum_update(&sum, op->in[j].data, op->in[j].len);
	gw_block_sum_finish(&sum, lengths(op->aad_len, len));
	vst1q_u8(tag, veorq_u8(vld1q_u8(h.y), vld1q_u8(mask)));
}

static void mask_of_tag(gw_neonbs_slots *s, const gcm_key *k, const uint8_t j0[16], uint8_t mask[16])
{
	gw_neonbs_slots_key(s, &k->aes);
	gw_neonbs_slots_put(s, mask, vld1q_u8(j0), vdupq_n_u8(0));
}

/* Counter mode from j0 + 1 on: groups at once, the rest through the slots. */
static void crypt_bytes(gw_neonbs_slots *s, const gcm_key *k, const gw_op *op, const uint8_t j0[16])
{
	uint8_t counter[16], *out = op->out;
	memcpy(counter, j0, 16);
	gw_ctr32_add(counter, 1);
	gw_neonbs_slots_key(s, &k->aes);
	for (uint32_t j = 0; j < op->n_in; j++) {
		const uint8_t *in = op->in[j].data;
		size_t left = op->in[j].len;
		const size_t groups = left / 128;
		if (groups > 0) {
			gw_neonbs_ctr_groups(&k->aes, out, in, groups, counter, false);
			in += groups * 128, out += groups * 128, left -= groups * 128;
		}
		for (; left >= 16; in += 16, out += 16, left -= 16) {
			gw_neonbs_slots_put(s, out, vld1q_u8(counter), vld1q_u8(in));
			gw_ctr32_add(counter, 1);
		}
		if (left > 0) gw_neonbs_slots_put_part(s, out, vld1q_u8(counter), in, (uint32_t)left);
	}
}

static void seal_chunk(gw_neonbs_slots *s, gw_op *ops, size_t n)
{
	uint8_t mask[CHUNK][16], j0[16], y[16];
	for (size_t i = 0; i < n; i++) {
		const gcm_key *k = (const gcm_key *)ops[i].key;
		first_counter(k, &ops[i], j0);
		mask_of_tag(s, k, j0, mask[i]);
		crypt_bytes(s, k, &ops[i], j0);
	}
	gw_neonbs_slots_run(s);
	for (size_t i = 0; i < n; i++) {
		const gcm_key *k = (const gcm_key *)ops[i].key;
		full_tag(k, &ops[i], true, mask[i], y);
		gw_copy_few(ops[i].tag, y, ops[i].tag_len);
		ops[i].status = 0;
	}
	gw_wipe_few(mask, sizeof mask);
}

static void open_chunk(gw_neonbs_slots *s, gw_op *ops, size_t n)
{
	uint8_t mask[CHUNK][16], j0[CHUNK][16], y[16];
	for (size_t i = 0; i < n; i++) {
		const gcm_key *k = (const gcm_key *)ops[i].key;
		first_counter(k, &ops[i], j0[i]);
		mask_of_tag(s, k, j0[i], mask[i]);
	}
	gw_neonbs_slots_run(s);
	for (size_t i = 0; i < n; i++) {
		const gcm_key *k = (const gcm_key *)ops[i].key;
		full_tag(k, &ops[i], false, mask[i], y);
		ops[i].status = gw_equal_ct(y, ops[i].tag, ops[i].tag_len) ? 0 : -EBADMSG;
		if (ops[i].status == 0) crypt_bytes(s, k, &ops[i], j0[i]);
	}
	gw_neonbs_slots_run(s);
	gw_wipe_few(mask, sizeof mask);
}

static void in_chunks(gw_op *ops, size_t n, void (*chunk)(gw_neonbs_slots *s, gw_op *ops, size_t n))
{
	gw_neonbs_slots s;
	gw_neonbs_slots_init(&s, false);
	while (n > 0) {
		const size_t m = n < CHUNK ? n : CHUNK;
		chunk(&s, ops, m);
		ops += m, n -= m;
	}
	gw_neonbs_slots_wipe(&s);
}

static void seal(gw_op *ops, size_t n)
{
	in_chunks(ops, n, seal_chunk);
}

static void open_(gw_op *ops, size_t n)
{
	in_chunks(ops, n, open_chunk);
}

const gw_impl gw_impl_gcm_aes_neonbs = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-neonbs/gwbench",
	.tag = "neonbs",
	.isa = "ARMv7 NEON, bit-sliced, vmull.p8",
	.kind = GW_KIND_AEAD,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 16,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#include "neon_end.h"
#else
typedef int gw_gcm_neonbs_not_here;
#endif
