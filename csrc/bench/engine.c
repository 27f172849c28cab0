/* SPDX-License-Identifier: MIT
 * What handing packets to another thread costs, by strategy: jobs of a few packets under one SA go through an offload
 * queue, several under way. INLINE seals them where they are made: what an engine has to beat.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core/clock.h"
#include "../esp/offload.h"
#include "../esp/sa.h"

#define DEPTH_MAX 64u
#define BATCH_MAX 64u

typedef struct engine {
	gw_sa *out, *in;
	gw_offload *queue; /* NULL: inline */
	gw_offload_job *jobs;
	gw_pkt *pkts;
	uint8_t *plain, *wire;
	size_t inner_len, batch, depth, plain_stride, wire_stride;
	uint32_t *latency_ns;
	size_t latencies, latencies_max;
	uint64_t ops;
} engine;

static int make_sas(engine *e, int suite, const char *impl, gw_err *err)
{
	uint8_t keys[100];
	const int rc = gw_random(keys, sizeof keys);
	gw_sa_params p = {.spi = 0x1000, .suite = suite, .flags = GW_SA_LAB, .impl = impl};
	p.enc_key = keys;
	p.auth_key = keys + 32;
	p.salt = keys + 96;
	if (rc == 0) {
		p.direction = GW_DIR_OUT;
		e->out = gw_sa_new(&p, 0, err);
		p.direction = GW_DIR_IN;
		p.replay_window = DEPTH_MAX * BATCH_MAX; /* jobs are opened in their places' order, not in that of sealing */
		e->in = gw_sa_new(&p, 0, err);
	}
	gw_wipe(keys, sizeof keys);
	return rc != 0 ? rc : e->out && e->in ? 0 : -EINVAL;
}

static int make_jobs(engine *e)
{
	const size_t n = e->batch * e->depth;
	e->plain_stride = (e->inner_len + 63) & ~(size_t)63;
	e->wire_stride = (gw_seal_len(e->out, e->inner_len) + 127) & ~(size_t)63;
	e->jobs = calloc(e->depth, sizeof *e->jobs);
	e->pkts = calloc(n, sizeof *e->pkts);
	e->plain = gw_alloc(n * e->plain_stride);
	e->wire = gw_alloc(n * e->wire_stride);
	if (!e->jobs || !e->pkts || !e->plain || !e->wire) return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint8_t *packet = e->plain + i * e->plain_stride;
		for (size_t j = 0; j < e->inner_len; j++) packet[j] = (uint8_t)(j * 7);
		packet[0] = 0x45;
		gw_store_be16(packet + 2, (uint16_t)e->inner_len);
	}
	return 0;
}

static void fill(engine *e, gw_offload_job *job)
{
	const size_t first = (size_t)(job - e->jobs) * e->batch;
	job->pkts = e->pkts + first;
	job->n = e->batch;
	for (size_t i = 0; i < e->batch; i++) {
		gw_pkt *p = &job->pkts[i];
		p->sa = e->out;
		p->in[0] = (gw_span){e->plain + (first + i) * e->plain_stride, e->inner_len};
		p->n_in = 1;
		p->out = e->wire + (first + i) * e->wire_stride;
		p->out_cap = (uint32_t)e->wire_stride;
		p->next_header = 4;
		p->status = GW_OK;
	}
	job->begun_ns = gw_now_ns();
}

