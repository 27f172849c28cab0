/* SPDX-License-Identifier: MIT
 * GHASH by vmull.p8, see ghash_neon.S.
 */
#ifndef GW_CRYPTO_ARM_GHASH_NEON_H
#define GW_CRYPTO_ARM_GHASH_NEON_H

#include "../impl.h"

typedef struct gw_ghash_neon_key {
	uint64_t part[3][8][8] __attribute__((aligned(16))); /* high, low, sum; H^8..H^1 over x; rotations */
} gw_ghash_neon_key;

/* H / x as a number of 128 bits, top bit first: high half, low half. */
void gw_ghash_over_x(const uint8_t h[16], uint64_t half[2]);
void gw_ghash_neon_init(gw_ghash_neon_key *k, const uint8_t h[16]);
/* y = (y ^ data) * H, block by block. */
void gw_ghash_neon(uint8_t y[16], const void *key, const uint8_t *data, size_t blocks);

#endif
