/* SPDX-License-Identifier: MIT
 * Clocks: time is read here and passed in everywhere else. gw_cycles (gwdp.h) is in clock.c.
 */
#ifndef GW_CORE_CLOCK_H
#define GW_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gw_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static inline uint64_t gw_thread_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
