/* SPDX-License-Identifier: MIT
 * SHA-256 and its HMAC, by the Crypto Extensions of ARMv8 in 32-bit state.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "../md.h"

void gw_sha256_ce32_blocks(void *state, const uint8_t *data, size_t blocks);

static const gw_md sha256 = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = gw_sha256_ce32_blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&sha256, ops, n);
}

static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&sha256, ops, n);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&sha256, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha256_ce = {
	.alg = "sha256",
	.driver = "sha256-ce/gwbench",
	.tag = "ce",
	.isa = "ARMv8 Crypto Extensions, 32-bit",
	.kind = GW_KIND_HASH,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_SHA2,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_ce = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-ce/gwbench",
	.tag = "ce",
	.isa = "ARMv8 Crypto Extensions, 32-bit",
	.kind = GW_KIND_MAC,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_SHA2,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 1,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha256_ce32_not_here;
#endif
