/* SPDX-License-Identifier: MIT
 * Table AES in scalar C: the baseline that every speed-up is measured against. Not constant-time.
 */
#ifndef GW_CRYPTO_AES_TABLE_H
#define GW_CRYPTO_AES_TABLE_H

#include "../impl.h"

typedef struct gw_aes_table_key {
	uint32_t enc[60]; /* round keys as big-endian words */
	uint32_t dec[60]; /* of the equivalent inverse cipher, FIPS 197 5.3.5 */
	uint32_t rounds;  /* 10, 12, 14 */
} gw_aes_table_key;

int gw_aes_table_expand(gw_aes_table_key *k, const uint8_t *key, size_t len); /* -EINVAL unless 16, 24, 32 */
/* One block, out of line on purpose: in may equal out, neither is aligned. */
void gw_aes_table_encrypt(const gw_aes_table_key *k, const uint8_t *in, uint8_t *out);
void gw_aes_table_decrypt(const gw_aes_table_key *k, const uint8_t *in, uint8_t *out);

#endif
