/* SPDX-License-Identifier: MIT
 * Path MTUs (RFC 4301 8.2): the kernel hears the routers' ICMP and refuses what is too big with EMSGSIZE; what it then
 * knows of the path bounds the inner packets, whose senders are told by ICMP inward.
 */
#include "loop_state.h"

#define LIFE_NS 600000000000ull /* for as long the kernel believes it, too */
#define ASK_NS  1000000000u

uint32_t gw_loop_inner_mtu(gw_loop *l, const gw_sa *sa, uint64_t now_ns)
{
	gw_peer *p = &l->peers.peer[gw_sa_peer_id(sa)];

	if (l->whole && (!p->learnt_ns || now_ns - p->learnt_ns > ASK_NS)) {
		/* What is cut before sealing must know where, and no packet is ever too big to tell. */
		p->mtu = l->ops->path_mtu(l->outer, p);
		p->learnt_ns = now_ns;
	}
	if (!p->mtu) return l->mtu;
	if (now_ns - p->learnt_ns > LIFE_NS) { /* perhaps it is wider again */
		p->mtu = 0;
		return l->mtu;
	}
	const size_t inner = p->mtu > l->headers ? gw_sa_inner_max(sa, p->mtu - l->headers) : 0;
	return inner && inner < l->mtu ? (uint32_t)inner : l->mtu;
}
