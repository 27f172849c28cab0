/* SPDX-License-Identifier: MIT
 * An offload queue: a worker thread seals batches that one other thread hands over, as an engine would. How they are
 * handed over is a strategy, because that is what drivers of engines are argued about: a lock that sleeps, a lock that
 * spins, no lock. One thread submits and collects; jobs come back in the order in which they were submitted.
 */
#ifndef GW_ESP_OFFLOAD_H
#define GW_ESP_OFFLOAD_H

#include "../gwdp.h"

typedef struct gw_offload_job {
	gw_pkt *pkts;
	size_t n;
	uint64_t begun_ns; /* the submitter's */
} gw_offload_job;

typedef struct gw_offload gw_offload;

/* strategy: GW_HANDOVER_* but INLINE. depth: jobs under way at most, a power of two. NULL with a line in *err. */
gw_offload *gw_offload_new(int strategy, uint32_t depth, gw_err *err);
/* False: depth jobs are under way. */
int gw_offload_submit(gw_offload *o, gw_offload_job *job);
/* The oldest finished job; waits for it. NULL when none is under way. */
gw_offload_job *gw_offload_collect(gw_offload *o);
/* CPU time that the worker has used, read while it is idle. */
uint64_t gw_offload_cpu_ns(const gw_offload *o);
/* Finishes what is under way, joins. Safe on NULL. */
void gw_offload_free(gw_offload *o);

#endif
