/* SPDX-License-Identifier: MIT
 * Bit-sliced AES on NEON: keys and the eight-block core (aes_neonbs_round.inc).
 */
#ifndef GW_CRYPTO_ARM_AES_NEONBS_H
#define GW_CRYPTO_ARM_AES_NEONBS_H

#include "../impl.h"

#define GW_NEONBS_LANES       8
#define GW_NEONBS_ROUND_BYTES 128 /* eight slices of 16 bytes */

/* Every round key, a bit to a byte: slices[round][7 - bit][byte of the state], 0x00 or 0xff in all eight lanes. Byte
 * order and the shift of each round are the core's (see there). One key serves both directions. */
typedef struct gw_neonbs_key {
	uint8_t slices[15 * GW_NEONBS_ROUND_BYTES] __attribute__((aligned(64)));
	uint8_t serial[15][16] __attribute__((aligned(16))); /* for aes_neonvp.S, in its representation */
	uint32_t rounds;
} gw_neonbs_key;

int gw_neonbs_setkey(void *ctx, const uint8_t *key, size_t len);

/* groups (at least 1) of eight blocks each; in may equal out, neither has an alignment. */
void gw_neonbs_encrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups);
void gw_neonbs_decrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups);
/* Counter mode: counter holds words 0, 2, 1, 3 of the first counter block in native order and moves on; word 3 must
 * not wrap within these groups. */
void gw_neonbs_ctr(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
				   uint32_t counter[4]);
/* The same for up to 16 groups within which only the last byte of the counter changes, and does not wrap: most of the
 * first round is then done once for all. counter stays. */
void gw_neonbs_ctr_cached(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
						  const uint32_t counter[4]);
/* The same from a counter block in memory, which moves on: all of it (carry) or its last word alone, as GCM counts. */
void gw_neonbs_ctr_groups(const gw_neonbs_key *k, uint8_t *out, const uint8_t *in, size_t groups, uint8_t counter[16],
						  bool carry);
/* XTS (IEEE 1619): tweak is the first block's and moves on. */
void gw_neonbs_xts_encrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
						   uint8_t tweak[16]);
void gw_neonbs_xts_decrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
						   uint8_t tweak[16]);
/* SubBytes less its constant 0x63 on 128 bytes (16-byte aligned); the first two arguments are not used. */
void gw_neonbs_subbytes(const void *none, uint32_t zero, uint8_t *out, const uint8_t *in, size_t groups);

/* CBC encryption of one packet in each lane. Pointers move on by 16 bytes a step. */
typedef struct gw_neonbs_lanes {
	const uint8_t *in[GW_NEONBS_LANES];
	uint8_t *out[GW_NEONBS_LANES];
	uint8_t chain[GW_NEONBS_LANES][16] __attribute__((aligned(16)));
} gw_neonbs_lanes;
void gw_neonbs_cbc_encrypt(const void *slices, uint32_t rounds, gw_neonbs_lanes *lanes, size_t steps);

/* One block after the other (aes_neonvp.S): faster than the core for up to GW_NEONBS_BREAK_EVEN blocks, and for CBC
 * encryption of so few packets. The first argument is a key's serial; blocks >= 1; chain moves on. */
#define GW_NEONBS_BREAK_EVEN 4
void gw_neonvp_encrypt(const void *serial, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks);
void gw_neonvp_cbc_encrypt(const void *serial, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks,
						   uint8_t chain[16]);

/* Round keys that differ between lanes: a lane's bit is taken from its own key. */
typedef struct gw_neonbs_mixed {
	uint8_t slices[15 * GW_NEONBS_ROUND_BYTES] __attribute__((aligned(64)));
	const gw_neonbs_key *key[GW_NEONBS_LANES]; /* whose bits slices hold; NULL: none yet */
} gw_neonbs_mixed;

/* Sets the lanes whose key changed. All keys have the same number of rounds. */
void gw_neonbs_mix(gw_neonbs_mixed *m, const gw_neonbs_key *const key[GW_NEONBS_LANES]);

#endif
