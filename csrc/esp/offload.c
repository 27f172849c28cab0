/* SPDX-License-Identifier: MIT
 * Two rings of one producer and one consumer each: jobs to the worker, jobs back. The strategies differ in how a ring's
 * two ends keep out of each other's way and in how the one that finds it empty waits.
 */
#include "offload.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/clock.h"

#define STACK_BYTES (256u * 1024)
/* Looks so often before it gives the core away: where there is one core only, spinning alone would never end. */
#define SPINS 256u

typedef struct ring {
	int strategy;
	uint32_t mask;
	gw_offload_job **jobs;
	pthread_mutex_t mutex;
	pthread_cond_t filled;
	atomic_flag spin;
	/* The producer's and the consumer's, a cache line apart. */
	_Alignas(64) atomic_uint head;
	_Alignas(64) atomic_uint tail;
} ring;

struct gw_offload {
	ring there, back;
	pthread_t thread;
	atomic_uint stop;
	_Atomic uint32_t cpu_low, cpu_high; /* 64-bit atomics need a library on e500 and MIPS32 */
	uint32_t under_way;
};

static void relax(uint32_t *spins)
{
	if (++*spins % SPINS == 0) {
		sched_yield();
		return;
	}
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void lock(ring *r)
{
	uint32_t spins = 0;
	if (r->strategy == GW_HANDOVER_MUTEX) pthread_mutex_lock(&r->mutex);
	if (r->strategy == GW_HANDOVER_SPIN)
		while (atomic_flag_test_and_set_explicit(&r->spin, memory_order_acquire)) relax(&spins);
}

static void unlock(ring *r)
{
	if (r->strategy == GW_HANDOVER_MUTEX) pthread_mutex_unlock(&r->mutex);
	if (r->strategy == GW_HANDOVER_SPIN) atomic_flag_clear_explicit(&r->spin, memory_order_release);
}

/* The ring is never full: no more jobs are under way than it has places. */
static void put(ring *r, gw_offload_job *job)
{
	lock(r);
	const uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	r->jobs[head & r->mask] = job;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	if (r->strategy == GW_HANDOVER_MUTEX) pthread_cond_signal(&r->filled);
	unlock(r);
}

static gw_offload_job *try_take(ring *r)
{
	const uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	if (atomic_load_explicit(&r->head, memory_order_acquire) == tail) return NULL;
	gw_offload_job *job = r->jobs[tail & r->mask];
	atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
	return job;
}

/* Waits for a job; NULL when *stop was set and nothing is left. */
static gw_offload_job *take(ring *r, const atomic_uint *stop)
{
	uint32_t spins = 0;
	for (;;) {
		lock(r);
		gw_offload_job *job = try_take(r);
		while (job == NULL && r->strategy == GW_HANDOVER_MUTEX && !(stop && atomic_load(stop))) {
			pthread_cond_wait(&r->filled, &r->mutex);
			job = try_take(r);
		}
		unlock(r);
		if (job != NULL || (stop && atomic_load(stop))) return job;
		relax(&spins);
	}
}

static void *worker(void *argument)
{
	gw_offload *o = (gw_offload *)argument;
	gw_offload_job *job;
	while ((job = take(&o->there, &o->stop)) != NULL) {
		gw_seal_batch(job->pkts, job->n, job->begun_ns);
		const uint64_t cpu = gw_thread_cpu_ns();
		atomic_store_explicit(&o->cpu_low, (uint32_t)cpu, memory_order_relaxed);
		atomic_store_explicit(&o->cpu_high, (uint32_t)(cpu >> 32), memory_order_relaxed);
		put(&o->back, job);
	}
	return NULL;
}

static int init_ring(ring *r, int strategy, uint32_t depth)
{
	r->strategy = strategy;
	r->mask = depth - 1;
	r->jobs = calloc(depth, sizeof(gw_offload_job *));
	atomic_flag_clear(&r->spin);
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->filled, NULL);
	return r->jobs == NULL ? -ENOMEM : 0;
}

static void free_ring(ring *r)
{
	pthread_cond_destroy(&r->filled);
	pthread_mutex_destroy(&r->mutex);
	free(r->jobs);
}

static int start(gw_offload *o)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	sigfillset(&all);
	int rc = pthread_attr_init(&attributes);
	if (rc != 0) return -rc;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&o->thread, &attributes, worker, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -rc;
}

gw_offload *gw_offload_new(int strategy, uint32_t depth, gw_err *err)
{
	gw_offload *o = NULL;
	int rc = 0;
	if (strategy < GW_HANDOVER_MUTEX || strategy > GW_HANDOVER_RING || depth == 0 || (depth & (depth - 1)) != 0)
		rc = -EINVAL;
	else if (posix_memalign((void **)&o, 64, sizeof *o) != 0)
		rc = -ENOMEM;
	if (rc == 0) {
		memset(o, 0, sizeof *o);
		rc = init_ring(&o->there, strategy, depth);
		if (init_ring(&o->back, strategy, depth) != 0) rc = -ENOMEM;
		if (rc == 0) rc = start(o);
		if (rc == 0) return o;
		free_ring(&o->there);
		free_ring(&o->back);
		free(o);
	}
	snprintf(err->text, sizeof err->text, "offload queue: %s", strerror(-rc));
	return NULL;
}

int gw_offload_submit(gw_offload *o, gw_offload_job *job)
{
	if (o->under_way > o->there.mask) return 0;
	o->under_way++;
	put(&o->there, job);
	return 1;
}

gw_offload_job *gw_offload_collect(gw_offload *o)
{
	if (o->under_way == 0) return NULL;
	o->under_way--;
	return take(&o->back, NULL);
}

uint64_t gw_offload_cpu_ns(const gw_offload *o)
{
	return (uint64_t)atomic_load(&o->cpu_high) << 32 | atomic_load(&o->cpu_low);
}

void gw_offload_free(gw_offload *o)
{
	if (o == NULL) return;
	while (gw_offload_collect(o) != NULL) continue;
	lock(&o->there);
	atomic_store(&o->stop, 1);
	pthread_cond_broadcast(&o->there.filled);
	unlock(&o->there);
	pthread_join(o->thread, NULL);
	free_ring(&o->there);
	free_ring(&o->back);
	free(o);
}
