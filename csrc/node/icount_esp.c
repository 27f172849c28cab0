/* SPDX-License-Identifier: MIT
 * Instructions of whole packets, gw_seal_batch and gw_open_batch, for each suite and each composition of
 * implementations. The bytes of a packet are its encrypted length: 1406 of inner packet and 2 of trailer are 1408.
 */
#include <stdio.h>

#include "icount.h"

#define ROOM (ICOUNT_MAX_BYTES + 192)

static uint8_t *plain, *wire; /* ICOUNT_MAX_BATCH * ROOM each */
static gw_pkt pkts[ICOUNT_MAX_BATCH];

static gw_sa *make_sa(int suite, const char *wish, int direction, int mode, gw_err *err)
{
	static const uint8_t keys[132] = {1, 2, 3, 5, 8, 13, 21, [64] = 34, 55};
	const gw_sa_params p = {.spi = 0x1000,
							.suite = suite,
							.direction = direction,
							.mode = mode,
							.flags = GW_SA_LAB | GW_SA_NO_REPLAY,
							.enc_key = keys,
							.auth_key = keys + 64,
							.salt = keys + 128,
							.impl = wish};
	return gw_sa_new(&p, 0, err);
}

static void make_packet(uint8_t *p, size_t len)
{
	memset(p, 0x5a, len);
	if (len < 20) return;
	memset(p, 0, 20);
	p[0] = 0x45;
	gw_store_be16(p + 2, (uint16_t)len);
	p[8] = 64;
	p[9] = 17;
}

static void place(gw_sa *out, size_t inner_len, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		make_packet(plain + i * ROOM + 10, inner_len); /* behind a virtio header */
		pkts[i] = (gw_pkt){.sa = out,
						   .in = {{plain + i * ROOM + 10, inner_len}},
						   .n_in = 1,
						   .out = wire + i * ROOM,
						   .out_cap = ROOM,
						   .next_header = inner_len < 20 ? 17 : 4};
	}
}

static icount measure(gw_sa *out, gw_sa *in, int dir, size_t inner_len, size_t n)
{
	icount c = {0, 0, 0, 0};
	size_t done = 0;
	for (int pass = 0; pass < 2; pass++) {
		place(out, inner_len, n);
		if (!dir) {
			if (gw_seal_batch(pkts, n, 0) != n) break;
			for (size_t i = 0; i < n; i++) pkts[i].sa = in;
		}
		icount start = icount_start();
		done = dir ? gw_seal_batch(pkts, n, 0) : gw_open_batch(pkts, n, 0);
		c = icount_stop(start);
	}
	return done == n ? c : (icount){0, 0, 0, 0};
}

static int count_size(int index, const gw_suite_info *suite, const char *wish, size_t bytes, size_t batch)
{
	/* Two bytes of trailer; too short for an IP packet: transport mode, whose payload may be anything */
	const size_t inner_len = bytes - 2;
	const int mode = inner_len < 20 ? GW_MODE_TRANSPORT : GW_MODE_TUNNEL;
	gw_transform t;
	char name[160];
	gw_err err;
	gw_sa *out = make_sa(index, wish, GW_DIR_OUT, mode, &err), *in = make_sa(index, wish, GW_DIR_IN, mode, &err);
	int failed = !out || !in || gw_transform_resolve(suite->enc_alg, suite->auth_alg, wish, &t, &err);
	for (int dir = 1; dir >= 0 && !failed; dir--) {
		gw_transform_name(&t, name, sizeof name);
		failed |= icount_report(suite->name, name, t.cipher ? t.cipher->tag : t.mac->tag, dir ? "seal" : "open",
								suite->enc_key_bytes * 8, bytes, batch, measure(out, in, dir, inner_len, batch));
	}
	if (out) gw_sa_free(out);
	if (in) gw_sa_free(in);
	return failed;
}

static int count_with(int index, const gw_suite_info *suite, const char *wish, char *seen, size_t seen_len)
{
	gw_transform t;
	char name[160], mark[168];
	gw_err err;
	int failed = 0;
	if (gw_transform_resolve(suite->enc_alg, suite->auth_alg, wish, &t, &err)) return 0; /* not here */
	gw_transform_name(&t, name, sizeof name);
	snprintf(mark, sizeof mark, "[%s]", name);
	if (strstr(seen, mark) || strlen(seen) + strlen(mark) >= seen_len) return 0; /* another wish led to it already */
	strcat(seen, mark);
	for (size_t b = 0; b < ICOUNT_N_BATCHES; b++)
		for (size_t i = 0; i < ICOUNT_N_SIZES; i++)
			failed |= count_size(index, suite, wish, icount_sizes[i], icount_batches[b]);
	return failed;
}

int icount_suites(void)
{
	static const char *const names[] = {"aes128gcm16", "aes256gcm16", "aes128-sha256", "aes256-sha256",
										"chacha20poly1305"};
	int failed = 0;
	plain = gw_alloc(ICOUNT_MAX_BATCH * ROOM);
	wire = gw_alloc(ICOUNT_MAX_BATCH * ROOM);
	for (size_t s = 0; s < sizeof names / sizeof names[0] && plain && wire; s++) {
		gw_suite_info suite;
		char seen[4096] = "";
		int index = gw_suite_find(names[s]);
		if (index < 0 || gw_suite_at((size_t)index, &suite)) return 1;
		failed |= count_with(index, &suite, "auto", seen, sizeof seen);
		failed |= count_with(index, &suite, "accelerated", seen, sizeof seen);
		for (size_t i = 0; i < gw_impl_count(); i++)
			failed |= count_with(index, &suite, gw_impl_at(i)->tag, seen, sizeof seen);
	}
	return failed || !plain || !wire;
}
