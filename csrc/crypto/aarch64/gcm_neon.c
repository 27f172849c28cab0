/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) without Crypto Extensions: counter mode by TBL, GHASH by the 8-bit PMULL.
 */
#if defined(__aarch64__)

#include "../gcm.h"
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

static void block(const void *key, const uint8_t in[16], uint8_t out[16])
{
	gw_aes_neon_encrypt_block(&((const gcm_key *)key)->aes, in, out);
}

/* The low 32 bits of the counter wrap by themselves: groups stop there. */
static void ctr(const void *key, uint8_t block_of[16], const uint8_t *in, uint8_t *out, size_t left)
{
	const gw_aes_neon_key *k = &((const gcm_key *)key)->aes;
	uint64_t counter[2] = {gw_load_be64(block_of), gw_load_be64(block_of + 8)};
	const uint64_t fixed = counter[1] & ~(uint64_t)0xffffffff;
	while (left > 0) {
		const size_t before_wrap = (size_t)(((uint64_t)1 << 32) - (uint32_t)counter[1]);
		const size_t groups = left / 64 < before_wrap / 4 ? left / 64 : before_wrap / 4;
		const size_t len = groups > 0 ? 64 * groups : left < 16 ? left : 16;
		if (groups > 0) {
			gw_aes_neon_ctr4(out, in, groups, k->enc, k->rounds, &gw_aes_neon_table_of[0], counter);
		} else {
			gw_aes_neon_ctr_one(out, in, len, k, counter);
			counter[1]++;
		}
		counter[1] = fixed | (uint32_t)counter[1];
		in += len, out += len, left -= len;
	}
	gw_store_be32(block_of + 12, (uint32_t)counter[1]);
}

static void ghash(const void *key, uint8_t y[16], const uint8_t *data, size_t len)
{
	gw_ghash_neon(&((const gcm_key *)key)->ghash, y, data, len);
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
