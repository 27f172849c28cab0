/* SPDX-License-Identifier: MIT
 * Packets whose SA another loop owns: a peer that knows one port only, a policy whose SA exists once. They travel to
 * the owner over a ring, because it alone may touch the SA. What has SAs on every loop (RFC 9611) never comes here.
 */
#include <errno.h>
#include <unistd.h>

#include "loop_state.h"

bool gw_loop_hand(gw_loop *l, uint32_t owner, const gw_handed *head, const uint8_t *data, uint32_t packets)
{
	gw_loop *to = l->all[owner];

	if (!gw_ring_put(to->inbox[l->index], head, data)) return false;
	l->c.handed_over += packets;
	/* Either it sees the record before it sleeps, or we see that it sleeps. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&to->asleep, __ATOMIC_RELAXED)) {
		const uint64_t one = 1;
		while (write(to->wake_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
	}
	return true;
}
