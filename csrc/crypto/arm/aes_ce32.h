/* SPDX-License-Identifier: MIT
 * AES and GHASH by the Crypto Extensions of ARMv8 in 32-bit state (aes_ce32.S, ghash_ce32.S).
 */
#ifndef GW_CRYPTO_ARM_AES_CE32_H
#define GW_CRYPTO_ARM_AES_CE32_H

#include "../impl.h"

typedef struct gw_aes_ce32_key {
	uint8_t enc[15][16] __attribute__((aligned(16)));
	uint8_t dec[15][16] __attribute__((aligned(16))); /* equivalent inverse cipher, FIPS 197 5.3.5 */
	uint32_t rounds;
} gw_aes_ce32_key;

int gw_aes_ce32_setkey(void *ctx, const uint8_t *key, size_t len);

/* Any number of blocks; in may equal out; neither has an alignment. */
void gw_aes_ce32_encrypt(const uint8_t (*enc)[16], uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks);
void gw_aes_ce32_decrypt(const uint8_t (*dec)[16], uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks);
void gw_aes_ce32_cbc_encrypt(const uint8_t (*enc)[16], uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks,
							 uint8_t chain[16]);
/* Groups of eight blocks (at least one); the counter in native words moves on, the last must not wrap. */
void gw_aes_ce32_ctr(const uint8_t (*enc)[16], uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
					 uint32_t counter[4]);
uint32_t gw_aes_ce32_sub_word(uint32_t w);
void gw_aes_ce32_inverse_keys(uint8_t (*to)[16], const uint8_t (*enc)[16], uint32_t rounds);

/* Counter mode of any length; counter moves on, by whole blocks. */
void gw_aes_ce32_ctr_bytes(const gw_aes_ce32_key *k, uint8_t *out, const uint8_t *in, size_t len, uint8_t counter[16],
						   bool carry);

typedef struct gw_ghash_ce32_key {
	uint64_t power[8][3]; /* H^8 to H^1 over x: high half, low half, sum */
} gw_ghash_ce32_key;

void gw_ghash_ce32(uint8_t y[16], const void *key, const uint8_t *data, size_t blocks);

#endif
