/* SPDX-License-Identifier: MIT
 * Inward: UDP receive -> SA by SPI -> one open, in place -> few TUN writes.
 */
#include "loop_state.h"
#include "packet.h"

/* Groups stay open until a receive finds nothing, or has no room: one super-packet of the far client comes in two
 * trains, and while the first was opened the second has probably arrived. */
static bool settle(gw_loop *l, bool found)
{
	bool more = l->ops->more(l->outer) || (found && gw_coalesce_open(l->co));

	if (!more || !l->ops->room(l->outer)) {
		gw_coalesce_flush(l->co);
		l->ops->release(l->outer);
	}
	l->c.coalesce_bad_checksum = gw_coalesce_bad_checksums(l->co);
	gw_loop_stage(l, GW_STAGE_COALESCE);
	return more;
}

/* NAT gave the peer another port, or it moved. Only an authentic packet says so, and only the newest: one that was
 * delayed on the old path, or held back by somebody, moves nothing. */
static void follow_peer(gw_loop *l, const gw_pkt *p, const gw_addr *from)
{
	const uint32_t id = gw_sa_peer_id(p->sa);

	if (!(gw_sa_flags(p->sa) & GW_SA_ROAM) || gw_addr_same(&l->peers.peer[id].addr, from)) return;
	if (gw_load_be32(p->out + 4) != (uint32_t)gw_sa_newest(p->sa)) return;
	gw_peers_move(&l->peers, id, from);
	l->c.peer_moves++;
}

bool gw_loop_in(gw_loop *l, uint64_t now_ns)
{
	int got = l->ops->recv(l->outer, l->in, l->from, GW_LOOP_IN, &l->c);

	gw_loop_stage(l, GW_STAGE_RECV);
	if (got < 0) gw_loop_die(l, got, "receiving from the outer socket");
	if (got <= 0) return settle(l, false);
	gw_loop_in_open(l, (uint32_t)got, false, now_ns);
	return settle(l, true);
}

/* Somebody else's SA? False: then it is nobody's. */
static bool hand_over(gw_loop *l, const gw_pkt *p, const gw_addr *from)
{
	const gw_handed head = {.len = p->out_len, .inward = true, .tos = p->outer_tos, .from = *from};
	uint32_t owner;

	if (p->status != GW_IN_NO_STATES || !gw_sadb_owner(l->sadb, gw_load_be32(p->out), &owner)) return false;
	if (!gw_loop_hand(l, owner, &head, p->out, 1)) l->c.udp_rcvbuf_drops++;
	return true;
}

void gw_loop_in_open(gw_loop *l, uint32_t got, bool handed, uint64_t now_ns)
{
	uint32_t n = 0;

	gw_sadb_lookup(l->sadb, l->in, got);
	for (uint32_t i = 0; i < got; i++) {
		if (!l->in[i].sa) {
			if (l->n_loops == 1 || handed || !hand_over(l, &l->in[i], &l->from[i])) l->c.drops[l->in[i].status]++;
			continue;
		}
		if (n != i) {
			l->in[n] = l->in[i];
			l->from[n] = l->from[i];
		}
		n++;
	}
	if (n) {
		gw_hist_add(l->c.open_batch_hist, n);
		gw_open_batch(l->in, n, now_ns);
	}
	gw_loop_stage(l, GW_STAGE_OPEN);
	for (uint32_t i = 0; i < n; i++) {
		const gw_pkt *p = &l->in[i];
		if (p->status != GW_OK) continue;
		if (l->roaming) follow_peer(l, p, &l->from[i]);
		if (gw_sa_is_transport(p->sa)) {
			gw_loop_unwrap(l, p);
			continue;
		}
		if (l->clamp_mss && gw_maybe_syn(p->inner, p->inner_len))
			l->c.mss_clamped += gw_mss_clamp(p->inner, p->inner_len, l->mtu, false);
		gw_coalesce_add(l->co, p->inner, p->inner_len, l->coalesce);
	}
}
