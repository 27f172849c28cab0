/* SPDX-License-Identifier: MIT
 * The peers of a loop: found by address and port when an SA is added, by number for each packet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "udp.h"

#define NONE UINT32_MAX

int gw_peers_init(gw_peers *ps, uint32_t max, bool raw)
{
	*ps = (gw_peers){.max = max, .mask = 15, .raw = raw};
	while (ps->mask < max && ps->mask < UINT32_MAX / 2) ps->mask = ps->mask * 2 + 1;
	ps->peer = calloc(max, sizeof *ps->peer);
	ps->buckets = malloc(((size_t)ps->mask + 1) * sizeof *ps->buckets);
	if (!ps->peer || !ps->buckets) return -ENOMEM;
	memset(ps->buckets, 0xff, ((size_t)ps->mask + 1) * sizeof *ps->buckets);
	for (uint32_t i = 0; i < max; i++) ps->peer[i].next = i + 1 < max ? i + 1 : NONE;
	return 0;
}

void gw_peers_free(gw_peers *ps)
{
	free(ps->peer);
	free(ps->buckets);
}

static uint32_t *bucket_of(const gw_peers *ps, const gw_addr *a)
{
	uint32_t h = 2166136261u ^ a->port;

	for (size_t i = 0; i < sizeof a->bytes; i++) h = (h ^ a->bytes[i]) * 16777619u;
	return &ps->buckets[(h ^ h >> 15) & ps->mask];
}

static void settle_at(gw_peers *ps, uint32_t id, const gw_addr *addr)
{
	gw_peer *p = &ps->peer[id];
	uint32_t *bucket = bucket_of(ps, addr);
	struct sockaddr_storage name;

	p->addr = *addr;
	p->name_len = gw_udp_to_sockaddr(addr, &name);
	memcpy(&p->name, &name, p->name_len);
	if (ps->raw && addr->family == 6) p->name.v6.sin6_port = 0;
	p->gso = true; /* another way, other experiences */
	p->mtu = 0;
	p->learnt_ns = 0;
	p->next = *bucket;
	*bucket = id;
}

static void leave(gw_peers *ps, uint32_t id)
{
	uint32_t *at = bucket_of(ps, &ps->peer[id].addr);

	while (*at != id) at = &ps->peer[*at].next;
	*at = ps->peer[id].next;
}

uint32_t gw_peers_take(gw_peers *ps, const gw_addr *addr)
{
	uint32_t id = *bucket_of(ps, addr);

	while (id != NONE && !gw_addr_same(&ps->peer[id].addr, addr)) id = ps->peer[id].next;
	if (id == NONE) {
		id = ps->free;
		ps->free = ps->peer[id].next;
		settle_at(ps, id, addr);
	}
	ps->peer[id].users++;
	return id;
}

bool gw_peers_release(gw_peers *ps, uint32_t id)
{
	if (--ps->peer[id].users) return false;
	leave(ps, id);
	ps->peer[id].next = ps->free;
	ps->free = id;
	return true;
}

void gw_peers_move(gw_peers *ps, uint32_t id, const gw_addr *to)
{
	leave(ps, id);
	settle_at(ps, id, to);
}
