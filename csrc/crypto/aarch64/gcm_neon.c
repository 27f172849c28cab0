/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) without Crypto Extensions: counter mode by TBL, GHASH by the 8-bit PMULL.
 */
#if defined(__aarch64__)

#include "aes_neon.h"
#include "ghash_neon.h"

typedef struct gcm_key {
	gw_aes_neon_key aes;
	gw_ghash_neon_key ghash;
} gcm_key;

static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = ctx;
	uint8_t h[16] = {0};
	if (gw_aes_neon_setkey(&k->aes, key, len) != 0) return -EINVAL;
	gw_aes_neon_encrypt_block(&k->aes, h, h);
	gw_ghash_neon_setkey(&k->ghash, h);
	gw_wipe(h, sizeof h);
	return 0;
}

static void hash_lengths(const gcm_key *k, uint8_t y[16], uint64_t a_bytes, uint64_t c_bytes)
{
	uint8_t lengths[16];
	gw_store_be64(lengths, a_bytes * 8);
	gw_store_be64(lengths + 8, c_bytes * 8);
	gw_ghash_neon(&k->ghash, y, lengths, 16);
}

static void first_counter(const gcm_key *k, const gw_op *op, uint8_t j0[16])
{
	memset(j0, 0, 16);
	if (op->iv_len == 12) {
		memcpy(j0, op->iv, 12);
		j0[15] = 1;
	} else {
		gw_ghash_neon(&k->ghash, j0, op->iv, op->iv_len);
		hash_lengths(k, j0, 0, op->iv_len);
	}
}

/* The low 32 bits of the counter wrap by themselves: groups stop there. */
static void crypt(const gcm_key *k, const gw_op *op, const uint8_t j0[16])
{
	uint64_t counter[2] = {gw_load_be64(j0), gw_load_be64(j0 + 8)};
	const uint64_t fixed = counter[1] & ~(uint64_t)0xffffffff;
	uint8_t *out = op->out;
	counter[1] = fixed | (uint32_t)(counter[1] + 1);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len;
		while (left > 0) {
			const size_t before_wrap = (size_t)(((uint64_t)1 << 32) - (uint32_t)counter[1]);
			const size_t groups = left / 64 < before_wrap / 4 ? left / 64 : before_wrap / 4;
			const size_t len = groups > 0 ? 64 * groups : left < 16 ? left : 16;
			if (groups > 0) {
				gw_aes_neon_ctr4(out, in, groups, k->aes.enc, k->aes.rounds, &gw_aes_neon_table_of[0], counter);
			} else {
				gw_aes_neon_ctr_one(out, in, len, &k->aes, counter);
				counter[1]++;
			}
			counter[1] = fixed | (uint32_t)counter[1];
			in += len, out += len, left -= len;
		}
	}
}

static void full_tag(const gcm_key *k, const gw_op *op, const uint8_t j0[16], uint8_t y[16])
{
	uint8_t mask[16];
	gw_aes_neon_encrypt_block(&k->aes, j0, mask);
	hash_lengths(k, y, op->aad_len, gw_op_len(op));
	gw_xor16(y, y, mask);
}

static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = ops->key;
		uint8_t j0[16], y[16] = {0};
		first_counter(k, ops, j0);
		crypt(k, ops, j0);
		gw_ghash_neon(&k->ghash, y, ops->aad, ops->aad_len);
		gw_ghash_neon(&k->ghash, y, ops->out, gw_op_len(ops));
		full_tag(k, ops, j0, y);
		memcpy(ops->tag, y, ops->tag_len);
		ops->status = 0;
	}
}

static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = ops->key;
		uint8_t j0[16], y[16] = {0};
		first_counter(k, ops, j0);
		gw_ghash_neon(&k->ghash, y, ops->aad, ops->aad_len);
		for (uint32_t s = 0; s < ops->n_in; s++) gw_ghash_neon(&k->ghash, y, ops->in[s].data, ops->in[s].len);
		full_tag(k, ops, j0, y);
		ops->status = gw_equal_ct(y, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt(k, ops, j0);
	}
}

const gw_impl gw_impl_gcm_aes_neon = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-neon/gwbench",
	.tag = "neon",
	.isa = "AArch64 NEON, TBL and PMULL.8",
	.kind = GW_KIND_AEAD,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = gcm_setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#endif
