/* SPDX-License-Identifier: MIT
 * The counter page: one per loop, shared memory (memfd), one writer, any readers.
 *
 * 64-bit values cannot be written atomically on e500 and MIPS32, so each record stands under a sequence number:
 * odd while it is being written. A reader copies, and copies again when the number was odd or has moved.
 */
#ifndef GW_CORE_COUNTERS_H
#define GW_CORE_COUNTERS_H

#include "../gwdp.h"

#define GW_COUNTERS_MAGIC   0x67777062u /* "gwpb" */
#define GW_COUNTERS_VERSION 1u

typedef struct gw_counter_slot { /* 64-byte aligned */
	uint32_t seq;
	uint32_t used;
	gw_sa_counters c;
} __attribute__((aligned(64))) gw_counter_slot;

typedef struct gw_counter_page {
	uint32_t magic, version;
	uint32_t bytes; /* of the whole mapping */
	uint32_t max_slots;
	uint32_t loop_seq;
	uint32_t pid;
	uint32_t search_from; /* where gw_counters_take starts: taking 10,000 slots stays linear */
	uint32_t pad0;
	gw_loop_counters loop;
	gw_counter_slot slots[] __attribute__((aligned(64)));
} gw_counter_page;

/* Memory and its memfd (fd -1 where memfd_create is missing: private memory then). NULL on failure. Another process
 * maps the fd read-only; its layout is this header's, as long as magic and version agree. */
gw_counter_page *gw_counters_new(uint32_t max_slots, int *fd);
void gw_counters_free(gw_counter_page *page, int fd);
gw_counter_slot *gw_counters_take(gw_counter_page *page); /* zeroed, in use; NULL when full */
void gw_counters_release(gw_counter_slot *slot);          /* readers skip it from now on */

static inline void gw_seq_begin(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void gw_seq_end(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELEASE);
}
/* A histogram's bucket (GW_HIST_BUCKETS) of a batch of n >= 1. */
int gw_hist_bucket(uint64_t n);
/* Copies n bytes consistently; spins while the writer is inside. */
void gw_seq_read(const uint32_t *seq, void *to, const void *from, size_t n);

#endif
