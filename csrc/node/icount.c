/* SPDX-License-Identifier: MIT
 * icount: executed instructions, loads and stores of every implementation and of whole suites. Only under qemu-user
 * with the icount plugin (tests/emulated/qemu), whose counters the guest maps and reads like a PMU's: ICOUNT_SHM names
 * the file. Prints a JSON object a line; counts are those of the bracketed call alone and exactly repeatable.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node.h"

#define MAX_BATCH 16
#define MAX_BYTES 8192
#define ROOM      (MAX_BYTES + 256)

static const size_t sizes[] = {16, 64, 256, 1024, 1408, 8192};
static const size_t batches[] = {1, 16};
#define N_SIZES   (sizeof sizes / sizeof sizes[0])
#define N_BATCHES (sizeof batches / sizeof batches[0])

/* ---- the meter ------------------------------------------------------------------------------------------------- */

typedef struct count {
	uint64_t insns, loads, stores, neon_q;
} count;

static const volatile uint64_t *meter; /* little-endian */
static size_t load_at = 1, store_at = 2;

static int meter_open(void)
{
	const char *path = getenv("ICOUNT_SHM");
	int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0) return -ENOENT;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED) return -ENOMEM;
	meter = p;
	return 0;
}

/* Out of line: the plugin counts a translation block as a whole, and a call always ends one. */
static __attribute__((noinline)) count meter_read(void)
{
	count c = {GW_LE64(meter[0]), GW_LE64(meter[load_at]), GW_LE64(meter[store_at]), GW_LE64(meter[3])};
	return c;
}

/* QEMU 7.2 counts loads where stores were asked for, and the other way round: see which of the two loading moves. */
static void meter_calibrate(void)
{
	static volatile uint32_t word;
	count before = meter_read();
	for (int i = 0; i < 256; i++) (void)word;
	count after = meter_read();
	if (after.stores - before.stores > after.loads - before.loads) {
		load_at = 2;
		store_at = 1;
	}
}

/* Something to be counted. */
typedef struct subject {
	const gw_impl *impl;    /* or */
	gw_transform transform; /* when impl is NULL */
	int dir;
} subject;

static __attribute__((noinline)) void run(const subject *s, gw_op *ops, size_t n)
{
	if (s->impl)
		(s->dir ? s->impl->encrypt : s->impl->decrypt)(ops, n);
	else if (s->dir)
		gw_transform_seal(&s->transform, ops, n);
	else
		gw_transform_open(&s->transform, ops, n);
}

static count run_counted(const subject *s, gw_op *ops, size_t n)
{
	count empty0 = meter_read(), empty1 = meter_read();
	count before = meter_read();
	run(s, ops, n);
	count after = meter_read();
	return (count){after.insns - before.insns - (empty1.insns - empty0.insns),
				   after.loads - before.loads - (empty1.loads - empty0.loads),
				   after.stores - before.stores - (empty1.stores - empty0.stores), after.neon_q - before.neon_q};
}

/* ---- what is run ----------------------------------------------------------------------------------------------- */

static uint8_t *in_mem, *out_mem; /* MAX_BATCH * ROOM each */
static gw_op ops[MAX_BATCH];
static uint8_t ivs[MAX_BATCH][16], tags[MAX_BATCH][64];

typedef struct shape {
	const void *key, *mac_key;
	size_t bytes, n, iv_len, aad_len, tag_len;
	uint32_t flags;
} shape;

/* Packets as they come: neither side aligned better than a header leaves them. */
static void place(const shape *h, bool in_place)
{
	for (size_t i = 0; i < h->n; i++) {
		uint8_t *out = out_mem + i * ROOM + 64;
		ops[i] = (gw_op){.key = h->key,
						 .mac_key = h->mac_key,
						 .in = {{in_place ? out : in_mem + i * ROOM + 20, h->bytes}, {NULL, 0}, {NULL, 0}},
						 .n_in = 1,
						 .out = out,
						 .aad = out - h->aad_len,
						 .aad_len = (uint32_t)h->aad_len,
						 .iv = ivs[i],
						 .iv_len = (uint32_t)h->iv_len,
						 .tag = tags[i],
						 .tag_len = (uint32_t)h->tag_len,
						 .flags = h->flags};
	}
}

static count measure(const subject *s, const shape *h)
{
	subject sealer = *s;
	bool opens = !s->dir && h->tag_len;
	count c = {0, 0, 0, 0};
	sealer.dir = 1;
	for (int pass = 0; pass < 2; pass++) { /* the first warms what is initialised on first use */
		if (opens) {
			place(h, false);
			run(&sealer, ops, h->n);
		}
		place(h, opens);
		c = run_counted(s, ops, h->n);
	}
	for (size_t i = 0; i < h->n; i++)
		if (ops[i].status) return (count){0, 0, 0, 0}; /* reported as a failure */
	return c;
}

static int report(const char *alg, const char *name, const char *tag, const char *op, size_t key_bits, const shape *h,
				  count c)
{
	printf("{\"algorithm\": \"%s\", \"implementation\": \"%s\", \"tag\": \"%s\", \"op\": \"%s\", \"key_bits\": %zu, "
		   "\"bytes\": %zu, \"batch\": %zu, \"insns\": %llu, \"loads\": %llu, \"stores\": %llu, \"neon_q\": %llu}\n",
		   alg, name, tag, op, key_bits, h->bytes, h->n, (unsigned long long)c.insns, (unsigned long long)c.loads,
		   (unsigned long long)c.stores, (unsigned long long)c.neon_q);
	return c.insns ? 0 : 1;
}

/* ---- implementations ------------------------------------------------------------------------------------------- */

