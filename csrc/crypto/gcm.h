/* SPDX-License-Identifier: MIT
 * What every GCM shares (SP 800-38D) that does one packet after the other and hashes apart from its counter mode: the
 * first counter, the lengths, the tag. An implementation brings its block, its counter mode and its GHASH. Those that
 * fuse the two or put packets abreast have no use for this.
 */
#ifndef GW_CRYPTO_GCM_H
#define GW_CRYPTO_GCM_H

#include "impl.h"

typedef struct gw_gcm {
	void (*block)(const void *key, const uint8_t in[16], uint8_t out[16]);
	/* From counter, of which the last 32 bits count, moved on by the whole blocks of len. */
	void (*ctr)(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len);
	/* y = (y ^ block) * H for each block; a last partial block is padded with zeros. y has 16-byte alignment. */
	void (*ghash)(const void *key, uint8_t y[16], const uint8_t *data, size_t len);
} gw_gcm;

void gw_gcm_seal(const gw_gcm *gcm, gw_op *ops, size_t n);
void gw_gcm_open(const gw_gcm *gcm, gw_op *ops, size_t n); /* writes nothing when the tag is wrong */

#endif
