/* SPDX-License-Identifier: MIT
 * Opened packets -> few TUN writes, by the rule of the kernel's GRO: what is joined here, the kernel can cut again
 * into the very packets that were joined.
 *
 * A few flows are open at a time, each with one group. Payload is never moved: a group is a list of pieces behind
 * one rebuilt header. The inner checksum of each packet is verified before it joins (afterwards the kernel is told
 * to trust it); a packet that cannot join flushes its own flow first, so that no flow is reordered.
 */
#include <stdlib.h>

#include "packet.h"

#define FLOWS   8
#define PIECES  128 /* a super-packet of more would only be one of tiny segments */
#define LARGEST 65535u
#define IP_DF   0x40

/* FIN and PSH may stand on the last segment; these never join. */
#define NEVER (GW_TCP_SYN | GW_TCP_RST | GW_TCP_URG | GW_TCP_CWR)
#define ENDS  (GW_TCP_FIN | GW_TCP_PSH)

typedef struct view { /* a packet that is TCP without IP options or extension headers */
	const uint8_t *p;
	uint32_t len, upper, header_len, payload, seq;
	uint16_t id;
	uint8_t flags;
	bool v4;
} view;

typedef struct group {
	view first;
	uint32_t n; /* 0 = free */
	uint32_t payload, next_seq;
	uint8_t flags;
	uint64_t age;
	struct iovec iov[1 + PIECES];
	uint8_t head[GW_VNET_LEN + 40 + 60];
} group;

struct gw_coalesce {
	gw_flush_fn flush;
	void *arg;
	uint32_t open, recent; /* groups in use; where the last packet joined */
	uint64_t age, bad_checksums;
	uint8_t plain_head[GW_VNET_LEN];
	group groups[FLOWS];
};

gw_coalesce *gw_coalesce_new(gw_flush_fn flush, void *arg)
{
	gw_coalesce *co = calloc(1, sizeof *co);
	if (!co) return NULL;
	co->flush = flush;
	co->arg = arg;
	return co;
}

void gw_coalesce_free(gw_coalesce *co)
{
	free(co);
}

uint64_t gw_coalesce_bad_checksums(const gw_coalesce *co)
{
	return co->bad_checksums;
}

bool gw_coalesce_open(const gw_coalesce *co)
{
	return co->open;
}

/* False: not TCP, or TCP that never joins because of what stands around it. */
static bool parse(const uint8_t *p, uint32_t len, view *v)
{
	v->p = p;
	v->len = len;
	if (len >= 40 && p[0] == 0x45) {
		if (p[9] != GW_PROTO_TCP || gw_load_be16(p + 2) != len || (gw_load_be16(p + 6) & 0xbfff)) return false;
		v->v4 = true;
		v->upper = 20;
		v->id = gw_load_be16(p + 4);
	} else if (len >= 60 && p[0] >> 4 == 6) {
		if (p[6] != GW_PROTO_TCP || gw_load_be16(p + 4) != len - 40) return false;
		v->v4 = false;
		v->upper = 40;
		v->id = 0;
	} else {
		return false;
	}
	const uint8_t *t = p + v->upper;
	uint32_t tcp_len = (uint32_t)(t[GW_TCP_DOFF] >> 4) * 4;
	v->header_len = v->upper + tcp_len;
	if (tcp_len < 20 || v->header_len > len) return false;
	v->payload = len - v->header_len;
	v->seq = gw_load_be32(t + GW_TCP_SEQ);
	v->flags = t[GW_TCP_FLAGS];
	return true;
}

static bool checksums_right(const view *v)
{
	uint32_t upper_len = v->len - v->upper;
	if (v->v4 && gw_csum_fold(gw_csum_add(v->p, 20, 0)) != 0xffff) return false;
	uint64_t sum = gw_csum_pseudo(v->p, GW_PROTO_TCP, upper_len, 0);
	return gw_csum_fold(gw_csum_add(v->p + v->upper, upper_len, sum)) == 0xffff;
}

static bool same_addresses(const uint8_t *a, const uint8_t *b)
{
	if (a[0] >> 4 != b[0] >> 4) return false;
	return a[0] >> 4 == 4 ? !memcmp(a + 12, b + 12, 8) : !memcmp(a + 8, b + 8, 32);
}

/* Addresses and ports stand side by side: one comparison. */
static inline bool same_flow(const view *a, const view *b)
{
	if (a->v4 != b->v4) return false;
	return a->v4 ? !memcmp(a->p + 12, b->p + 12, 12) : !memcmp(a->p + 8, b->p + 8, 36);
}

static group *find(gw_coalesce *co, const view *v)
{
	if (!co->open) return NULL;
	group *g = &co->groups[co->recent];
	if (g->n && same_flow(&g->first, v)) return g;
	for (uint32_t i = 0; i < FLOWS; i++) {
		g = &co->groups[i];
		if (!g->n || !same_flow(&g->first, v)) continue;
		co->recent = i;
		return g;
	}
	return NULL;
}

