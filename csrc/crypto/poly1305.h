/* SPDX-License-Identifier: MIT
 * Poly1305 (RFC 8439 2.5) in scalar C, by 32-bit multiplications: for ChaCha20-Poly1305 on any machine.
 */
#ifndef GW_CRYPTO_POLY1305_H
#define GW_CRYPTO_POLY1305_H

#include "impl.h"

typedef struct gw_poly1305 {
	uint32_t h[5], r[5], s[4]; /* accumulator and clamped r in limbs of 26 bits; s is added at the end */
} gw_poly1305;

void gw_poly1305_init(gw_poly1305 *p, const uint8_t key[32]);
/* Whole 16-byte blocks, and a last partial one padded with zeros, as the AEAD construction wants it (2.8). */
void gw_poly1305_padded(gw_poly1305 *p, const uint8_t *data, size_t len);
void gw_poly1305_finish(gw_poly1305 *p, uint8_t tag[16]); /* wipes */

#endif
