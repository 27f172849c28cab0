/* SPDX-License-Identifier: MIT
 * gwnode: the dataplane as one static binary. Each command is a file; each takes the arguments after its own name
 * and returns the exit status (0 done, 1 a check failed, 2 unusable input).
 *
 * selftest, vectors, differential and icount test implementations one by one, so they (alone) look into
 * crypto/impl.h besides gwdp.h.
 */
#ifndef GW_NODE_H
#define GW_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "../crypto/impl.h"

/* gwnode */
int node_stdio(int argc, char **argv);
int node_serve(int argc, char **argv);
int node_cleanup(int argc, char **argv);
int node_doctor(int argc, char **argv);
int node_selftest(int argc, char **argv);
int node_crypto(int argc, char **argv);
int node_esp(int argc, char **argv);
/* gwnode-test: what only tests need does not go to routers */
int node_vectors(int argc, char **argv);
int node_differential(int argc, char **argv);
int node_icount(int argc, char **argv);

/* ---- what they share: keys and placement -------------------------------------------------------------------- */

/* A key for one implementation; authenc takes both halves. */
typedef struct node_key {
	void *ctx, *mac_ctx;
	size_t ctx_bytes, mac_ctx_bytes;
} node_key;

/* 0, or -EINVAL when the implementation takes no key of this length, or -ENOMEM. */
int node_key_init(node_key *k, const gw_impl *impl, const uint8_t *key, size_t key_len, const uint8_t *mac_key,
				  size_t mac_key_len);
void node_key_wipe(node_key *k);

/* Facts that follow from an algorithm's name and are not in the table. */
typedef struct node_alg {
	size_t block;      /* lengths are a multiple of this */
	size_t min_bytes;  /* shortest input */
	size_t iv_bytes;   /* 0 = none */
	size_t tag_bytes;  /* full length; 0 = none */
	int takes_mac_key; /* authenc */
} node_alg;
node_alg node_alg_of(const gw_impl *impl);

/* The implementation of the same algorithm that everything is measured against; NULL when there is none. */
const gw_impl *node_reference(const gw_impl *impl);

/* splitmix64: test data that anyone can make again from the seed. */
uint64_t node_random(uint64_t *state);
void node_random_fill(uint64_t *state, void *to, size_t n);

#endif
