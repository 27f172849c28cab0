/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 (RFC 8439; in ESP RFC 7634) for x86: what the two widths share.
 *
 * A vector holds one row of the state for several consecutive blocks of one packet; four such vectors are a group.
 * Groups of one packet or of several run interleaved, because one alone would wait for its own latencies: a packet
 * of 1408 bytes with the block that makes the one-time key is six groups of AVX-512, and six packets of up to 192
 * bytes are as many.
 */
#ifndef GW_CRYPTO_X86_CHACHA20POLY1305_X86_H
#define GW_CRYPTO_X86_CHACHA20POLY1305_X86_H
#if defined(__x86_64__)

#include <immintrin.h>

#include "../impl.h"
#include "../spans.h"

#define GW_CHACHA_GROUPS 6

typedef struct gw_chacha_key {
	uint32_t w[8]; /* little-endian words: the key's bytes as they are */
} gw_chacha_key;

/* Consecutive blocks from `row3[0]` on (the block counter; the nonce stands behind it). */
typedef struct gw_chacha_group {
	const gw_chacha_key *key;
	uint32_t row3[4];
} gw_chacha_group;

/* Poly1305 with its key; h is below 2^130 plus a little between calls. */
typedef struct gw_poly {
	uint64_t h[3], r[2], pad[2];
} gw_poly;

typedef struct gw_chacha_kernel {
	uint32_t group_blocks; /* 4 or 2 */
	uint32_t groups;       /* at once, at most GW_CHACHA_GROUPS */
	/* Writes the key stream of n groups, group_blocks * 64 bytes each, 64-byte aligned. */
	void (*stream)(const gw_chacha_group *g, uint32_t n, uint8_t *out);
	void (*xor)(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t len);
	/* The AEAD's Poly1305 input (RFC 8439 2.8) over one piece of ciphertext, lengths included. */
	void (*mac)(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len);
} gw_chacha_kernel;

/* chacha20poly1305_x86.c */
int gw_chacha_setkey_x86(void *ctx, const uint8_t *key, size_t len);
void gw_chacha_seal_x86(const gw_chacha_kernel *k, gw_op *ops, size_t n);
void gw_chacha_open_x86(const gw_chacha_kernel *k, gw_op *ops, size_t n);

/* poly1305_x86.c: scalar, with the multiplier's 128-bit products. */
void gw_poly_init(gw_poly *p, const uint8_t key[32]);
void gw_poly_padded(gw_poly *p, const uint8_t *data, size_t len); /* a last partial block is padded with zeros */
void gw_poly_mac(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len);
void gw_poly_lengths(gw_poly *p, uint64_t aad_len, uint64_t len);
void gw_poly_times_r(const gw_poly *p, uint64_t h[3]); /* h r, reduced as between blocks */
void gw_poly_finish(gw_poly *p, uint8_t tag[16]);      /* wipes */

/* poly1305_avx2.c: gw_poly_mac, four blocks abreast where there are many. */
void gw_poly_mac_avx2(gw_poly *p, const uint8_t *aad, size_t aad_len, const uint8_t *data, size_t len);

#endif
#endif
