/* SPDX-License-Identifier: MIT
 * Bit-sliced AES in C, four blocks at once: plane i holds bit i of all 64 bytes. No table and no branch depends on a
 * secret, on any machine (multiplications appear in GHASH only, see ghash_ct.h).
 *
 * Bit 16 * row + 4 * column + block of a plane: rows turn by rotating the word, ShiftRows rotates its quarters.
 *
 * Not on 32-bit PowerPC: there the SPE code, although by tables, is what a gateway should run by default (this would
 * take several times as many instructions, and being constant-time it would be preferred), and the binary has to stay
 * small. Everywhere else a machine without AES instructions or vectors gets these by default; "generic" asks for the
 * tables.
 */
#ifndef GW_CRYPTO_AES_CT_H
#define GW_CRYPTO_AES_CT_H

#include "../impl.h"

#if !defined(__powerpc__) || defined(__powerpc64__)
#define GW_AES_CT 1
#endif

typedef struct gw_aes_ct_key {
	uint64_t planes[15][8]; /* the same for all four blocks; S-box constants included */
	uint32_t rounds;        /* 10, 12, 14 */
} gw_aes_ct_key;

int gw_aes_ct_setkey(void *ctx, const uint8_t *key, size_t len); /* -EINVAL unless 16, 24, 32 */
/* 64 bytes in place, no alignment. */
void gw_aes_ct_encrypt4(const gw_aes_ct_key *k, uint8_t blocks[64]);
void gw_aes_ct_decrypt4(const gw_aes_ct_key *k, uint8_t blocks[64]);
/* Replaces what block `lane` (0 to 3) of `to` is encrypted under. The caller sees to equal numbers of rounds. */
void gw_aes_ct_set_lane(gw_aes_ct_key *to, const gw_aes_ct_key *from, uint32_t lane);

#endif
