/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4 6.2) in scalar C, and its HMAC (RFC 2104, RFC 4868).
 */
#include "../md.h"

const uint32_t gw_sha256_iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
								  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

const uint32_t gw_sha256_k[64] __attribute__((aligned(64))) = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t ror(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}

#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
	do {                                                                                                               \
		const uint32_t t1 =                                                                                            \
			h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + (g ^ (e & (f ^ g))) + gw_sha256_k[r + i] + w[(i)&15];          \
		d += t1;                                                                                                       \
		h = t1 + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) | (c & (a | b)));                                    \
	} while (0)

#define SCHEDULE(i)                                                                                                    \
	(w[(i)&15] += (ror(w[((i) + 1) & 15], 7) ^ ror(w[((i) + 1) & 15], 18) ^ w[((i) + 1) & 15] >> 3) +                  \
				  w[((i) + 9) & 15] +                                                                                  \
				  (ror(w[((i) + 14) & 15], 17) ^ ror(w[((i) + 14) & 15], 19) ^ w[((i) + 14) & 15] >> 10))

#define EIGHT(i)                                                                                                       \
	ROUND(a, b, c, d, e, f, g, h, i);                                                                                  \
	ROUND(h, a, b, c, d, e, f, g, i + 1);                                                                              \
	ROUND(g, h, a, b, c, d, e, f, i + 2);                                                                              \
	ROUND(f, g, h, a, b, c, d, e, i + 3);                                                                              \
	ROUND(e, f, g, h, a, b, c, d, i + 4);                                                                              \
	ROUND(d, e, f, g, h, a, b, c, i + 5);                                                                              \
	ROUND(c, d, e, f, g, h, a, b, i + 6);                                                                              \
	ROUND(b, c, d, e, f, g, h, a, i + 7)

static void blocks(void *state, const uint8_t *data, size_t n)
{
	uint32_t *s = (uint32_t *)state;
	for (; n > 0; n--, data += 64) {
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7], w[16];
		for (int i = 0; i < 16; i++) w[i] = gw_load_be32(data + 4 * i);
		for (int r = 0; r < 64; r += 16) {
			if (r > 0)
				for (int i = 0; i < 16; i++) SCHEDULE(i);
			EIGHT(0);
			EIGHT(8);
		}
		s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
	}
}

static const gw_md sha256 = {
	.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = blocks};

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

const gw_impl gw_impl_sha256_generic = {
	.alg = "sha256",
	.driver = "sha256-generic/gwbench",
	.tag = "generic",
	.isa = "C",
	.kind = GW_KIND_HASH,
	.priority = 100,
	.constant_time = true,
	.batch_hint = 1,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_generic = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-generic/gwbench",
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
