/* SPDX-License-Identifier: MIT */
#include "gcm.h"

#include "block.h"
#include "spans.h"

#define BLOCK __attribute__((aligned(16)))

static void ghash_lengths(const gw_gcm *gcm, const void *key, uint8_t y[16], uint64_t a_bytes, uint64_t c_bytes)
{
	uint8_t lengths[16];
	gw_store_be64(lengths, a_bytes * 8);
	gw_store_be64(lengths + 8, c_bytes * 8);
	gcm->ghash(key, y, lengths, 16);
}

/* What the tag is masked with is the block before the first counter. */
static void begin(const gw_gcm *gcm, const gw_op *op, uint8_t counter[16], uint8_t mask[16])
{
	if (op->iv_len == 12) {
		memcpy(counter, op->iv, 12);
		gw_store_be32(counter + 12, 1);
	} else {
		memset(counter, 0, 16);
		gcm->ghash(op->key, counter, op->iv, op->iv_len);
		ghash_lengths(gcm, op->key, counter, 0, op->iv_len);
	}
	gcm->block(op->key, counter, mask);
	gw_ctr32_add(counter, 1);
}

static void crypt_spans(const gw_gcm *gcm, const gw_op *op, uint8_t counter[16])
{
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		gcm->ctr(op->key, counter, op->in[s].data, out, op->in[s].len);
		out += op->in[s].len;
	}
}

void gw_gcm_seal(const gw_gcm *gcm, gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t counter[16] BLOCK, mask[16], y[16] BLOCK = {0};
		const size_t len = gw_op_len(ops);
		begin(gcm, ops, counter, mask);
		crypt_spans(gcm, ops, counter);
		gcm->ghash(ops->key, y, ops->aad, ops->aad_len);
		gcm->ghash(ops->key, y, ops->out, len);
		ghash_lengths(gcm, ops->key, y, ops->aad_len, len);
		gw_xor16(y, y, mask);
		memcpy(ops->tag, y, ops->tag_len);
		ops->status = 0;
	}
}

void gw_gcm_open(const gw_gcm *gcm, gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t counter[16] BLOCK, mask[16], y[16] BLOCK = {0};
		begin(gcm, ops, counter, mask);
		gcm->ghash(ops->key, y, ops->aad, ops->aad_len);
		for (uint32_t s = 0; s < ops->n_in; s++) gcm->ghash(ops->key, y, ops->in[s].data, ops->in[s].len);
		ghash_lengths(gcm, ops->key, y, ops->aad_len, gw_op_len(ops));
		gw_xor16(y, y, mask);
		ops->status = gw_equal_ct(y, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt_spans(gcm, ops, counter);
	}
}
