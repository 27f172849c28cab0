/* SPDX-License-Identifier: MIT
 * SHA-256 and its HMAC, four packets of a batch abreast.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "../md.h"
#include "sha256_lanes.h"

static const gw_sha256_core core = {.lanes = 4, .worth = 3, .interleaved = true, .run = gw_sha256_neon4};

static void hash(gw_op *ops, size_t n)
{
	gw_sha256_lanes(&core, ops, n, false);
}

static void hmac(gw_op *ops, size_t n)
{
	gw_sha256_lanes(&core, ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	static const gw_md sha256 = {
		.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = gw_sha256_neon_blocks};
	return gw_md_hmac_setkey(&sha256, (gw_hmac_ctx *)ctx, key, len);
}

/* Half the instructions of one stream, but of the dearer kind. By the estimates, cycles a byte of this and of one
 * stream: 12.3 and 11.4 on a Cortex-A8; 22 and 18 on a Cortex-A7, whose NEON is 64 bits wide and does little of the
 * latter; 11.7 and 11.8 on a Cortex-A53. One stream is preferred. */
const gw_impl gw_impl_sha256_neon4 = {
	.alg = "sha256",
	.driver = "sha256-neon4/gwbench",
	.tag = "neon4",
	.isa = "ARMv7 NEON, 4 packets abreast",
	.kind = GW_KIND_HASH,
	.priority = 310,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = 16,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_neon4 = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-neon4/gwbench",
	.tag = "neon4",
	.isa = "ARMv7 NEON, 4 packets abreast",
	.kind = GW_KIND_MAC,
	.priority = 310,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 16,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha256_neon4_not_here;
#endif
