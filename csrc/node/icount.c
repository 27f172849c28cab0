/* SPDX-License-Identifier: MIT
 * icount: executed instructions, loads and stores of every implementation and of whole suites. Only under qemu-user
 * with the icount plugin (tests/emulated/qemu), whose counters the guest reads like a PMU's: ICOUNT_SHM names their
 * file. Prints a JSON object a line; counts are those of the bracketed call alone and exactly repeatable.
 */
#include <stdio.h>

#include "icount.h"

#define ROOM (ICOUNT_MAX_BYTES + 256)

static uint8_t *in_mem, *out_mem; /* ICOUNT_MAX_BATCH * ROOM each */
static gw_op ops[ICOUNT_MAX_BATCH];
static uint8_t ivs[ICOUNT_MAX_BATCH][16], tags[ICOUNT_MAX_BATCH][64];

/* What one count is of. */
typedef struct shape {
	const gw_impl *impl;
	const node_key *key;
	int dir;
	size_t bytes, n, iv_len, aad_len, tag_len;
} shape;

/* Requests as packets lie: neither side aligned better than a header leaves it. */
static void place(const shape *h, bool in_place)
{
	for (size_t i = 0; i < h->n; i++) {
		uint8_t *out = out_mem + i * ROOM + 64;
		ops[i] = (gw_op){.key = h->key->ctx,
						 .mac_key = h->key->mac_ctx ? h->key->mac_ctx : h->key->ctx,
						 .in = {{in_place ? out : in_mem + i * ROOM + 20, h->bytes}, {NULL, 0}, {NULL, 0}},
						 .n_in = 1,
						 .out = out,
						 .aad = out - h->aad_len,
						 .aad_len = (uint32_t)h->aad_len,
						 .iv = ivs[i],
						 .iv_len = (uint32_t)h->iv_len,
						 .tag = tags[i],
						 .tag_len = (uint32_t)h->tag_len};
	}
}

static icount measure(const shape *h)
{
	bool opens = !h->dir && h->tag_len;
	icount c = {0, 0, 0, 0};
	for (int pass = 0; pass < 2; pass++) { /* the first warms what is initialised on first use */
		if (opens) {
			place(h, false);
			h->impl->encrypt(ops, h->n);
		}
		place(h, opens);
		icount start = icount_start();
		(h->dir ? h->impl->encrypt : h->impl->decrypt)(ops, h->n);
		c = icount_stop(start);
	}
	for (size_t i = 0; i < h->n; i++)
		if (ops[i].status) return (icount){0, 0, 0, 0}; /* reported as a failure */
	return c;
}

static const char *operation(const gw_impl *impl, int dir)
{
	if (impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC) return "hash";
	if (impl->kind == GW_KIND_CIPHER) return dir ? "encrypt" : "decrypt";
	return dir ? "seal" : "open";
}

static int count_with_key(const gw_impl *impl, size_t key_len)
{
	static const uint8_t secret[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, [32] = 1};
	const node_alg alg = node_alg_of(impl);
	const size_t aad_len = impl->kind == GW_KIND_AEAD ? 8 : alg.takes_mac_key ? 24 : 0;
	const size_t key_bits = impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC ? 0 : 8 * key_len;
	node_key key;
	int failed = 0;
	if (node_key_init(&key, impl, secret, key_len, secret, 32)) return 0; /* no such key length */
	for (size_t b = 0; b < ICOUNT_N_BATCHES; b++)
		for (size_t i = 0; i < ICOUNT_N_SIZES; i++)
			for (int dir = 1; dir >= (impl->decrypt ? 0 : 1); dir--) {
				shape h = {impl, &key, dir, icount_sizes[i], icount_batches[b], alg.iv_bytes, aad_len, alg.tag_bytes};
				failed |= icount_report(impl->alg, impl->driver, impl->tag, operation(impl, dir), key_bits, h.bytes,
										h.n, measure(&h));
			}
	node_key_wipe(&key);
	return failed;
}

static int count_impl(const gw_impl *impl)
{
	static const size_t key_lens[] = {16, 32, 64};
	int failed = 0;
	if (!impl->setkey) return count_with_key(impl, 0);
	if (impl->kind == GW_KIND_MAC) return count_with_key(impl, 32);
	for (size_t i = 0; i < sizeof key_lens / sizeof key_lens[0]; i++) failed |= count_with_key(impl, key_lens[i]);
	return failed;
}

int node_icount(int argc, char **argv)
{
	const char *only = argc == 2 && !strcmp(argv[0], "--impl") ? argv[1] : NULL;
	uint64_t rng = 1;
	gw_err err = {""};
	int failed = 0;
	if (argc && !only) return 2;
	if (gw_init(&err) < 0 || icount_open()) {
		fprintf(stderr, "gwnode: icount needs qemu-user with the icount plugin, and ICOUNT_SHM\n");
		return 2;
	}
	in_mem = gw_alloc(ICOUNT_MAX_BATCH * ROOM);
	out_mem = gw_alloc(ICOUNT_MAX_BATCH * ROOM);
	if (!in_mem || !out_mem) return 1;
	node_random_fill(&rng, in_mem, ICOUNT_MAX_BATCH * ROOM);
	node_random_fill(&rng, out_mem, ICOUNT_MAX_BATCH * ROOM);
	node_random_fill(&rng, ivs, sizeof ivs);
	for (size_t i = 0; i < gw_impl_count(); i++)
		if (gw_impl_selectable(gw_impl_at(i)) && (!only || !strcmp(only, gw_impl_at(i)->driver)))
			failed |= count_impl(gw_impl_at(i));
	if (!only) failed |= icount_suites();
	if (failed) fprintf(stderr, "gwnode: an operation failed while it was counted: its row has insns 0\n");
	return failed;
}
