/* SPDX-License-Identifier: MIT */
#include "md.h"

static void store_words(const gw_md *md, const gw_md_state *s, uint8_t *out)
{
	if (md->word_bytes == 8)
		for (uint32_t i = 0; i < md->digest_bytes / 8; i++) gw_store_be64(out + 8 * i, s->w64[i]);
	else
		for (uint32_t i = 0; i < md->digest_bytes / 4; i++) gw_store_be32(out + 4 * i, s->w32[i]);
}

/* Hashes what is in buf (used bytes, with room for two blocks), padding and the message's length in bits. */
static void finish(const gw_md *md, gw_md_state *s, uint8_t *buf, size_t used, uint64_t total_bytes)
{
	const size_t block = md->block_bytes, field = block / 8;
	buf[used++] = 0x80;
	const size_t padded = used + field <= block ? block : 2 * block;
	memset(buf + used, 0, padded - used);
	gw_store_be64(buf + padded - 8, total_bytes << 3);
	if (field == 16) buf[padded - 9] = (uint8_t)(total_bytes >> 61);
	md->blocks(s, buf, padded / block);
}

/* Continues state s, which already covers `before` bytes, over the op's input. */
static void absorb(const gw_md *md, gw_md_state *s, const gw_op *op, uint64_t before)
{
	const size_t block = md->block_bytes;
	uint8_t buf[256];
	size_t used = 0;
	uint64_t total = before;

	for (uint32_t i = 0; i < op->n_in; i++) {
		const uint8_t *p = op->in[i].data;
		size_t left = op->in[i].len;
		total += left;
		if (used > 0) {
			const size_t n = block - used < left ? block - used : left;
			memcpy(buf + used, p, n);
			used += n, p += n, left -= n;
			if (used == block) {
				md->blocks(s, buf, 1);
				used = 0;
			}
		}
		if (left >= block) {
			const size_t n = left / block;
			md->blocks(s, p, n);
			p += n * block, left -= n * block;
		}
		if (left > 0) memcpy(buf + used, p, left);
		used += left;
	}
	if (op->flags & GW_OP_ESN) {
		memcpy(buf + used, op->esn, 4);
		used += 4, total += 4;
		if (used >= block) {
			md->blocks(s, buf, 1);
			used -= block;
			memmove(buf, buf + block, used);
		}
	}
	finish(md, s, buf, used, total);
}

void gw_md_hash(const gw_md *md, gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		gw_md_state s;
		uint8_t digest[64];
		memcpy(&s, md->iv, md->digest_bytes);
		absorb(md, &s, ops, 0);
		store_words(md, &s, digest);
		memcpy(ops->tag, digest, ops->tag_len);
	}
}

int gw_md_hmac_setkey(const gw_md *md, gw_hmac_ctx *ctx, const uint8_t *key, size_t len)
{
	uint8_t pad[128] = {0};
	const size_t block = md->block_bytes;

	if (len > block) {
		gw_op op = {.n_in = 1, .in = {{key, len}}, .tag = pad, .tag_len = md->digest_bytes};
		gw_md_hash(md, &op, 1);
	} else if (len > 0) {
		memcpy(pad, key, len);
	}
	for (size_t i = 0; i < block; i++) pad[i] ^= 0x36;
	memcpy(&ctx->inner, md->iv, md->digest_bytes);
	md->blocks(&ctx->inner, pad, 1);
	for (size_t i = 0; i < block; i++) pad[i] ^= 0x36 ^ 0x5c;
	memcpy(&ctx->outer, md->iv, md->digest_bytes);
	md->blocks(&ctx->outer, pad, 1);
	gw_wipe(pad, sizeof pad);
	return 0;
}

void gw_md_hmac(const gw_md *md, gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_hmac_ctx *k = (const gw_hmac_ctx *)ops->mac_key;
		gw_md_state s = k->inner;
		uint8_t buf[256], digest[64];
		absorb(md, &s, ops, md->block_bytes);
		store_words(md, &s, buf);
		s = k->outer;
		finish(md, &s, buf, md->digest_bytes, md->block_bytes + md->digest_bytes);
		store_words(md, &s, digest);
		memcpy(ops->tag, digest, ops->tag_len);
	}
}
