/* SPDX-License-Identifier: MIT
 * A steady stream by counting what should have gone, so that late wake-ups leave no trace in the rate.
 */
#include "pace.h"

#define QUANTUM_NS   100000.0 /* what goes together: a sleep is not shorter */
#define QUANTUM_MOST 64u
#define LAG_NS       2000000.0 /* caught up with in one burst, */
#define LAG_PACKETS  64.0      /* and so are a few packets, however long they took */

void gw_pace_start(gw_pace *p, double packets_per_s, uint64_t now_ns)
{
	const double quantum = packets_per_s / 1e9 * QUANTUM_NS;

	p->packets_per_ns = packets_per_s / 1e9;
	p->start_ns = now_ns;
	p->slipped_ns = 0;
	p->quantum = quantum < 1 ? 1 : quantum > QUANTUM_MOST ? QUANTUM_MOST : (uint32_t)quantum;
}

uint32_t gw_pace_due(gw_pace *p, uint64_t sent, uint32_t most, uint64_t now_ns)
{
	double due, behind, most_ns;

	if (p->packets_per_ns <= 0) return most;
	due = (double)(now_ns - p->start_ns) * p->packets_per_ns + 1; /* the first goes at once */
	behind = (due - (double)sent) / p->packets_per_ns;
	most_ns = LAG_PACKETS / p->packets_per_ns;
	if (most_ns < LAG_NS) most_ns = LAG_NS;
	if (behind > most_ns) {
		const uint64_t slip = (uint64_t)(behind - most_ns);
		p->start_ns += slip;
		p->slipped_ns += slip;
		due -= (double)slip * p->packets_per_ns;
	}
	if (due < (double)sent + 1) return 0;
	due -= (double)sent;
	return due > most ? most : (uint32_t)due;
}

uint64_t gw_pace_next_ns(const gw_pace *p, uint64_t sent)
{
	if (p->packets_per_ns <= 0) return p->start_ns;
	return p->start_ns + (uint64_t)((double)(sent + p->quantum - 1) / p->packets_per_ns);
}
