/* SPDX-License-Identifier: MIT
 * What generator and sink agree on: the first bytes of every payload, and the pattern behind them. A 64-byte Ethernet
 * frame has 18 bytes of UDP payload.
 */
#ifndef GW_BENCH_LOAD_H
#define GW_BENCH_LOAD_H

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include "../core/mem.h"

#define GW_LOAD_MAGIC   0x6757u
#define GW_LOAD_BYTES   16u /* magic 2, trial 2, number 4, sent at 8 (CLOCK_REALTIME, as the kernel stamps arrivals) */
#define GW_LOAD_HEADERS 28u /* IPv4 and UDP */
#define GW_LOAD_STACK   (256u << 10)

static inline uint8_t gw_load_pattern(size_t at)
{
	return (uint8_t)(at * 7 + 3);
}

static inline uint64_t gw_load_clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void gw_load_put(uint8_t *p, uint16_t trial, uint32_t number, uint64_t now_ns)
{
	gw_store_be16(p, GW_LOAD_MAGIC);
	gw_store_be16(p + 2, trial);
	gw_store_be32(p + 4, number);
	gw_store_be64(p + 8, now_ns);
}

/* No signal interrupts it, and musl's default stack would be too small. 0 or -errno. */
static inline int gw_load_thread(pthread_t *thread, void *(*run)(void *), void *of)
{
	pthread_attr_t attr;
	sigset_t all, former;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, GW_LOAD_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &former);
	rc = -pthread_create(thread, &attr, run, of);
	pthread_sigmask(SIG_SETMASK, &former, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

#endif