static int finished(engine *e, const gw_offload_job *job)
{
	const uint64_t ns = gw_now_ns() - job->begun_ns;
	if (e->latencies < e->latencies_max) e->latency_ns[e->latencies++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	e->ops += job->n;
	for (size_t i = 0; i < job->n; i++)
		if (job->pkts[i].status != GW_OK) return -EIO;
	return 0;
}

/* Until the time is over, then until nothing is under way. */
static int pump(engine *e, uint64_t until_ns)
{
	int rc = 0;
	if (e->queue == NULL) {
		do {
			fill(e, e->jobs);
			gw_seal_batch(e->jobs->pkts, e->jobs->n, e->jobs->begun_ns);
			rc = finished(e, e->jobs);
		} while (rc == 0 && gw_now_ns() < until_ns);
		return rc;
	}
	for (size_t i = 0; i < e->depth; i++) {
		fill(e, &e->jobs[i]);
		gw_offload_submit(e->queue, &e->jobs[i]);
	}
	gw_offload_job *job;
	while ((job = gw_offload_collect(e->queue)) != NULL) {
		if (rc == 0) rc = finished(e, job);
		if (rc != 0 || gw_now_ns() >= until_ns) continue;
		fill(e, job);
		gw_offload_submit(e->queue, job);
	}
	return rc;
}

/* What was sealed last opens. */
static int check(engine *e)
{
	const size_t used = e->queue == NULL ? 1 : e->depth;
	for (size_t i = 0; i < used; i++) {
		for (size_t k = 0; k < e->batch; k++) e->jobs[i].pkts[k].sa = e->in;
		if (gw_open_batch(e->jobs[i].pkts, e->batch, gw_now_ns()) != e->batch) return -EBADMSG;
	}
	return 0;
}

int gw_bench_engine(int suite, const char *impl, int strategy, size_t inner_len, size_t batch, size_t depth,
					uint64_t min_ns, gw_bench_sample *out, uint64_t *cpu_ns, uint32_t *latency_ns, size_t *latencies,
					gw_err *err)
{
	engine e = {
		.inner_len = inner_len, .batch = batch, .depth = depth, .latency_ns = latency_ns, .latencies_max = *latencies};
	memset(out, 0, sizeof *out);
	err->text[0] = '\0';
	*latencies = 0;
	cpu_ns[0] = cpu_ns[1] = 0;
	if (inner_len < 20 || inner_len > 9000 || batch == 0 || batch > BATCH_MAX || depth == 0 || depth > DEPTH_MAX ||
		(depth & (depth - 1)) != 0) {
		snprintf(err->text, sizeof err->text,
				 "engine: packets of 20 to 9000 bytes, 1 to %u a job, depths of 1, 2, 4 up to %u", BATCH_MAX,
				 DEPTH_MAX);
		return -EINVAL;
	}
	int rc = make_sas(&e, suite, impl, err);
	if (rc == 0) rc = make_jobs(&e);
	if (rc == 0 && strategy != GW_HANDOVER_INLINE) {
		e.queue = gw_offload_new(strategy, (uint32_t)depth, err);
		if (e.queue == NULL) rc = -EINVAL;
	}
	if (rc == 0) rc = pump(&e, 0); /* warms up */
	if (rc == 0) {
		e.ops = e.latencies = 0;
		const uint64_t worker = e.queue ? gw_offload_cpu_ns(e.queue) : 0, own = gw_thread_cpu_ns();
		const uint64_t begun = gw_now_ns(), cycles = gw_cycles();
		rc = pump(&e, begun + min_ns);
		out->ns = (double)(gw_now_ns() - begun);
		out->cycles = (double)(gw_cycles() - cycles);
		cpu_ns[0] = gw_thread_cpu_ns() - own;
		cpu_ns[1] = (e.queue ? gw_offload_cpu_ns(e.queue) : 0) - worker;
	}
	out->ops = e.ops;
	out->bytes = e.ops * inner_len;
	*latencies = e.latencies;
	gw_offload_free(e.queue);
	if (rc == 0) rc = check(&e);
	if (rc != 0 && err->text[0] == '\0') snprintf(err->text, sizeof err->text, "engine: %s", strerror(-rc));
	gw_sa_free(e.out);
	gw_sa_free(e.in);
	free(e.jobs);
	free(e.pkts);
	if (e.plain) gw_free_wipe(e.plain, batch * depth * e.plain_stride);
	if (e.wire) gw_free_wipe(e.wire, batch * depth * e.wire_stride);
	return rc;
}
