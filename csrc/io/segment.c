/* SPDX-License-Identifier: MIT
 * One TUN read -> wire packets: TCP segmentation in user space, and the completion of partial checksums.
 *
 * A segment is two spans. Headers are built in scratch, followed by as much payload as fills a multiple of 64 bytes
 * (the cipher's stride); the rest of the payload is sealed straight out of the TUN buffer. A checksum stands before
 * what it covers, so the payload is read once for it and once by the cipher.
 */
#include <errno.h>

#include "packet.h"

#define IP_LEN   2 /* IPv4 header */
#define IP_ID    4
#define IP_CSUM  10
#define IP6_LEN  4
#define UDP_LEN  4
#define UDP_CSUM 6

/* A sum that came out as zero is sent as 0xffff, its other form: zero would mean "none" in UDP (RFC 768). */
static inline void store_complement(uint8_t *at, uint64_t sum)
{
	uint16_t v = (uint16_t)~gw_csum_fold(sum);
	gw_csum_store(at, v ? v : 0xffff);
}

/* TCP or UDP super-packet: every length that is used later is proved here. */
static int plan_gso(gw_seg_plan *s)
{
	const gw_vnet *v = &s->vnet;
	const uint8_t *p = s->packet;
	uint8_t type = v->gso_type & (uint8_t)~GW_VNET_GSO_ECN, proto = 0;
	int upper = gw_ip_upper(p, s->len, &proto);
	uint32_t transport, payload;

	if (upper < 0 || !v->gso_size) return -EINVAL;
	s->upper = (uint32_t)upper;
	if (type == GW_VNET_GSO_TCPV4 || type == GW_VNET_GSO_TCPV6) {
		if (proto != GW_PROTO_TCP || p[0] >> 4 != (type == GW_VNET_GSO_TCPV4 ? 4 : 6)) return -EINVAL;
		if (s->upper + 20 > s->len) return -EINVAL;
		transport = (uint32_t)(p[s->upper + GW_TCP_DOFF] >> 4) * 4;
		if (transport < 20) return -EINVAL;
	} else if (type == GW_VNET_GSO_UDP_L4) {
		if (proto != GW_PROTO_UDP) return -EINVAL;
		transport = 8;
		s->udp = true;
	} else {
		return -EINVAL;
	}
	if ((v->flags & GW_VNET_NEEDS_CSUM) &&
		(v->csum_start != s->upper || v->csum_offset != (s->udp ? UDP_CSUM : GW_TCP_CSUM)))
		return -EINVAL;
	s->header_len = s->upper + transport;
	if (s->header_len >= s->len || s->header_len > GW_SEG_SCRATCH) return -EINVAL;
	payload = s->len - s->header_len;
	s->payload_bytes = v->gso_size < payload ? v->gso_size : payload;
	s->count = (payload + v->gso_size - 1u) / v->gso_size;
	s->gso = true;
	if (gw_segment_largest(s) > (p[0] >> 4 == 4 ? 65535u : 65535u + 40)) return -EINVAL;
	return 0;
}

/* Sums over the fields that all segments share; what differs is left out here and added by emit. */
static void base_sums(gw_seg_plan *s)
{
	const uint8_t *ip = s->packet, *t = ip + s->upper;

	if (ip[0] >> 4 == 4) {
		s->ip_id = gw_load_be16(ip + IP_ID);
		s->base_ip_sum = gw_csum_load(ip) + gw_csum_load(ip + 6) + gw_csum_load(ip + 8);
		s->base_ip_sum = gw_csum_add(ip + 12, s->upper - 12, s->base_ip_sum);
	}
	if (s->udp) {
		s->base_sum = gw_csum_pseudo(ip, GW_PROTO_UDP, 0, gw_csum_add(t, 4, 0));
	} else {
		uint64_t sum = gw_csum_add(t, GW_TCP_SEQ, 0);
		sum = gw_csum_add(t + 8, 4, sum);
		sum = gw_csum_add(t + 14, 2, sum);
		sum = gw_csum_add(t + 18, s->header_len - s->upper - 18, sum);
		s->base_sum = gw_csum_pseudo(ip, GW_PROTO_TCP, 0, sum);
	}
}

int gw_segment_plan(gw_seg_plan *s, const gw_vnet *vnet, const uint8_t *packet, size_t len)
{
	if (!len || len > 65535 + 40) return -EINVAL;
	*s = (gw_seg_plan){.vnet = *vnet, .packet = packet, .len = (uint32_t)len};
	if ((vnet->gso_type & ~GW_VNET_GSO_ECN) != GW_VNET_GSO_NONE) {
		int bad = plan_gso(s);
		if (bad) return bad;
		base_sums(s);
		return 0;
	}
	s->count = 1;
	s->payload_bytes = s->len;
	if (vnet->flags & GW_VNET_NEEDS_CSUM) {
		/* The field lies behind the network header and inside the packet. */
		uint32_t least = packet[0] >> 4 == 6 ? 40 : 20;
		uint32_t end = (uint32_t)vnet->csum_start + vnet->csum_offset + 2;
		if (vnet->csum_start < least || end > len) return -EINVAL;
		s->header_len = end;
	}
	return 0;
}

