/* SPDX-License-Identifier: MIT
 * Poly1305 (RFC 8439, 2.5) two blocks abreast on NEON, on the state of the scalar one.
 */
#ifndef GW_CRYPTO_ARM_POLY1305_NEON_H
#define GW_CRYPTO_ARM_POLY1305_NEON_H

#include "../poly1305.h"

typedef struct gw_poly1305_neon {
	gw_poly1305 p;
	uint32_t square[5]; /* r^2 */
} gw_poly1305_neon;

void gw_poly1305_neon_init(gw_poly1305_neon *s, const uint8_t key[32]);
void gw_poly1305_neon_blocks(void *state, const uint8_t *m, size_t n); /* n >= 1 blocks of 16 bytes */
/* gw_poly1305_finish(&s->p, tag) ends it. */

#endif
