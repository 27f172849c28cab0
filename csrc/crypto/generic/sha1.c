/* SPDX-License-Identifier: MIT
 * SHA-1 (FIPS 180-4 6.1) in scalar C, and its HMAC (RFC 2404): legacy suites only.
 */
#include "../md.h"

static const uint32_t iv[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

static inline uint32_t rol(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

static void blocks(void *state, const uint8_t *data, size_t n)
{
	uint32_t *s = (uint32_t *)state;
	for (; n > 0; n--, data += 64) {
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], w[16];
		for (int i = 0; i < 16; i++) w[i] = gw_load_be32(data + 4 * i);
		for (int r = 0; r < 80; r++) {
			uint32_t f, k;
			if (r >= 16) w[r & 15] = rol(w[(r + 13) & 15] ^ w[(r + 8) & 15] ^ w[(r + 2) & 15] ^ w[r & 15], 1);
			if (r < 20)
				f = d ^ (b & (c ^ d)), k = 0x5a827999;
			else if (r < 40)
				f = b ^ c ^ d, k = 0x6ed9eba1;
			else if (r < 60)
				f = (b & c) | (d & (b | c)), k = 0x8f1bbcdc;
			else
				f = b ^ c ^ d, k = 0xca62c1d6;
			const uint32_t t = rol(a, 5) + f + e + k + w[r & 15];
			e = d, d = c, c = rol(b, 30), b = a, a = t;
		}
		s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e;
	}
}

static const gw_md md = {.block_bytes = 64, .word_bytes = 4, .digest_bytes = 20, .iv = iv, .blocks = blocks};

static void hash(gw_op *ops, size_t n)
{
	gw_md_hash(&md, ops, n);
}
static void hmac(gw_op *ops, size_t n)
{
	gw_md_hmac(&md, ops, n);
}
static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&md, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha1_generic = {
	.alg = "sha1",
	.driver = "sha1-generic/gwbench",
	.tag = "generic",
	.isa = "C",
	.kind = GW_KIND_HASH,
	.priority = 100,
	.constant_time = true,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha1_generic = {
	.alg = "hmac(sha1)",
	.driver = "hmac-sha1-generic/gwbench",
	.tag = "generic",
	.isa = "C",
	.kind = GW_KIND_MAC,
	.priority = 100,
	.constant_time = true,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = 1,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
