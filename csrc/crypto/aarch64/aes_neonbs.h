/* SPDX-License-Identifier: MIT
 * Bit-sliced AES for AArch64: eight blocks at once, plane i holding bit i of every byte, byte j's bit of block b in bit
 * b of lane j. No look-up at all. On a Cortex-A53 TBL (aes_neon.h) is faster; on cores whose TBL of four registers is
 * slow this is.
 *
 * ShiftRows is never done ("fixslicing", Adomnicai and Peyrin, TCHES 2021): before round r the state stands as
 * ShiftRows to the power -(r - 1) of itself, round keys likewise, and MixColumns turns columns by permutations that
 * depend on r mod 4. A permutation of lanes is one TBL anyway.
 */
#ifndef GW_CRYPTO_AARCH64_AES_NEONBS_H
#define GW_CRYPTO_AARCH64_AES_NEONBS_H

#include "aes_neon.h"

typedef uint8_t gw_planes[8][16];

/* tbl serves what does not fill eight blocks. */
typedef struct gw_aes_neonbs_key {
	gw_planes enc[15], dec[15];
	gw_aes_neon_key tbl;
} __attribute__((aligned(64))) gw_aes_neonbs_key;

int gw_aes_neonbs_setkey(void *ctx, const uint8_t *key, size_t len); /* a gw_aes_neonbs_key */
/* Eight blocks, ECB; out may be in. */
void gw_aes_neonbs_encrypt8(uint8_t *out, const uint8_t *in, const gw_aes_neonbs_key *k);
void gw_aes_neonbs_decrypt8(uint8_t *out, const uint8_t *in, const gw_aes_neonbs_key *k);

#endif
