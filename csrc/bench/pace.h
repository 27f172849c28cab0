/* SPDX-License-Identifier: MIT
 * When the next packet of a steady stream is due. Pure: the time is passed in.
 */
#ifndef GW_BENCH_PACE_H
#define GW_BENCH_PACE_H

#include <stdint.h>

typedef struct gw_pace {
	double packets_per_ns; /* 0: as fast as it goes */
	uint64_t start_ns;
	uint64_t slipped_ns; /* by how much the schedule was moved, because the thread did not get to run */
	uint32_t quantum;    /* packets that go together */
} gw_pace;

void gw_pace_start(gw_pace *p, double packets_per_s, uint64_t now_ns);
/* How many packets may go now, `sent` having gone: at most `most`. A stream that is behind by more than two
 * milliseconds and 64 packets does not catch up in one burst, which would measure queues: its schedule moves. */
uint32_t gw_pace_due(gw_pace *p, uint64_t sent, uint32_t most, uint64_t now_ns);
/* When it is worth looking again. */
uint64_t gw_pace_next_ns(const gw_pace *p, uint64_t sent);

#endif
