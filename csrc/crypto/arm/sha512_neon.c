/* SPDX-License-Identifier: MIT
 * SHA-512 and its HMAC: sha512_neon.S under the common padding and keys.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "../md.h"

void gw_sha512_neon_blocks(void *state, const uint8_t *data, size_t blocks);

static const uint64_t iv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
							   0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const gw_md sha512 = {
	.block_bytes = 128, .word_bytes = 8, .digest_bytes = 64, .iv = iv, .blocks = gw_sha512_neon_blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&sha512, ops, n);
}

static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&sha512, ops, n);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&sha512, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha512_neon = {
	.alg = "sha512",
	.driver = "sha512-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON",
	.kind = GW_KIND_HASH,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha512_neon = {
	.alg = "hmac(sha512)",
	.driver = "hmac-sha512-neon/gwbench",
	.tag = "neon",
	.isa = "ARMv7 NEON",
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
typedef int gw_sha512_neon_not_here;
#endif
