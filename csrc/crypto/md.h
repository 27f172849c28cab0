/* SPDX-License-Identifier: MIT
 * What every Merkle-Damgard hash shares (FIPS 180-4, RFC 2104): padding, spans, HMAC. An implementation of a hash
 * brings a function over whole blocks; gw_md_hash and gw_md_hmac do the rest, one op after the other.
 */
#ifndef GW_CRYPTO_MD_H
#define GW_CRYPTO_MD_H

#include "impl.h"

typedef union gw_md_state { /* native words */
	uint32_t w32[16];
	uint64_t w64[8];
} gw_md_state;

typedef struct gw_md {
	uint32_t block_bytes; /* 64; SHA-512: 128. The length field is an eighth of it */
	uint32_t word_bytes;  /* 4 or 8 */
	uint32_t digest_bytes;
	const void *iv; /* digest_bytes of native words */
	void (*blocks)(void *state, const uint8_t *data, size_t n_blocks);
} gw_md;

/* Midstates after the key's ipad and opad blocks: HMAC then costs no more than its data. */
typedef struct gw_hmac_ctx {
	gw_md_state inner, outer;
} gw_hmac_ctx;

void gw_md_hash(const gw_md *md, gw_op *ops, size_t n);
int gw_md_hmac_setkey(const gw_md *md, gw_hmac_ctx *ctx, const uint8_t *key, size_t len); /* any length; 0 */
void gw_md_hmac(const gw_md *md, gw_op *ops, size_t n); /* ops' mac_key is a gw_hmac_ctx */

extern const uint32_t gw_sha256_iv[8];
extern const uint32_t gw_sha256_k[64]; /* 64-byte aligned */
extern const uint64_t gw_sha512_k[80];
extern const gw_md gw_sha512_md; /* the scalar one: for keys and single packets */

#endif
