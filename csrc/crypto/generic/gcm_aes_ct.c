/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) from bit-sliced AES and GHASH by multiplication with holes: constant-time C.
 */
#include "../block.h"
#include "../spans.h"
#include "aes_ct.h"
#include "ghash_ct.h"

#if GW_AES_CT

typedef struct gcm_key {
	gw_aes_ct_key aes;
	gw_ghash_ct ghash;
} gcm_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	uint8_t h[64] = {0};
	if (gw_aes_ct_setkey(&k->aes, key, len) != 0) return -EINVAL;
	gw_aes_ct_encrypt4(&k->aes, h);
	gw_ghash_ct_init(&k->ghash, h);
	gw_wipe(h, sizeof h);
	return 0;
}

static void ghash_lengths(const gcm_key *k, uint8_t y[16], uint64_t a_bytes, uint64_t c_bytes)
{
	uint8_t lengths[16];
	gw_store_be64(lengths, a_bytes * 8);
	gw_store_be64(lengths + 8, c_bytes * 8);
	gw_ghash_ct_update(&k->ghash, y, lengths, 16);
}

static void first_counter(const gcm_key *k, const gw_op *op, uint8_t j0[16])
{
	memset(j0, 0, 16);
	if (op->iv_len == 12) {
		memcpy(j0, op->iv, 12);
		j0[15] = 1;
	} else {
		gw_ghash_ct_update(&k->ghash, j0, op->iv, op->iv_len);
		ghash_lengths(k, j0, 0, op->iv_len);
	}
}

/* The counter blocks after j0; four never straddle two spans. */
static void crypt_bytes(const gcm_key *k, const gw_op *op, const uint8_t j0[16])
{
	uint8_t counter[16], stream[64], *out = op->out;
	memcpy(counter, j0, 16);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len; left > 0;) {
			const size_t m = left < 64 ? left : 64;
			for (size_t i = 0; i < 4; i++) {
				gw_ctr32_add(counter, 1);
				memcpy(stream + 16 * i, counter, 16);
			}
			gw_aes_ct_encrypt4(&k->aes, stream);
			gw_xor_bytes(out, in, stream, m);
			in += m, out += m, left -= m;
		}
	}
	gw_wipe(stream, sizeof stream);
}

static void full_tag(const gcm_key *k, const gw_op *op, const uint8_t j0[16], uint8_t y[16])
{
	uint8_t mask[64] = {0};
	memcpy(mask, j0, 16);
	gw_aes_ct_encrypt4(&k->aes, mask);
	ghash_lengths(k, y, op->aad_len, gw_op_len(op));
	gw_xor16(y, y, mask);
	gw_wipe(mask, sizeof mask);
}

static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = (const gcm_key *)ops->key;
		uint8_t j0[16], y[16] = {0};
		first_counter(k, ops, j0);
		crypt_bytes(k, ops, j0);
		gw_ghash_ct_update(&k->ghash, y, ops->aad, ops->aad_len);
		gw_ghash_ct_update(&k->ghash, y, ops->out, gw_op_len(ops));
		full_tag(k, ops, j0, y);
		memcpy(ops->tag, y, ops->tag_len);
		ops->status = 0;
	}
}

static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gcm_key *k = (const gcm_key *)ops->key;
		uint8_t j0[16], y[16] = {0};
		first_counter(k, ops, j0);
		gw_ghash_ct_update(&k->ghash, y, ops->aad, ops->aad_len);
		for (uint32_t s = 0; s < ops->n_in; s++) gw_ghash_ct_update(&k->ghash, y, ops->in[s].data, ops->in[s].len);
		full_tag(k, ops, j0, y);
		ops->status = gw_equal_ct(y, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt_bytes(k, ops, j0);
	}
}

const gw_impl gw_impl_gcm_aes_ct = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-ct/gwbench",
	.tag = "ct",
	.isa = "C, bit-sliced",
	.kind = GW_KIND_AEAD,
	.priority = 150,
	.constant_time = true,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 4,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
