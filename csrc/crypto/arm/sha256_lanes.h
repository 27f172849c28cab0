/* SPDX-License-Identifier: MIT
 * SHA-256 and HMAC of several packets of a batch abreast: a lane takes the next packet when its own is done. What is
 * left when too few lanes have one goes through one stream after the other.
 */
#ifndef GW_CRYPTO_ARM_SHA256_LANES_H
#define GW_CRYPTO_ARM_SHA256_LANES_H

#include "../impl.h"

typedef struct gw_sha256_core {
	uint32_t lanes;                                                    /* at most 4 */
	uint32_t worth;                                                    /* the fewest lanes in use that it pays for */
	bool interleaved;                                                  /* the state is [8][lanes] and not [lanes][8] */
	void (*run)(uint32_t *state, const uint8_t **data, size_t blocks); /* blocks of every lane; data stays as it is */
} gw_sha256_core;

void gw_sha256_lanes(const gw_sha256_core *core, gw_op *ops, size_t n, bool hmac);

void gw_sha256_neon_blocks(void *state, const uint8_t *data, size_t blocks);   /* one stream */
void gw_sha256_neon_two(uint32_t *state, const uint8_t **data, size_t blocks); /* state[2][8] */
void gw_sha256_neon4(uint32_t *state, const uint8_t **data, size_t blocks);    /* state[8][4] */

#endif
