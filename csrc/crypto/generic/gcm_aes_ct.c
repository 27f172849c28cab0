/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) from bit-sliced AES and GHASH by multiplication with holes: constant-time C.
 */
#include "../block.h"
#include "../gcm.h"
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

static void block(const void *key, const uint8_t in[16], uint8_t out[16])
{
	uint8_t four[64] = {0};
	memcpy(four, in, 16);
	gw_aes_ct_encrypt4(&((const gcm_key *)key)->aes, four);
	memcpy(out, four, 16);
	gw_wipe(four, sizeof four);
}

static void ctr(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len)
{
	uint8_t stream[64];
	while (len > 0) {
		const size_t m = len < 64 ? len : 64;
		for (size_t i = 0; i < 4; i++) {
			memcpy(stream + 16 * i, counter, 16);
			gw_ctr32_add(counter, 1);
		}
		gw_aes_ct_encrypt4(&((const gcm_key *)key)->aes, stream);
		gw_xor_bytes(out, in, stream, m);
		in += m, out += m, len -= m;
	}
	gw_wipe(stream, sizeof stream);
}

static void ghash(const void *key, uint8_t y[16], const uint8_t *data, size_t len)
{
	gw_ghash_ct_update(&((const gcm_key *)key)->ghash, y, data, len);
}

/* Four counters at a time never straddle two spans: all but the last are multiples of 64 bytes. */
static const gw_gcm gcm = {.block = block, .ctr = ctr, .ghash = ghash};

static void seal(gw_op *ops, size_t n)
{
	gw_gcm_seal(&gcm, ops, n);
}

static void open_(gw_op *ops, size_t n)
{
	gw_gcm_open(&gcm, ops, n);
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
