/* SPDX-License-Identifier: MIT
 * The assembly of the e500's Signal Processing Engine (32-bit PowerPC, big-endian, 64-bit general registers).
 * Table-based, so not constant-time. Everything here may be called only where gw_cpu() has GW_CPU_SPE.
 *
 * Keys and tables are 8-byte aligned (a misaligned evldd traps on the core; emulators let it pass: asserted in C);
 * packet data is not aligned at all.
 */
#ifndef GW_CRYPTO_PPC_SPE_H
#define GW_CRYPTO_PPC_SPE_H

#include "../impl.h"

typedef struct gw_spe_aes_key {
	uint32_t enc[60]; /* round keys, right-aligned: the last round's at enc[56] */
	uint32_t dec[60]; /* of the equivalent inverse cipher, FIPS 197 5.3.5, likewise */
	uint32_t rounds;  /* 10, 12, 14 */
	uint32_t pad0;
} __attribute__((aligned(8))) gw_spe_aes_key;

int gw_spe_aes_expand(gw_spe_aes_key *k, const uint8_t *key, size_t len); /* -EINVAL unless 16, 24, 32 */

/* One table entry a byte: see aes_spe_tables.c. Aligned to 8192; read-only from before main. */
extern uint32_t gw_spe_aes_te[256][8], gw_spe_aes_td[256][8];

/* rk: enc with te, dec with td. blocks >= 1. in may equal out. */
void gw_spe_aes_ecb_enc(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *te,
						uint32_t rounds);
void gw_spe_aes_ecb_dec(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *td,
						uint32_t rounds);
/* iv: 16 bytes, any alignment, only read. The last ciphertext block goes to chain as well, unless
 * that is NULL; it may be iv. */
void gw_spe_aes_cbc_enc(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *te,
						uint32_t rounds, const uint8_t *iv, uint8_t *chain);
void gw_spe_aes_cbc_dec(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *td,
						uint32_t rounds, const uint8_t *iv);
/* tweak: 16 bytes, already encrypted; replaced by the one after the last block. */
void gw_spe_aes_xts_enc(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *te,
						uint32_t rounds, uint8_t *tweak);
void gw_spe_aes_xts_dec(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *td,
						uint32_t rounds, uint8_t *tweak);

/* What 256 consecutive counter blocks share; layout known to aes_spe_ctr.S. */
typedef struct gw_spe_ctr {
	uint32_t columns[4]; /* of round 2, without what depends on round 1's column 0 */
	uint32_t column0;    /* of round 1, without what depends on the last counter byte */
	uint32_t counter;    /* last word of the first counter block */
	uint32_t whitening;  /* last word of the first round key */
	uint32_t pad0;
} __attribute__((aligned(8))) gw_spe_ctr;

/* At most 256 - (counter & 255) blocks. */
void gw_spe_aes_ctr(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *te, uint32_t rounds,
					const gw_spe_ctr *c);

/* Encrypts len bytes under the counter block, which is left at the first unused one (a partial block uses its own).
 * wrap32: only the last word counts (GCM), else all 128 bits. */
void gw_spe_ctr_bytes(const gw_spe_aes_key *k, uint8_t counter[16], bool wrap32, const uint8_t *in, uint8_t *out,
					  size_t len);

/* y := (y ^ block) * H over whole blocks. table: 8192 bytes aligned to 4096, see aes_spe_ctr.S. y is 4-byte aligned. */
void gw_spe_ghash(uint32_t y[4], const void *table, const uint8_t *data, size_t blocks);

/* state: eight words. k: gw_sha256_k, 8-byte aligned. n >= 1 blocks of 64 bytes. */
void gw_spe_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t n, const uint32_t *k);

/* AES-CBC of one packet beside SHA-256 of two streams; layout known to cbc_sha256_spe.py. A unit is 8 AES blocks and
 * 64 bytes of each stream. Everything is left where the next unit begins. Encryption goes upwards: chain is the IV.
 * Decryption goes downwards from the packet's last block: in points at the block before it, which must exist for
 * every block of the run, chain is that last block XOR the first round key. */
typedef struct gw_spe_mix {
	const uint32_t *rk;
	const uint8_t *in;
	uint8_t *out;
	const void *table;
	uint32_t chain[4];
	const uint8_t *data[2];
	uint32_t units;       /* at least 1 */
	const uint32_t *k;    /* gw_sha256_k */
	uint32_t state[8][2]; /* a..h of both streams */
} __attribute__((aligned(8))) gw_spe_mix;

void gw_spe_cbc_sha256_enc128(gw_spe_mix *m);
void gw_spe_cbc_sha256_enc256(gw_spe_mix *m);
void gw_spe_cbc_sha256_dec128(gw_spe_mix *m);
void gw_spe_cbc_sha256_dec256(gw_spe_mix *m);

extern const gw_impl gw_impl_cbc_aes_spe, gw_impl_hmac_sha256_spe; /* what the fused one is composed of */

/* Asks for all 8192 bytes of an AES table (dcbt). gw_spe_warm: when the batch is long enough to pay for it. */
void gw_spe_prefetch(const void *table);
void gw_spe_warm(const void *table, const gw_op *ops, size_t n);

#endif