static int count_impl_with_key(const gw_impl *impl, size_t key_len)
{
	static const uint8_t secret[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, [32] = 1};
	node_alg alg = node_alg_of(impl);
	node_key key;
	int failed = 0;
	if (node_key_init(&key, impl, secret, key_len, secret, 32)) return 0; /* no such key length */
	bool keyless = impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC, aead = impl->kind == GW_KIND_AEAD;
	for (size_t b = 0; b < N_BATCHES; b++)
		for (size_t i = 0; i < N_SIZES; i++)
			for (int dir = 1; dir >= (impl->decrypt ? 0 : 1); dir--) {
				const char *op = keyless                     ? "hash"
								 : aead || alg.takes_mac_key ? dir ? "seal" : "open"
								 : dir                       ? "encrypt"
															 : "decrypt";
				shape h = {key.ctx,      key.mac_ctx ? key.mac_ctx : key.ctx,   sizes[i],      batches[b],
						   alg.iv_bytes, aead ? 8 : alg.takes_mac_key ? 24 : 0, alg.tag_bytes, 0};
				subject s = {.impl = impl, .dir = dir};
				failed |=
					report(impl->alg, impl->driver, impl->tag, op, keyless ? 0 : key_len * 8, &h, measure(&s, &h));
			}
	node_key_wipe(&key);
	return failed;
}

static int count_impl(const gw_impl *impl)
{
	int failed = 0;
	if (!impl->setkey) return count_impl_with_key(impl, 0);
	if (impl->kind == GW_KIND_MAC) return count_impl_with_key(impl, 32);
	static const size_t key_lens[] = {16, 32, 64};
	for (size_t i = 0; i < sizeof key_lens / sizeof key_lens[0]; i++) failed |= count_impl_with_key(impl, key_lens[i]);
	return failed;
}

/* ---- suites ---------------------------------------------------------------------------------------------------- */

static int count_suite_with(const gw_suite_info *suite, const char *wish, char *seen, size_t seen_len)
{
	static const uint8_t secret[64] = {3, 1, 4, 1, 5, 9, 2, 6};
	subject s = {.impl = NULL};
	char name[160], mark[168];
	gw_err err;
	int failed = 0;
	if (gw_transform_resolve(suite->enc_alg, suite->auth_alg, wish, &s.transform, &err)) return 0; /* not here */
	gw_transform_name(&s.transform, name, sizeof name);
	snprintf(mark, sizeof mark, "[%s]", name);
	if (strstr(seen, mark)) return 0; /* another wish led to it already */
	if (strlen(seen) + strlen(mark) < seen_len) strcat(seen, mark);
	gw_transform_key *key =
		gw_transform_key_new(&s.transform, secret, suite->enc_key_bytes, secret, suite->auth_key_bytes, &err);
	if (!key) return 1;
	bool cbc = strstr(suite->enc_alg, "cbc(") != NULL;
	for (size_t b = 0; b < N_BATCHES; b++)
		for (size_t i = 0; i < N_SIZES; i++)
			for (s.dir = 1; s.dir >= 0; s.dir--) {
				shape h = {gw_transform_cipher_key(key),
						   gw_transform_mac_key(key),
						   sizes[i],
						   batches[b],
						   cbc ? 16 : 12,
						   suite->auth_key_bytes ? 8 + suite->iv_bytes : 8,
						   suite->icv_bytes,
						   s.dir && cbc ? GW_OP_IV_NONCE : 0};
				failed |= report(suite->name, name, s.transform.cipher ? s.transform.cipher->tag : s.transform.mac->tag,
								 s.dir ? "seal" : "open", suite->enc_key_bytes * 8, &h, measure(&s, &h));
			}
	gw_transform_key_free(key);
	return failed;
}

static int count_suite(const char *suite_name)
{
	gw_suite_info suite;
	static char seen[4096];
	int failed = 0, index = gw_suite_find(suite_name);
	if (index < 0 || gw_suite_at((size_t)index, &suite)) return 1;
	seen[0] = 0;
	failed |= count_suite_with(&suite, "auto", seen, sizeof seen);
	for (size_t i = 0; i < gw_impl_count(); i++)
		failed |= count_suite_with(&suite, gw_impl_at(i)->tag, seen, sizeof seen);
	return failed;
}

int node_icount(int argc, char **argv)
{
	static const char *const suites[] = {"aes128gcm16", "aes256gcm16", "aes128-sha256", "aes256-sha256",
										 "chacha20poly1305"};
	const char *only = argc == 2 && !strcmp(argv[0], "--impl") ? argv[1] : NULL;
	uint64_t rng = 1;
	gw_err err = {""};
	int failed = 0;
	if (argc && !only) return 2;
	if (gw_init(&err) < 0 || meter_open()) {
		fprintf(stderr, "gwnode: icount needs qemu-user with the icount plugin, and ICOUNT_SHM\n");
		return 2;
	}
	meter_calibrate();
	in_mem = gw_alloc(MAX_BATCH * ROOM);
	out_mem = gw_alloc(MAX_BATCH * ROOM);
	if (!in_mem || !out_mem) return 1;
	node_random_fill(&rng, in_mem, MAX_BATCH * ROOM);
	node_random_fill(&rng, out_mem, MAX_BATCH * ROOM);
	node_random_fill(&rng, ivs, sizeof ivs);
	for (size_t i = 0; i < gw_impl_count(); i++)
		if (gw_impl_selectable(gw_impl_at(i)) && (!only || !strcmp(only, gw_impl_at(i)->driver)))
			failed |= count_impl(gw_impl_at(i));
	for (size_t i = 0; i < sizeof suites / sizeof suites[0] && !only; i++) failed |= count_suite(suites[i]);
	if (failed) fprintf(stderr, "gwnode: some counts failed (insns 0)\n");
	return failed;
}
