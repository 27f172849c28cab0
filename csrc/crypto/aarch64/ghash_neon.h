/* SPDX-License-Identifier: MIT
 * GHASH (SP 800-38D 6.4) by the 8-bit PMULL that every AArch64 has.
 *
 * RBIT of each byte turns a block into an ordinary polynomial, x^0 in bit 0 of byte 0. A product of two 64-bit halves
 * a, b is sums of byte products by distance: lane j of a * rotate(b, s) is a[j] b[j+s], of weight 2 j + s bytes, and
 * likewise for rotate(a, s) * b (Camara et al., "Fast Software Polynomial Multiplication on ARM Processors Using the
 * NEON Engine", 2013). Moving these sums to their weights is linear: so they are added up over eight blocks, each with
 * its own power of H, and moved and reduced once.
 */
#ifndef GW_CRYPTO_AARCH64_GHASH_NEON_H
#define GW_CRYPTO_AARCH64_GHASH_NEON_H

#include <stddef.h>
#include <stdint.h>

#define GHASH_NEON_SHIFTS 5

/* Two neighbouring powers, each rotated by 0 to 4 bytes within its halves; mid: the XOR of the halves, of the higher
 * power in the low half. */
typedef struct gw_ghash_neon_pair {
	uint8_t high[GHASH_NEON_SHIFTS][16], low[GHASH_NEON_SHIFTS][16], mid[GHASH_NEON_SHIFTS][16];
} gw_ghash_neon_pair;

typedef struct gw_ghash_neon_key {
	gw_ghash_neon_pair pair[4]; /* H^8 and H^7, ... H^2 and H^1 */
} __attribute__((aligned(64))) gw_ghash_neon_key;

void gw_ghash_neon_setkey(gw_ghash_neon_key *k, const uint8_t h[16]);
/* y = (y ^ block) * H for each block; a last partial block is padded with zeros. */
void gw_ghash_neon(const gw_ghash_neon_key *k, uint8_t y[16], const uint8_t *data, size_t len);

#endif
