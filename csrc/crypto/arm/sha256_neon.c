/* SPDX-License-Identifier: MIT
 * SHA-256 and its HMAC, in pairs of packets, whose blocks share a schedule, and one by one where a pair is
 * not to be had.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "../md.h"
#include "sha256_lanes.h"

static const gw_md sha256 = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = gw_sha256_neon_blocks};

static const gw_sha256_core core = {.lanes = 2, .worth = 2, .interleaved = false, .run = gw_sha256_neon_two};

static void hash(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hash(&sha256, ops, n);
	else
		gw_sha256_lanes(&core, ops, n, false);
}

static void hmac(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hmac(&sha256, ops, n);
	else
		gw_sha256_lanes(&core, ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&sha256, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha256_neon = {
	.alg = "sha256",
	.driver = "sha256-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON schedule, scalar rounds",
	.kind = GW_KIND_HASH,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = 16,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_neon = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON schedule, scalar rounds",
	.kind = GW_KIND_MAC,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 16,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha256_neon_not_here;
#endif
