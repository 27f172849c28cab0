/* SPDX-License-Identifier: MIT
 * ECB, CBC, CTR (SP 800-38A) and XTS (IEEE 1619) over table AES, a block at a time.
 */
#include "../block.h"
#include "../spans.h"
#include "aes_table.h"

typedef void (*block_fn)(const gw_aes_table_key *k, const uint8_t *in, uint8_t *out);

typedef struct xts_key {
	gw_aes_table_key data, tweak;
} xts_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_aes_table_expand((gw_aes_table_key *)ctx, key, len);
}

static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = (xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_table_expand(&k->data, key, len / 2);
	return gw_aes_table_expand(&k->tweak, key + len / 2, len / 2);
}

static void ecb(const gw_op *op, block_fn block)
{
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++)
		for (size_t i = 0; i + 16 <= op->in[s].len; i += 16, out += 16)
			block((const gw_aes_table_key *)op->key, op->in[s].data + i, out);
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) ecb(&ops[i], gw_aes_table_encrypt);
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) ecb(&ops[i], gw_aes_table_decrypt);
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_table_key *k = (const gw_aes_table_key *)ops->key;
		uint8_t *out = ops->out, chain[16];
		if (ops->flags & GW_OP_IV_NONCE) gw_aes_table_encrypt(k, ops->iv, ops->iv);
		memcpy(chain, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++)
			for (size_t i = 0; i + 16 <= ops->in[s].len; i += 16, out += 16) {
				gw_xor16(chain, chain, ops->in[s].data + i);
				gw_aes_table_encrypt(k, chain, chain);
				memcpy(out, chain, 16);
			}
	}
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_table_key *k = (const gw_aes_table_key *)ops->key;
		uint8_t *out = ops->out, chain[16], kept[16], plain[16];
		memcpy(chain, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++)
			for (size_t i = 0; i + 16 <= ops->in[s].len; i += 16, out += 16) {
				memcpy(kept, ops->in[s].data + i, 16); /* in may be out */
				gw_aes_table_decrypt(k, kept, plain);
				gw_xor16(out, plain, chain);
				memcpy(chain, kept, 16);
			}
	}
}

static void ctr(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_table_key *k = (const gw_aes_table_key *)ops->key;
		uint8_t *out = ops->out, counter[16], stream[16];
		memcpy(counter, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len;
			for (; left > 0; gw_ctr128_add(counter, 1)) {
				const size_t m = left < 16 ? left : 16;
				gw_aes_table_encrypt(k, counter, stream);
				if (m == 16)
					gw_xor16(out, in, stream);
				else
					gw_xor_bytes(out, in, stream, m);
				in += m, out += m, left -= m;
			}
		}
	}
}

static void xts_block(const gw_aes_table_key *k, block_fn block, const uint8_t *tweak, const uint8_t *in, uint8_t *out)
{
	uint8_t t[16];
	gw_xor16(t, in, tweak);
	block(k, t, t);
	gw_xor16(out, t, tweak);
}

static void xts(const gw_op *op, block_fn block, bool decrypt)
{
	const xts_key *k = (const xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16; /* blocks that come before ciphertext stealing */
	uint8_t tweak[16], *out = op->out, last[32];

	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	gw_aes_table_encrypt(&k->tweak, op->iv, tweak);
	for (uint32_t s = 0; s < op->n_in; s++)
		for (size_t i = 0; i + 16 <= op->in[s].len && whole > 0; i += 16, out += 16, whole--) {
			xts_block(&k->data, block, tweak, op->in[s].data + i, out);
			gw_xts_next(tweak);
		}
	if (tail == 0) return;

	/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
	uint8_t other[16], full[16], cut[16];
	memcpy(other, tweak, 16);
	gw_xts_next(other);
	xts_block(&k->data, block, decrypt ? other : tweak, last, full);
	memcpy(cut, last + 16, tail);
	memcpy(cut + tail, full + tail, 16 - tail);
	xts_block(&k->data, block, decrypt ? tweak : other, cut, out);
	memcpy(out + 16, full, tail);
}

static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], gw_aes_table_encrypt, false);
}

static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], gw_aes_table_decrypt, true);
}

#define IMPL(mode, size, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_generic = {                                                                     \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-generic/gwbench",                                                                        \
		.tag = "generic",                                                                                              \
		.isa = "C, tables",                                                                                            \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 100,                                                                                               \
		.key_ctx_bytes = size,                                                                                         \
		.batch_hint = 1,                                                                                               \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, sizeof(gw_aes_table_key), setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, sizeof(gw_aes_table_key), setkey, cbc_encrypt, cbc_decrypt);
IMPL(ctr, sizeof(gw_aes_table_key), setkey, ctr, ctr);
IMPL(xts, sizeof(xts_key), xts_setkey, xts_encrypt, xts_decrypt);
