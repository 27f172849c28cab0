/* SPDX-License-Identifier: MIT
 * Path MTUs (RFC 4301 8.2): the kernel hears the routers' ICMP and refuses what is too big with EMSGSIZE; what it then
 * knows of the path bounds the inner packets, whose senders are told by ICMP inward.
 */
#include <string.h>

#include "loop_state.h"

void gw_loop_learn_path(gw_loop *l, uint64_t now_ns)
{
	gw_addr peer;
	const uint32_t mtu = l->ops->path_mtu(l->outer, &peer);
	gw_path *p = NULL;

	l->too_big_seen = l->c.udp_send_too_big;
	if (!mtu) return;
	for (uint32_t i = 0; i < l->n_paths; i++)
		if (!memcmp(&l->paths[i].peer, &peer, sizeof peer)) p = &l->paths[i];
	if (!p) {
		p = &l->paths[l->next_path++ % GW_LOOP_PATHS];
		if (l->n_paths < GW_LOOP_PATHS) l->n_paths++;
	}
	*p = (gw_path){peer, mtu, now_ns};
}

uint32_t gw_loop_inner_mtu(gw_loop *l, const gw_sa *sa, uint64_t now_ns)
{
	const gw_addr *peer = gw_sa_peer(sa);

	for (uint32_t i = 0; i < l->n_paths; i++) {
		gw_path *p = &l->paths[i];
		if (memcmp(&p->peer, peer, sizeof *peer) != 0) continue;
		if (now_ns - p->learnt_ns > GW_PATH_LIFE_NS) { /* perhaps it is wider again */
			*p = l->paths[--l->n_paths];
			l->next_path = l->n_paths;
			break;
		}
		const size_t inner = p->mtu > l->headers ? gw_sa_inner_max(sa, p->mtu - l->headers) : 0;
		return inner && inner < l->mtu ? (uint32_t)inner : l->mtu;
	}
	return l->mtu;
}
