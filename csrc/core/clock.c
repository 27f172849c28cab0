/* SPDX-License-Identifier: MIT
 * The cheapest counter that user space may read on every processor. Its unit differs (TSC, generic timer, time base,
 * nanoseconds), so stage cycles are compared with each other, never with another machine's.
 */
#include "clock.h"

#include "../gwdp.h"

uint64_t gw_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	uint32_t lo, hi;
	__asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t v;
	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#elif defined(__powerpc__) && !defined(__powerpc64__)
	/* e500 reads the time base by mfspr 268 (low) and 269 (high); the high half may move in between */
	uint32_t hi, lo, again;
	do {
		__asm__ __volatile__("mfspr %0, 269\n\tmfspr %1, 268\n\tmfspr %2, 269" : "=r"(hi), "=r"(lo), "=r"(again));
	} while (hi != again);
	return (uint64_t)hi << 32 | lo;
#else
	return gw_now_ns();
#endif
}
