/* SPDX-License-Identifier: MIT
 * GHASH with a 4-bit table per key (SP 800-38D 6.3; Shoup's method). Not constant-time.
 */
#ifndef GW_CRYPTO_GHASH_TABLE_H
#define GW_CRYPTO_GHASH_TABLE_H

#include "../impl.h"

typedef struct gw_ghash_table {
	uint64_t hi[16], lo[16]; /* i * H for each 4-bit i, most significant half first */
} gw_ghash_table;

void gw_ghash_table_init(gw_ghash_table *t, const uint8_t h[16]);
/* y = (y ^ block) * H for each block; a last partial block is padded with zeros. */
void gw_ghash_table_update(const gw_ghash_table *t, uint8_t y[16], const uint8_t *data, size_t len);

#endif
