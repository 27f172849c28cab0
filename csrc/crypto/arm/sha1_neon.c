/* SPDX-License-Identifier: MIT
 * SHA-1 and its HMAC: sha1_neon.S under the common padding and keys.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "../md.h"

void gw_sha1_neon_blocks(void *state, const uint8_t *data, size_t blocks);

static const uint32_t iv[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

static const gw_md sha1 = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 20, .iv = iv, .blocks = gw_sha1_neon_blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&sha1, ops, n);
}

static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&sha1, ops, n);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&sha1, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha1_neon = {
	.alg = "sha1",
	.driver = "sha1-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON schedule, scalar rounds",
	.kind = GW_KIND_HASH,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha1_neon = {
	.alg = "hmac(sha1)",
	.driver = "hmac-sha1-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON schedule, scalar rounds",
	.kind = GW_KIND_MAC,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 1,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha1_neon_not_here;
#endif
