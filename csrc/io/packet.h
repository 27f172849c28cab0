/* SPDX-License-Identifier: MIT
 * Offsets and names of the header fields that segment.c and coalesce.c touch (RFC 791, 8200, 9293, 768), and the
 * virtio_net_hdr in front of a packet.
 */
#ifndef GW_IO_PACKET_H
#define GW_IO_PACKET_H

#include "../core/mem.h"
#include "io.h"

#define GW_PROTO_TCP    6
#define GW_PROTO_UDP    17
#define GW_PROTO_ICMPV6 58

#define GW_TCP_FIN 0x01
#define GW_TCP_SYN 0x02
#define GW_TCP_RST 0x04
#define GW_TCP_PSH 0x08
#define GW_TCP_URG 0x20
#define GW_TCP_CWR 0x80

/* Offsets inside the TCP header. */
#define GW_TCP_SEQ   4
#define GW_TCP_DOFF  12
#define GW_TCP_FLAGS 13
#define GW_TCP_CSUM  16

/* linux/virtio_net.h, whose names differ between header versions. */
#define GW_VNET_NEEDS_CSUM 1
#define GW_VNET_GSO_NONE   0
#define GW_VNET_GSO_TCPV4  1
#define GW_VNET_GSO_TCPV6  4
#define GW_VNET_GSO_UDP_L4 5
#define GW_VNET_GSO_ECN    0x80

static inline void gw_vnet_load(gw_vnet *v, const uint8_t *p)
{
	v->flags = p[0];
	v->gso_type = p[1];
	v->hdr_len = gw_load_le16(p + 2);
	v->gso_size = gw_load_le16(p + 4);
	v->csum_start = gw_load_le16(p + 6);
	v->csum_offset = gw_load_le16(p + 8);
}

static inline void gw_vnet_store(uint8_t *p, const gw_vnet *v)
{
	p[0] = v->flags;
	p[1] = v->gso_type;
	gw_store_le16(p + 2, v->hdr_len);
	gw_store_le16(p + 4, v->gso_size);
	gw_store_le16(p + 6, v->csum_start);
	gw_store_le16(p + 8, v->csum_offset);
}

/* Native order, as gw_csum_add sums: */
static inline uint64_t gw_csum_load(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}
static inline void gw_csum_store(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, 2);
}

/* Sum of the pseudo-header (RFC 9293 3.1, RFC 8200 8.1) of a packet whose upper-layer part is l4_len bytes. */
static inline uint64_t gw_csum_pseudo(const uint8_t *ip, uint8_t proto, uint32_t l4_len, uint64_t sum)
{
	uint32_t len_be = GW_BE32(l4_len);
	sum += (len_be & 0xffff) + (len_be >> 16) + GW_BE16((uint16_t)proto);
	return ip[0] >> 4 == 4 ? gw_csum_add(ip + 12, 8, sum) : gw_csum_add(ip + 8, 32, sum);
}

/* Can this be a SYN? Cheap, and never wrong when it says no; gw_mss_clamp looks closely. */
static inline bool gw_maybe_syn(const uint8_t *p, size_t len)
{
	size_t at;

	if (len < 40) return false;
	if (p[0] >> 4 == 4) {
		if (p[9] != GW_PROTO_TCP) return false;
		at = (size_t)(p[0] & 15) * 4;
	} else {
		if (p[6] != GW_PROTO_TCP) return p[6] == 0 || p[6] == 43 || p[6] == 60;
		at = 40;
	}
	return at + GW_TCP_FLAGS < len && (p[at + GW_TCP_FLAGS] & GW_TCP_SYN);
}

/* Where the upper-layer header starts and what it is. IPv6: hop-by-hop, routing and destination options are walked
 * over. -1: no IP packet, truncated, or a fragment. */
static inline int gw_ip_upper(const uint8_t *p, size_t len, uint8_t *proto)
{
	if (len >= 20 && p[0] >> 4 == 4) {
		size_t ihl = (size_t)(p[0] & 15) * 4;
		if (ihl < 20 || ihl > len || (gw_load_be16(p + 6) & 0x3fff)) return -1;
		*proto = p[9];
		return (int)ihl;
	}
	if (len < 40 || p[0] >> 4 != 6) return -1;
	size_t at = 40;
	uint8_t next = p[6];
	while (next == 0 || next == 43 || next == 60) {
		if (at + 8 > len) return -1;
		next = p[at];
		at += ((size_t)p[at + 1] + 1) * 8;
		if (at > len) return -1;
	}
	if (next == 44) return -1;
	*proto = next;
	return (int)at;
}

#endif
