/* SPDX-License-Identifier: MIT
 * What other loops gave to this one (loop_give.c) goes the way of what came by itself.
 */
#include "loop_state.h"
#include "packet.h"

bool gw_loop_handed(const gw_loop *l)
{
	for (uint32_t i = 0; i < l->n_loops; i++)
		if (i != l->index && gw_ring_waiting(l->inbox[i])) return true;
	return false;
}

static void take_ring(gw_loop *l, gw_ring *r, uint64_t now_ns)
{
	uint32_t n = 0;
	gw_handed *h;

	while (n < GW_LOOP_IN && (h = gw_ring_get(r))) {
		if (!h->inward) {
			gw_loop_out_handed(l, gw_handed_data(h), h->len, now_ns);
			continue;
		}
		l->in[n].out = gw_handed_data(h);
		l->in[n].out_len = h->len;
		l->in[n].outer_tos = h->tos;
		l->in[n].status = GW_OK;
		l->from[n++] = h->from;
	}
	l->c.taken_over += n;
	if (n) gw_loop_in_open(l, n, true, now_ns);
	gw_coalesce_flush(l->co); /* nothing may lie in the ring any longer */
	gw_loop_stage(l, GW_STAGE_COALESCE);
	gw_loop_seal_rest(l, now_ns);
	gw_ring_release(r);
}

bool gw_loop_take_over(gw_loop *l, uint64_t now_ns)
{
	for (uint32_t i = 0; i < l->n_loops; i++)
		if (i != l->index && gw_ring_waiting(l->inbox[i])) take_ring(l, l->inbox[i], now_ns);
	return gw_loop_handed(l);
}
