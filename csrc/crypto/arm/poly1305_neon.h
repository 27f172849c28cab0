/* SPDX-License-Identifier: MIT
 * Poly1305 (RFC 8439, 2.5) two blocks abreast on NEON, on the state of the scalar one.
 */
#ifndef GW_CRYPTO_ARM_POLY1305_NEON_H
#define GW_CRYPTO_ARM_POLY1305_NEON_H

#include "../poly1305.h"

/* As gw_poly1305_padded: whole blocks, and a last partial one padded with zeros. */
void gw_poly1305_neon_padded(gw_poly1305 *p, const uint8_t *data, size_t len);

#endif
