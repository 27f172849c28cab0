/* SPDX-License-Identifier: MIT
 * What sealing and opening cost in memory, without any I/O. SAs come in random order (in runs, where asked), because
 * that is what ten thousand tunnels do to a cache.
 *
 * A section of at least SECTION_PACKETS packets is timed at a time, so that reading the clock does not count. Opening
 * consumes its packets: each section is sealed afresh by the senders' SAs, untimed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../core/clock.h"
#include "../esp/sa.h"

#define SECTION_PACKETS 64u
#define MAX_BATCH       4096u
#define MAX_SAS         100000u
#define FIRST_SPI       0x1000u

typedef struct bench {
	gw_sa **out, **in; /* n_sas each */
	size_t n_sas, run;
	gw_pkt *pkts;
	size_t section, batch;
	uint8_t *plain, *wire; /* section buffers, stride bytes each */
	size_t plain_stride, wire_stride, inner_len;
	uint64_t random; /* xorshift: the same order every time */
	gw_sa *last_out, *last_in;
	size_t left_of_run;
} bench;

static uint64_t next_random(bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

static gw_sa *make_sa(int suite, const char *impl, int direction, uint32_t spi, const uint8_t *keys, gw_err *err)
{
	const gw_sa_params p = {
		.spi = spi,
		.suite = suite,
		.direction = direction,
		.flags = GW_SA_LAB,
		.enc_key = keys,
		.auth_key = keys + 32,
		.salt = keys + 96,
		.impl = impl,
	};
	return gw_sa_new(&p, 0, err);
}

static int make_sas(bench *b, int suite, const char *impl, gw_err *err)
{
	uint8_t keys[100];
	int rc = 0;

	b->out = calloc(b->n_sas, sizeof(gw_sa *));
	b->in = calloc(b->n_sas, sizeof(gw_sa *));
	if (!b->out || !b->in) return -ENOMEM;
	for (size_t i = 0; i < b->n_sas && rc == 0; i++) {
		rc = gw_random(keys, sizeof(keys));
		if (rc != 0) break;
		b->out[i] = make_sa(suite, impl, GW_DIR_OUT, FIRST_SPI + (uint32_t)i, keys, err);
		b->in[i] = make_sa(suite, impl, GW_DIR_IN, FIRST_SPI + (uint32_t)i, keys, err);
		if (!b->out[i] || !b->in[i]) rc = -EINVAL;
	}
	gw_wipe(keys, sizeof(keys));
	return rc;
}

/* An IPv4 UDP packet; only its length and version matter to ESP. */
static void make_packet(uint8_t *p, size_t len)
{
	for (size_t i = 20; i < len; i++) p[i] = (uint8_t)(i * 7);
	p[0] = 0x45;
	gw_store_be16(p + 2, (uint16_t)len);
	p[8] = 64;
	p[9] = 17;
}

static int make_buffers(bench *b)
{
	b->plain_stride = (b->inner_len + 63) & ~(size_t)63;
	b->wire_stride = (gw_seal_len(b->out[0], b->inner_len) + 63 + 64) & ~(size_t)63;
	b->pkts = calloc(b->section, sizeof(gw_pkt));
	b->plain = gw_alloc(b->section * b->plain_stride);
	b->wire = gw_alloc(b->section * b->wire_stride);
	if (!b->pkts || !b->plain || !b->wire) return -ENOMEM;
	for (size_t i = 0; i < b->section; i++) make_packet(b->plain + i * b->plain_stride, b->inner_len);
	return 0;
}

static void next_sa(bench *b)
{
	if (b->left_of_run == 0) {
		const size_t i = b->n_sas == 1 ? 0 : next_random(b) % b->n_sas;
		b->last_out = b->out[i];
		b->last_in = b->in[i];
		b->left_of_run = b->run;
	}
	b->left_of_run--;
}

/* Packets for one section; `receivers` gets the SA that will open each. */
static void fill_section(bench *b, gw_sa **receivers)
{
	for (size_t i = 0; i < b->section; i++) {
		gw_pkt *p = &b->pkts[i];
		next_sa(b);
		receivers[i] = b->last_in;
		p->sa = b->last_out;
		p->in[0] = (gw_span){b->plain + i * b->plain_stride, b->inner_len};
		p->n_in = 1;
		p->out = b->wire + i * b->wire_stride;
		p->out_cap = (uint32_t)b->wire_stride;
		p->next_header = 4;
		p->status = GW_OK;
	}
}

static size_t run_section(bench *b, size_t (*step)(gw_pkt *, size_t, uint64_t))
{
	size_t ok = 0;

	for (size_t i = 0; i < b->section; i += b->batch) ok += step(b->pkts + i, b->batch, 0);
	return ok;
}

static int measure(bench *b, int dir, uint64_t min_ns, gw_bench_sample *out)
{
	gw_sa **receivers = calloc(b->section, sizeof(gw_sa *));
	/* What warms up is not counted: two packets for each SA, since a gateway's have all had some. */
	const uint64_t warm_up = 1 + 2 * b->n_sas / b->section;
	uint64_t ns = 0, cycles = 0, sections = 0;
	int rc = receivers ? 0 : -ENOMEM;

	for (uint64_t round = 0; rc == 0 && (ns < min_ns || round <= warm_up); round++) {
		uint64_t t0, c0, took;
		size_t ok;

		fill_section(b, receivers);
		if (dir == 0) {
			if (run_section(b, gw_seal_batch) != b->section) rc = -EIO;
			for (size_t i = 0; i < b->section; i++) b->pkts[i].sa = receivers[i];
		}
		t0 = gw_now_ns();
		c0 = gw_cycles();
		ok = run_section(b, dir == 0 ? gw_open_batch : gw_seal_batch);
		cycles += round >= warm_up ? gw_cycles() - c0 : 0;
		took = gw_now_ns() - t0;
		if (ok != b->section) rc = -EIO;
		if (round < warm_up) continue;
		ns += took;
		sections++;
	}
	free(receivers);
	out->ns = (double)ns;
	out->cycles = (double)cycles;
	out->ops = sections * b->section;
	out->bytes = out->ops * b->inner_len;
	return rc;
}

static void tear_down(bench *b)
{
	for (size_t i = 0; i < b->n_sas; i++) {
		if (b->out) gw_sa_free(b->out[i]);
		if (b->in) gw_sa_free(b->in[i]);
	}
	free(b->out);
	free(b->in);
	free(b->pkts);
	gw_free_wipe(b->plain, b->section * b->plain_stride);
	gw_free_wipe(b->wire, b->section * b->wire_stride);
}

int gw_bench_esp_runs(int suite, const char *impl, int dir, size_t inner_len, size_t batch, size_t n_sas, size_t run,
					  uint64_t min_ns, gw_bench_sample *out, gw_err *err)
{
	bench b = {.n_sas = n_sas, .run = run, .batch = batch, .inner_len = inner_len, .random = 88172645463325252u};
	int rc;

	err->text[0] = 0;
	memset(out, 0, sizeof(*out));
	if (inner_len < 20 || inner_len > 65535 || batch == 0 || batch > MAX_BATCH || n_sas == 0 || n_sas > MAX_SAS ||
		run == 0) {
		snprintf(err->text, sizeof(err->text),
				 "bench: packets of 20 to 65535 bytes, batches of 1 to %u, 1 to %u SAs, runs of at least 1", MAX_BATCH,
				 MAX_SAS);
		return -EINVAL;
	}
	b.section = (SECTION_PACKETS + batch - 1) / batch * batch;
	rc = make_sas(&b, suite, impl, err);
	if (rc == 0) rc = make_buffers(&b);
	if (rc == 0) rc = measure(&b, dir, min_ns, out);
	if (rc != 0 && !err->text[0])
		snprintf(err->text, sizeof(err->text), rc == -ENOMEM ? "bench: out of memory" : "bench: a packet did not pass");
	tear_down(&b);
	return rc;
}

int gw_bench_esp(int suite, const char *impl, int dir, size_t inner_len, size_t batch, size_t n_sas, uint64_t min_ns,
				 gw_bench_sample *out, gw_err *err)
{
	return gw_bench_esp_runs(suite, impl, dir, inner_len, batch, n_sas, 1, min_ns, out, err);
}

int gw_bench_sa_setup(int suite, const char *impl, size_t n, gw_bench_sample *out, gw_err *err)
{
	uint8_t *keys = NULL;
	gw_sa **made = NULL;
	size_t done = 0;

	err->text[0] = 0;
	memset(out, 0, sizeof(*out));
	if (n == 0 || n > MAX_SAS) {
		snprintf(err->text, sizeof(err->text), "bench: 1 to %u SAs", MAX_SAS);
		return -EINVAL;
	}
	keys = gw_alloc(n * 100);
	made = calloc(n, sizeof(gw_sa *));
	if (keys && made && gw_random(keys, n * 100) == 0) {
		const uint64_t begun_ns = gw_now_ns();
		for (; done < n; done++) {
			made[done] = make_sa(suite, impl, GW_DIR_IN, FIRST_SPI + (uint32_t)done, keys + done * 100, err);
			if (!made[done]) break;
		}
		out->ns = (double)(gw_now_ns() - begun_ns);
		out->ops = done;
	}
	for (size_t i = 0; i < done; i++) gw_sa_free(made[i]);
	free(made);
	gw_free_wipe(keys, n * 100);
	return done == n ? 0 : -ENOMEM;
}
