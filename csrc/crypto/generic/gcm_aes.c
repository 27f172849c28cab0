/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) from table AES and table GHASH.
 */
#include "../block.h"
#include "../gcm.h"
#include "aes_table.h"
#include "ghash_table.h"

typedef struct gcm_key {
	gw_aes_table_key aes;
	gw_ghash_table ghash;
} gcm_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	uint8_t h[16] = {0};
	if (gw_aes_table_expand(&k->aes, key, len) != 0) return -EINVAL;
	gw_aes_table_encrypt(&k->aes, h, h);
	gw_ghash_table_init(&k->ghash, h);
	gw_wipe(h, sizeof h);
	return 0;
}

static void block(const void *key, const uint8_t in[16], uint8_t out[16])
{
	gw_aes_table_encrypt(&((const gcm_key *)key)->aes, in, out);
}

static void ctr(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len)
{
	uint8_t stream[16];
	for (; len >= 16; in += 16, out += 16, len -= 16) {
		block(key, counter, stream);
		gw_xor16(out, in, stream);
		gw_ctr32_add(counter, 1);
	}
	if (len > 0) {
		block(key, counter, stream);
		gw_xor_bytes(out, in, stream, len);
	}
}

static void ghash(const void *key, uint8_t y[16], const uint8_t *data, size_t len)
{
	gw_ghash_table_update(&((const gcm_key *)key)->ghash, y, data, len);
}

static const gw_gcm gcm = {.block = block, .ctr = ctr, .ghash = ghash};

static void seal(gw_op *ops, size_t n)
{
	gw_gcm_seal(&gcm, ops, n);
}

static void open_(gw_op *ops, size_t n)
{
	gw_gcm_open(&gcm, ops, n);
}

const gw_impl gw_impl_gcm_aes_generic = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-generic/gwbench",
	.tag = "generic",
	.isa = "C, tables",
	.kind = GW_KIND_AEAD,
	.priority = 100,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};
