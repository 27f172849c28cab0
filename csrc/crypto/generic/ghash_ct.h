/* SPDX-License-Identifier: MIT
 * GHASH (SP 800-38D 6.3) without tables: polynomials multiplied by integer multiplication "with holes". Every fourth
 * bit of each factor is kept, so that the up to sixteen ones that meet at a place of the product do not reach the next
 * place that counts. Constant-time where the processor's multiplication is, as it is on all that this runs on.
 */
#ifndef GW_CRYPTO_GHASH_CT_H
#define GW_CRYPTO_GHASH_CT_H

#include "../impl.h"

/* H and the sum of its halves, straight and with their bits reversed: high halves come from reversed products. */
typedef struct gw_ghash_ct {
	uint64_t h[3], reversed[3];
} gw_ghash_ct;

void gw_ghash_ct_init(gw_ghash_ct *t, const uint8_t h[16]);
/* y = (y ^ block) * H for each block; a last partial block is padded with zeros. */
void gw_ghash_ct_update(const gw_ghash_ct *t, uint8_t y[16], const uint8_t *data, size_t len);

#endif
