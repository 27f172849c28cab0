/* SPDX-License-Identifier: MIT
 * The counter page: creation, slots, and the reader's side of the seqlock.
 */
#include "counters.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names that older C libraries lack. */
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#endif
#ifndef MFD_ALLOW_SEALING
#define MFD_ALLOW_SEALING 2u
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS   1033
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW   4
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 16
#endif

#define PATIENT_TRIES 64    /* then the writer was probably preempted: give it the CPU, which may be the only one */
#define MAX_TRIES     10000 /* then it was killed */

static int memfd(void)
{
#ifdef SYS_memfd_create
	/* The system call, not the wrapper: glibc has one only since 2.27. */
	return (int)syscall(SYS_memfd_create, "gwbench-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
#else
	return -1;
#endif
}

gw_counter_page *gw_counters_new(uint32_t max_slots, int *fd)
{
	const uint64_t bytes = sizeof(gw_counter_page) + (uint64_t)max_slots * sizeof(gw_counter_slot);
	gw_counter_page *page;

	*fd = -1;
	if (max_slots == 0 || bytes > UINT32_MAX / 2) return NULL;
	*fd = memfd();
	if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) != 0) {
		close(*fd);
		*fd = -1;
	}
	page =
		mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, *fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, *fd, 0);
	if (page == MAP_FAILED) {
		if (*fd >= 0) close(*fd);
		*fd = -1;
		return NULL;
	}
	if (*fd >= 0) { /* by itself each, because an older kernel refuses a set that it does not know whole */
		(void)fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
		(void)fcntl(*fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	}
	page->magic = GW_COUNTERS_MAGIC;
	page->version = GW_COUNTERS_VERSION;
	page->bytes = (uint32_t)bytes;
	page->max_slots = max_slots;
	page->slot_bytes = sizeof(gw_counter_slot);
	page->pid = (uint32_t)getpid();
	return page;
}

void gw_counters_free(gw_counter_page *page, int fd)
{
	if (page) munmap(page, page->bytes);
	if (fd >= 0) close(fd);
}

gw_counter_slot *gw_counters_take(gw_counter_page *page)
{
	for (uint32_t tried = 0; tried < page->max_slots; tried++) {
		gw_counter_slot *slot = &page->slots[(page->search_from + tried) % page->max_slots];

		if (slot->used) continue;
		gw_seq_begin(&slot->seq);
		memset(&slot->c, 0, sizeof(slot->c));
		slot->used = 1;
		gw_seq_end(&slot->seq);
		page->search_from = (uint32_t)(slot - page->slots) + 1;
		return slot;
	}
	return NULL;
}

void gw_counters_release(gw_counter_slot *slot)
{
	gw_seq_begin(&slot->seq);
	slot->used = 0;
	gw_seq_end(&slot->seq);
}

bool gw_seq_read(const uint32_t *seq, void *to, const void *from, size_t n)
{
	for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
		const uint32_t before = __atomic_load_n(seq, __ATOMIC_ACQUIRE);

		if (before & 1) {
			if (tries >= PATIENT_TRIES) sched_yield();
			continue;
		}
		memcpy(to, from, n);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(seq, __ATOMIC_RELAXED) == before) return true;
	}
	return false;
}

int gw_hist_bucket(uint64_t n)
{
	if (n <= 1) return 0;
	if (n > 128) return GW_HIST_BUCKETS - 1;
	return 64 - __builtin_clzll(n - 1);
}
