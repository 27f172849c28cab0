/* SPDX-License-Identifier: MIT
 * Lifetimes in packets, bytes and seconds (RFC 4301 4.4.2.1), soft and hard. Time is passed in.
 */
#include "sa.h"

static uint64_t age(const gw_sa *sa, uint64_t now_ns)
{
	return now_ns > sa->cold->created_ns ? now_ns - sa->cold->created_ns
										 : 0; /* a caller's clock that steps back ages nothing */
}

bool gw_lifetime_over(gw_sa *sa, uint64_t now_ns)
{
	if (sa->state == GW_SA_STATE_EXPIRED) return true;
	if (!sa->limited || !sa->cold->hard_ns || age(sa, now_ns) < sa->cold->hard_ns) return false;
	sa->state = GW_SA_STATE_EXPIRED;
	return true;
}

uint64_t gw_lifetime_age(gw_sa *sa, uint64_t now_ns)
{
	const uint8_t before = sa->state;
	uint64_t next = UINT64_MAX;

	if (!sa->limited || before == GW_SA_STATE_EXPIRED) return next;
	if (!gw_lifetime_over(sa, now_ns)) {
		if (sa->cold->soft_ns && age(sa, now_ns) >= sa->cold->soft_ns) sa->state = GW_SA_STATE_DYING;
		if (sa->cold->hard_ns) next = sa->cold->created_ns + sa->cold->hard_ns;
		if (sa->cold->soft_ns && sa->state == GW_SA_STATE_VALID && sa->cold->created_ns + sa->cold->soft_ns < next)
			next = sa->cold->created_ns + sa->cold->soft_ns;
	}
	if (sa->state != before) gw_sa_drop(sa, GW_OK, 0); /* nothing dropped: it publishes the state */
	return next;
}

static bool reached(uint64_t value, uint64_t limit)
{
	return limit && value >= limit;
}

int gw_lifetime_take(gw_sa *sa, uint32_t bytes, uint64_t now_ns)
{
	if (sa->limited) {
		const uint64_t packets_after = sa->packets + 1, bytes_after = sa->bytes + bytes;

		if (gw_lifetime_over(sa, now_ns)) return GW_STATE_EXPIRED;
		if ((sa->cold->hard_packets && packets_after > sa->cold->hard_packets) ||
			(sa->cold->hard_bytes && bytes_after > sa->cold->hard_bytes)) {
			sa->state = GW_SA_STATE_EXPIRED;
			return GW_STATE_EXPIRED;
		}
		if (reached(packets_after, sa->cold->soft_packets) || reached(bytes_after, sa->cold->soft_bytes) ||
			reached(age(sa, now_ns), sa->cold->soft_ns))
			sa->state = GW_SA_STATE_DYING;
	}
	sa->packets++;
	sa->bytes += bytes;
	return GW_OK;
}