uint32_t gw_segment_largest(const gw_seg_plan *s)
{
	return s->gso ? s->header_len + s->payload_bytes : s->len;
}

static void emit_one(const gw_seg_plan *s, uint32_t i, uint8_t *head, gw_seg *out)
{
	const uint8_t *payload = s->packet + s->header_len + (size_t)i * s->payload_bytes;
	uint32_t left = s->len - s->header_len - i * s->payload_bytes;
	uint32_t bytes = left < s->payload_bytes ? left : s->payload_bytes;
	uint32_t take = -s->header_len & 63, total = s->header_len + bytes, upper_len = total - s->upper;
	uint8_t *t = head + s->upper;
	uint64_t sum;

	if (take > bytes) take = bytes;
	memcpy(head, s->packet, s->header_len);
	memcpy(head + s->header_len, payload, take);
	if (head[0] >> 4 == 4) {
		gw_store_be16(head + IP_LEN, (uint16_t)total);
		gw_store_be16(head + IP_ID, (uint16_t)(s->ip_id + i));
		sum = s->base_ip_sum + gw_csum_load(head + IP_LEN) + gw_csum_load(head + IP_ID);
		gw_csum_store(head + IP_CSUM, (uint16_t)~gw_csum_fold(sum));
	} else {
		gw_store_be16(head + IP6_LEN, (uint16_t)(total - 40));
	}
	sum = s->base_sum + GW_BE16((uint16_t)upper_len);
	if (s->udp) {
		gw_store_be16(t + UDP_LEN, (uint16_t)upper_len);
		sum += gw_csum_load(t + UDP_LEN);
		store_complement(t + UDP_CSUM, gw_csum_add(payload, bytes, sum));
	} else {
		/* CWR on the first only, FIN and PSH on the last only. */
		if (i) t[GW_TCP_FLAGS] &= (uint8_t)~GW_TCP_CWR;
		if (i + 1 < s->count) t[GW_TCP_FLAGS] &= (uint8_t) ~(GW_TCP_FIN | GW_TCP_PSH);
		gw_store_be32(t + GW_TCP_SEQ, gw_load_be32(t + GW_TCP_SEQ) + i * s->payload_bytes);
		sum += gw_csum_load(t + GW_TCP_SEQ) + gw_csum_load(t + GW_TCP_SEQ + 2) + gw_csum_load(t + GW_TCP_DOFF);
		gw_csum_store(t + GW_TCP_CSUM, (uint16_t)~gw_csum_fold(gw_csum_add(payload, bytes, sum)));
	}
	*out = (gw_seg){.head = head, .head_len = s->header_len + take, .rest = payload + take, .rest_len = bytes - take};
}

/* A packet that stays whole: only as much of it is copied as the checksum field makes necessary. */
static int emit_whole(const gw_seg_plan *s, uint8_t *head, uint32_t cap, gw_seg *out)
{
	uint32_t copy = (s->header_len + 63) & ~63u;

	if (!copy) copy = 64;
	if (copy > s->len) copy = s->len;
	if (copy > cap) return -EINVAL;
	memcpy(head, s->packet, copy);
	if (s->vnet.flags & GW_VNET_NEEDS_CSUM) {
		uint32_t start = s->vnet.csum_start;
		store_complement(head + start + s->vnet.csum_offset, gw_csum_add(s->packet + start, s->len - start, 0));
	}
	*out = (gw_seg){.head = head, .head_len = copy, .rest = s->packet + copy, .rest_len = s->len - copy};
	return 1;
}

int gw_segment_emit(const gw_seg_plan *s, uint32_t first, uint32_t n, uint8_t *scratch, gw_seg *segs)
{
	if (!n || first >= s->count || n > s->count - first) return -EINVAL;
	if (!s->gso) return emit_whole(s, scratch, n * GW_SEG_SCRATCH, segs);
	for (uint32_t i = 0; i < n; i++) emit_one(s, first + i, scratch + (size_t)i * GW_SEG_SCRATCH, &segs[i]);
	return (int)n;
}

int gw_segment(const gw_vnet *vnet, const uint8_t *packet, size_t len, uint8_t *scratch, gw_seg *segs, size_t max)
{
	gw_seg_plan plan;
	int bad = gw_segment_plan(&plan, vnet, packet, len);

	if (bad) return bad;
	if (plan.count > max) return -EINVAL;
	return gw_segment_emit(&plan, 0, plan.count, scratch, segs);
}
