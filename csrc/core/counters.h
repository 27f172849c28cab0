/* SPDX-License-Identifier: MIT
 * The counter page: one per loop, shared memory (memfd), one writer, any readers.
 *
 * 64-bit values cannot be written atomically on e500 and MIPS32, so each record stands under a sequence number:
 * odd while it is being written. A reader copies, and copies again when the number was odd or has moved.
 */
#ifndef GW_CORE_COUNTERS_H
#define GW_CORE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "../gwdp.h"

#define GW_COUNTERS_MAGIC   0x67777062u /* "gwpb" */
#define GW_COUNTERS_VERSION 4u

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
	uint32_t slot_bytes;  /* from one slot to the next, so that a reader can tell another build's page */
	gw_loop_counters loop;
	gw_counter_slot slots[] __attribute__((aligned(64)));
} gw_counter_page;

/* Readers are other processes, perhaps of another build: whoever moves a field changes the version, and then these
 * (the same on every ABI that aligns 64-bit values to 8 bytes; i386 alone does not). */
#if !defined(__i386__)
_Static_assert(sizeof(gw_sa_counters) == 208 && sizeof(gw_loop_counters) == 608, "raise GW_COUNTERS_VERSION");
_Static_assert(offsetof(gw_counter_page, loop) == 32 && offsetof(gw_counter_slot, c) == 8, "raise GW_COUNTERS_VERSION");
#endif

/* Memory and its memfd (fd -1 where memfd_create is missing: private memory then). NULL on failure. Another process
 * maps the fd read-only; its layout is this header's, as long as magic and version agree. The memfd is sealed: whoever
 * is handed it can neither cut it short, which would kill the loop, nor (Linux 5.1) write into it. */
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
/* Copies n bytes consistently, and waits while the writer is inside: true. False after some ten thousand tries: a
 * writer that was killed inside stays there, and its reader is another process that must not hang. `to` is then torn.
 */
bool gw_seq_read(const uint32_t *seq, void *to, const void *from, size_t n);

#endif
