/* SPDX-License-Identifier: MIT
 * What the x86 SHA-256 files share: the target attributes and the lane scheduler's types.
 *
 * A hash is serial, so packets run abreast. A packet's way through a lane: its whole blocks, span by span; then the
 * last bytes with ESN and padding; then, for HMAC, the outer block (RFC 2104). Lanes go in step until the first of
 * them has used up what it has.
 */
#ifndef GW_CRYPTO_X86_SHA256_X86_H
#define GW_CRYPTO_X86_SHA256_X86_H
#if defined(__x86_64__)

#include <immintrin.h>

#include "../md.h"

#define GW_TARGET_SHANI __attribute__((target("sha,ssse3,sse4.1")))
#define GW_NEEDS_SHANI  (GW_CPU_SHA_NI | GW_CPU_SSSE3 | GW_CPU_SSE41)
#define GW_SHA256_LANES 16

typedef struct gw_sha256_lanes {
	uint32_t state[8][GW_SHA256_LANES] __attribute__((aligned(64))); /* word by word, lane beside lane */
	const uint8_t *data[GW_SHA256_LANES];
	size_t left[GW_SHA256_LANES]; /* blocks at data; 0 = no packet in this lane */
} gw_sha256_lanes;

/* Inner digests of HMAC that wait for company: the outer hash is one block for each, run for many at once. */
typedef struct gw_sha256_outer {
	uint32_t inner[8][GW_SHA256_LANES] __attribute__((aligned(64)));
	gw_op *op[GW_SHA256_LANES];
	uint32_t n;
} gw_sha256_outer;

/* sha256_lanes.c. run: hashes `blocks` blocks in every one of the first `lanes` lanes and moves data on.
 * rest: finishes left[] blocks of each lane that has any; called when fewer than `enough` lanes are busy.
 * outer: writes the tags of all that wait. */
typedef struct gw_sha256_kernel {
	uint32_t lanes, enough;
	void (*run)(gw_sha256_lanes *l, size_t blocks);
	void (*rest)(gw_sha256_lanes *l);
	void (*outer)(gw_sha256_outer *o);
} gw_sha256_kernel;

void gw_sha256_lanes_hash(const gw_sha256_kernel *k, gw_op *ops, size_t n);
void gw_sha256_lanes_hmac(const gw_sha256_kernel *k, gw_op *ops, size_t n);

/* sha256_shani_avx.c */
void gw_sha256_four_avx(void *state, const uint8_t *const data[4], size_t n);
/* sha256_shani.c */
void gw_sha256_blocks_shani(void *state, const uint8_t *data, size_t n);
void gw_sha256_rest_shani(gw_sha256_lanes *l);
void gw_sha256_outer_shani(gw_sha256_outer *o);
int gw_hmac_sha256_setkey_shani(void *ctx, const uint8_t *key, size_t len);

#endif
#endif
