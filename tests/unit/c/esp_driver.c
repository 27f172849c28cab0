/* SPDX-License-Identifier: MIT
 * Runs ESP in memory under sanitizers: every suite and implementation, every length, odd spans, and packets that
 * were cut, flipped and forged. Each packet lies in a heap block of exactly its size, so that one byte too far is
 * seen. Prints what it did; exits 1 at the first wrong result.
 *
 * usage: esp_driver SUITE WISH SEED
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../csrc/core/mem.h"
#include "../../../csrc/esp/esp.h"

#define MAX_INNER 700
#define BATCH     67 /* more than the dataplane's own chunk */

static uint64_t seed;

static uint32_t random32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static void check(int good, const char *what, long at)
{
	if (good) return;
	fprintf(stderr, "wrong: %s at %ld\n", what, at);
	exit(1);
}

static gw_sa *make_sa(int suite, const char *wish, int direction, uint32_t flags, uint32_t window)
{
	static const uint8_t keys[64] = {7, 7, 7, 1, 2, 3};
	const gw_sa_params p = {.spi = 0x1000,
							.suite = suite,
							.direction = direction,
							.flags = flags,
							.enc_key = keys,
							.auth_key = keys,
							.salt = keys,
							.impl = wish,
							.replay_window = window,
							.soft_packets = 10};
	gw_err err;
	gw_sa *sa = gw_sa_new(&p, 0, &err);

	if (!sa) fprintf(stderr, "%s\n", err.text);
	check(sa != NULL, "gw_sa_new", direction);
	return sa;
}

/* An IP packet of exactly len bytes on the heap. */
static uint8_t *make_packet(size_t len)
{
	uint8_t *p = malloc(len ? len : 1);

	for (size_t i = 0; i < len; i++) p[i] = (uint8_t)random32();
	if (len >= 20) {
		p[0] = 0x45;
		p[1] &= 0xfe; /* not CE or ECT(1): the inner header stays as it is whatever the outer says */
		gw_store_be16(p + 2, (uint16_t)len);
	}
	return p;
}

typedef struct flight {
	uint8_t *plain[BATCH], *wire[BATCH];
	gw_pkt pkts[BATCH];
} flight;

static void seal_batch(flight *f, gw_sa *sa, size_t first_len, size_t n)
{
	memset(f->pkts, 0, sizeof(f->pkts));
	for (size_t i = 0; i < n; i++) {
		const size_t len = first_len + i, cut = random32() % (len + 1) & (random32() % 4 ? ~63u : ~0u);
		gw_pkt *p = &f->pkts[i];

		f->plain[i] = make_packet(len);
		p->out_cap = (uint32_t)gw_seal_len(sa, len);
		p->out = f->wire[i] = malloc(p->out_cap);
		p->sa = sa;
		p->in[0] = (gw_span){f->plain[i], cut ? cut : len};
		p->in[1] = (gw_span){f->plain[i] + cut, len - cut};
		p->n_in = cut && cut < len && (cut >= 20) ? 2 : 1;
		if (p->n_in == 1) p->in[0].len = len;
	}
	check(gw_seal_batch(f->pkts, n, 0) == n, "seal", (long)first_len);
	for (size_t i = 0; i < n; i++) check(f->pkts[i].out_len == f->pkts[i].out_cap, "length", (long)(first_len + i));
}

static void release(flight *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(f->plain[i]);
		free(f->wire[i]);
	}
}

static size_t every_length(gw_sa *out, gw_sa *in)
{
	flight f;
	size_t done = 0;

	for (size_t len = 20; len + BATCH < MAX_INNER; len += BATCH, done += BATCH) {
		seal_batch(&f, out, len, BATCH);
		for (size_t i = 0; i < BATCH; i++) f.pkts[i].sa = in, f.pkts[i].outer_tos = 2;
		check(gw_open_batch(f.pkts, BATCH, 0) == BATCH, "open", (long)len);
		for (size_t i = 0; i < BATCH; i++) {
			check(f.pkts[i].inner_len == len + i, "inner length", (long)(len + i));
			check(memcmp(f.pkts[i].inner, f.plain[i], len + i) == 0, "inner", (long)(len + i));
		}
		release(&f, BATCH);
	}
	return done;
}

/* Cuts and flips: nothing of it may be accepted, and the genuine packet afterwards must be. */
static size_t mutations(gw_sa *out, gw_sa *in, int authenticated)
{
	flight f;
	size_t refused = 0;

	for (int round = 0; round < 60; round++) {
		seal_batch(&f, out, 20 + random32() % 200, 4);
		for (size_t i = 0; i < 4; i++) {
			const uint32_t whole = f.pkts[i].out_len, len = random32() % 3 ? whole : random32() % (whole + 1);
			uint8_t *copy = malloc(len ? len : 1);
			gw_pkt p = {.sa = in, .out = copy, .out_len = len, .outer_tos = (uint8_t)random32()};

			memcpy(copy, f.wire[i], len);
			if (len == whole) copy[8 + random32() % (whole - 8)] ^= (uint8_t)(1 + random32() % 255);
			const size_t accepted = gw_open_batch(&p, 1, 0);
			check(accepted == 0 || !authenticated, "a forged packet was accepted", (long)len);
			refused += accepted == 0;
			free(copy);
		}
		for (size_t i = 0; i < 4; i++) f.pkts[i].sa = in;
		if (authenticated) check(gw_open_batch(f.pkts, 4, 0) == 4, "genuine after forged", round);
		release(&f, 4);
	}
	return refused;
}

int main(int argc, char **argv)
{
	gw_err err = {""};
	char name[200];
	size_t opened = 0, refused = 0;

	if (argc != 4) return 2;
	seed = 88172645463325252u + strtoull(argv[3], NULL, 10);
	check(gw_init(&err) == 0, "known answers", 0);
	const int suite = gw_suite_find(argv[1]);
	if (gw_suite_resolve(suite, argv[2], name, sizeof(name), &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	for (uint32_t esn = 0; esn < 2; esn++) {
		const uint32_t flags = GW_SA_LAB | (esn ? GW_SA_ESN : 0);
		gw_suite_info info;
		gw_sa *out = make_sa(suite, argv[2], GW_DIR_OUT, flags, 0);
		gw_sa *in = make_sa(suite, argv[2], GW_DIR_IN, flags, esn ? 65536 : 64);
		gw_sadb *db = gw_sadb_new(4);

		gw_suite_at((size_t)suite, &info);
		check(db && gw_sadb_add(db, in) == 0, "gw_sadb_add", 0);
		/* the receiver finds its SA by SPI */
		flight f;
		seal_batch(&f, out, 100, 3);
		gw_sadb_lookup(db, f.pkts, 3);
		check(gw_open_batch(f.pkts, 3, 0) == 3, "open after look-up", 0);
		release(&f, 3);
		refused += mutations(out, in, info.icv_bytes > 0);
		gw_sa_free(out);
		gw_sadb_free(db);

		out = make_sa(suite, argv[2], GW_DIR_OUT, flags, 0);
		in = make_sa(suite, argv[2], GW_DIR_IN, flags, 1024);
		opened += every_length(out, in);
		gw_sa_free(out);
		gw_sa_free(in);
	}
	printf("%s: opened %zu refused %zu\n", name, opened, refused);
	return 0;
}
