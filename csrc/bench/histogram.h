/* SPDX-License-Identifier: MIT
 * Log-linear histogram: 64 buckets an octave, so that a value is known to 1.6 %, from 1 ns to 68 s. The idea is
 * G. Tene's HdrHistogram.
 */
#ifndef GW_BENCH_HISTOGRAM_H
#define GW_BENCH_HISTOGRAM_H

#include "../gwdp.h"

#define GW_HIST_SUB_BITS 6u
#define GW_HIST_SUB      (1u << GW_HIST_SUB_BITS)

static inline uint32_t gw_latency_bucket(uint64_t ns)
{
	uint32_t top, at;

	if (ns < GW_HIST_SUB) return (uint32_t)ns;
	top = 63u - (uint32_t)__builtin_clzll(ns);
	at = (top - GW_HIST_SUB_BITS + 1) * GW_HIST_SUB + (uint32_t)((ns >> (top - GW_HIST_SUB_BITS)) & (GW_HIST_SUB - 1));
	return at < GW_LATENCY_BUCKETS ? at : GW_LATENCY_BUCKETS - 1;
}

#endif
