/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) by the Crypto Extensions of ARMv8 in 32-bit state: counter mode, then GHASH over what is in cache.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../spans.h"
#include "aes_ce32.h"
#include "block_sum.h"
#include "ghash_neon.h"

typedef struct gcm_key {
	gw_aes_ce32_key aes;
	gw_ghash_ce32_key ghash;
} gcm_key;

static void set_power(gw_ghash_ce32_key *k, uint32_t power, const uint8_t h[16])
{
	uint64_t *p = k->power[8 - power];
	gw_ghash_over_x(h, p);
	p[2] = p[0] ^ p[1];
}

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	uint8_t power[16] = {0}, next[16];
	if (gw_aes_ce32_setkey(&k->aes, key, len) != 0) return -EINVAL;
	gw_aes_ce32_encrypt(k->aes.enc, k->aes.rounds, power, power, 1);
	set_power(&k->ghash, 1, power);
	for (uint32_t i = 2; i <= 8; i++) {
		memset(next, 0, 16);
		gw_ghash_ce32(next, &k->ghash, power, 1); /* uses the entry of H alone */
		memcpy(power, next, 16);
		set_power(&k->ghash, i, power);
	}
	gw_wipe(power, sizeof power);
	gw_wipe(next, sizeof next);
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
	gw_ghash_ce32(h->y, &h->key->ghash, data, n);
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

static void crypt_bytes(const gcm_key *k, const gw_op *op, const uint8_t j0[16])
{
	uint8_t counter[16], *out = op->out;
	memcpy(counter, j0, 16);
	gw_ctr32_add(counter, 1);
	for (uint32_t j = 0; j < op->n_in; j++) {
		gw_aes_ce32_ctr_bytes(&k->aes, out, op->in[j].data, op->in[j].len, counter, false);
		out += op->in[j].len;
	}
}

/* The whole tag, over the ciphertext: out when sealing, in when opening. */
static void full_tag(const gcm_key *k, const gw_op *op, bool sealing, const uint8_t j0[16], uint8_t tag[16])
{
	ghash h = {.key = k};
	gw_block_sum sum;
	uint8_t mask[16];
	const size_t len = gw_op_len(op);
	gw_block_sum_start(&sum, ghash_blocks, &h);
	if (op->aad_len > 0) gw_block_sum_update(&sum, op->aad, op->aad_len);
	if (sealing)
		gw_block_sum_update(&sum, op->out, len);
	else
		for (uint32_t j = 0; j < op->n_in; j++) gw_block_sum_update(&sum, op->in[j].data, op->in[j].len);
	gw_block_sum_finish(&sum, lengths(op->aad_len, len));
	gw_aes_ce32_encrypt(k->aes.enc, k->aes.rounds, mask, j0, 1);
	vst1q_u8(tag, veorq_u8(vld1q_u8(h.y), vld1q_u8(mask)));
}

static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = (const gcm_key *)ops->key;
		uint8_t j0[16], tag[16];
		first_counter(k, ops, j0);
		crypt_bytes(k, ops, j0);
		full_tag(k, ops, true, j0, tag);
		memcpy(ops->tag, tag, ops->tag_len);
		ops->status = 0;
	}
}

static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = (const gcm_key *)ops->key;
		uint8_t j0[16], tag[16];
		first_counter(k, ops, j0);
		full_tag(k, ops, false, j0, tag);
		ops->status = gw_equal_ct(tag, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt_bytes(k, ops, j0);
	}
}

const gw_impl gw_impl_gcm_aes_ce = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-ce/gwbench",
	.tag = "ce",
	.isa = "ARMv8 Crypto Extensions, 32-bit",
	.kind = GW_KIND_AEAD,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES | GW_CPU_ARM_PMULL,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#include "neon_end.h"
#else
typedef int gw_gcm_ce32_not_here;
#endif
