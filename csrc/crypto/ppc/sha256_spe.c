/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104, RFC 4868) on SPE. No table, no secret-dependent branch.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe.h"

#include "../md.h"

static void blocks(void *state, const uint8_t *data, size_t n)
{
	gw_spe_sha256_blocks((uint32_t *)state, data, n, gw_sha256_k);
}

static const gw_md sha256 = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&sha256, ops, n);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&sha256, (gw_hmac_ctx *)ctx, key, len);
}

static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&sha256, ops, n);
}

const gw_impl gw_impl_sha256_spe = {
	.alg = "sha256",
	.driver = "sha256-spe/gwbench",
	.tag = "spe",
	.isa = "e500 SPE",
	.kind = GW_KIND_HASH,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_SPE,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_spe = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-spe/gwbench",
	.tag = "spe",
	.isa = "e500 SPE",
	.kind = GW_KIND_MAC,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_SPE,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 1,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#else
typedef int gw_sha256_spe_is_elsewhere;
#endif