static bool can_join(const group *g, const view *v)
{
	const view *f = &g->first;
	const uint8_t *a = f->p, *b = v->p, *s = a + f->upper, *t = b + v->upper;
	uint32_t full = f->payload, room = LARGEST - (f->v4 ? f->header_len : f->header_len - 40);

	if (v->header_len != f->header_len || v->seq != g->next_seq) return false;
	if (v->payload > full || g->payload + v->payload > room || g->n == PIECES) return false;
	if (f->v4) { /* TOS with ECN; DF and the reserved bit; TTL */
		if (a[1] != b[1] || (a[6] ^ b[6]) & 0xe0 || a[8] != b[8]) return false;
		if (!(a[6] & IP_DF) && v->id != (uint16_t)(f->id + g->n)) return false;
	} else { /* traffic class and flow label; hop limit */
		if (memcmp(a, b, 4) != 0 || a[7] != b[7]) return false;
	}
	/* ack; data offset and reserved bits; flags but those that end a group; window; options */
	return !memcmp(s + 8, t + 8, 5) && !((s[GW_TCP_FLAGS] ^ t[GW_TCP_FLAGS]) & ~ENDS) && !memcmp(s + 14, t + 14, 2) &&
		   !memcmp(s + 20, t + 20, f->header_len - f->upper - 20);
}

static void write_alone(gw_coalesce *co, const uint8_t *p, uint32_t len)
{
	static const gw_vnet none;
	struct iovec iov[2] = {{co->plain_head, GW_VNET_LEN}, {(void *)(uintptr_t)p, len}};
	co->flush(co->arg, iov, 2, &none, 1);
}

static void flush_group(gw_coalesce *co, group *g)
{
	const view *f = &g->first;
	uint32_t n = g->n;

	g->n = 0;
	co->open--;
	if (n == 1) {
		write_alone(co, f->p, f->len);
		return;
	}
	uint8_t *ip = g->head + GW_VNET_LEN, *t = ip + f->upper;
	uint32_t total = f->header_len + g->payload;
	memcpy(ip, f->p, f->header_len);
	t[GW_TCP_FLAGS] = g->flags;
	if (f->v4) {
		gw_store_be16(ip + 2, (uint16_t)total);
		memset(ip + 10, 0, 2);
		gw_csum_store(ip + 10, (uint16_t)~gw_csum_fold(gw_csum_add(ip, 20, 0)));
	} else {
		gw_store_be16(ip + 4, (uint16_t)(total - 40));
	}
	/* Partial: the pseudo-header only. Whoever puts the packet on a wire completes it. */
	gw_csum_store(t + GW_TCP_CSUM, gw_csum_fold(gw_csum_pseudo(ip, GW_PROTO_TCP, total - f->upper, 0)));
	gw_vnet vnet = {
		.flags = GW_VNET_NEEDS_CSUM,
		.gso_type = f->v4 ? GW_VNET_GSO_TCPV4 : GW_VNET_GSO_TCPV6,
		.hdr_len = (uint16_t)f->header_len,
		.gso_size = (uint16_t)f->payload,
		.csum_start = (uint16_t)f->upper,
		.csum_offset = GW_TCP_CSUM,
	};
	gw_vnet_store(g->head, &vnet);
	g->iov[0] = (struct iovec){g->head, GW_VNET_LEN + f->header_len};
	co->flush(co->arg, g->iov, (int)n + 1, &vnet, n);
}

/* What cannot be told apart by ports (a fragment, an extension header) may belong to any flow of its addresses. */
static void flush_addresses(gw_coalesce *co, const uint8_t *p, uint32_t len)
{
	if (!co->open || len < (p[0] >> 4 == 4 ? 20 : 40)) return;
	if (p[0] >> 4 == 4 ? p[9] != GW_PROTO_TCP : p[6] == GW_PROTO_UDP || p[6] == GW_PROTO_ICMPV6) return;
	for (uint32_t i = 0; i < FLOWS; i++) {
		group *g = &co->groups[i];
		if (g->n && same_addresses(g->first.p, p)) flush_group(co, g);
	}
}

static void add_piece(group *g, const view *v)
{
	g->n++;
	g->iov[g->n] = (struct iovec){(void *)(uintptr_t)(v->p + v->header_len), v->payload};
	g->payload += v->payload;
	g->next_seq = v->seq + v->payload;
	g->flags |= v->flags;
}

static void start_group(gw_coalesce *co, const view *v)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < FLOWS; i++) {
		if (!co->groups[i].n) {
			at = i;
			break;
		}
		if (co->groups[i].age < co->groups[at].age) at = i;
	}
	group *g = &co->groups[at];
	if (g->n) flush_group(co, g);
	g->first = *v;
	g->payload = 0;
	g->flags = 0;
	g->age = ++co->age;
	add_piece(g, v);
	co->recent = at;
	co->open++;
}

void gw_coalesce_add(gw_coalesce *co, const uint8_t *packet, uint32_t len, bool join)
{
	view v;

	if (!len) return;
	if (!join || !parse(packet, len, &v)) {
		if (join) flush_addresses(co, packet, len);
		write_alone(co, packet, len);
		return;
	}
	group *g = find(co, &v);
	bool joins = v.payload && !(v.flags & NEVER);
	if (joins && !checksums_right(&v)) {
		co->bad_checksums++;
		joins = false;
	}
	if (g && joins && can_join(g, &v)) {
		add_piece(g, &v);
		if (v.payload < g->first.payload || (v.flags & ENDS)) flush_group(co, g);
		return;
	}
	if (g) flush_group(co, g);
	if (joins && !(v.flags & ENDS))
		start_group(co, &v);
	else
		write_alone(co, packet, len);
}

void gw_coalesce_flush(gw_coalesce *co)
{
	for (uint32_t i = 0; co->open && i < FLOWS; i++)
		if (co->groups[i].n) flush_group(co, &co->groups[i]);
}
