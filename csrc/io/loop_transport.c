/* SPDX-License-Identifier: MIT
 * Transport mode (RFC 4303 3.1.1) at an endpoint: the TUN carries whole packets between the SA's two addresses, ESP
 * what stands behind their IP header. The outer socket makes the one IP header of the wire; what it cannot say again -
 * IPv4 options, hop-by-hop and routing headers, a fragment - is refused. Addresses are the SA's: NAT is not undone.
 */
#include "loop_state.h"
#include "packet.h"

#define TTL 64

static bool between(const gw_sa *sa, const uint8_t *src, const uint8_t *dst, size_t size)
{
	return !memcmp(src, gw_sa_local(sa)->bytes, size) && !memcmp(dst, gw_sa_peer(sa)->bytes, size);
}

bool gw_loop_strip(gw_pkt *p)
{
	gw_span *head = &p->in[0];
	const uint8_t *ip = head->data;
	size_t size = 20;

	if (ip[0] >> 4 == 4) {
		if (ip[0] != 0x45 || (gw_load_be16(ip + 6) & 0x3fff) || !between(p->sa, ip + 12, ip + 16, 4)) return false;
		p->next_header = ip[9];
		p->outer_tos = ip[1];
	} else {
		size = 40;
		if (ip[6] == 0 || ip[6] == 43 || ip[6] == 44 || !between(p->sa, ip + 8, ip + 24, 16)) return false;
		p->next_header = ip[6];
		p->outer_tos = (uint8_t)(ip[0] << 4 | ip[1] >> 4);
	}
	*head = (gw_span){ip + size, head->len - size};
	return true;
}

void gw_loop_unwrap(gw_loop *l, const gw_pkt *p)
{
	static const gw_vnet none;
	uint8_t vnet_head[GW_VNET_LEN] = {0}, ip[40] = {0};
	const gw_addr *from = gw_sa_peer(p->sa), *to = gw_sa_local(p->sa);
	const bool v4 = from->family == 4;

	if (v4) {
		ip[0] = 0x45;
		ip[1] = p->outer_tos;
		gw_store_be16(ip + 2, (uint16_t)(20 + p->inner_len));
		ip[6] = 0x40; /* DF, and then no ID is needed (RFC 6864) */
		ip[8] = TTL;
		ip[9] = p->next_header;
		memcpy(ip + 12, from->bytes, 4);
		memcpy(ip + 16, to->bytes, 4);
		gw_csum_store(ip + 10, (uint16_t)~gw_csum_fold(gw_csum_add(ip, 20, 0)));
	} else {
		ip[0] = (uint8_t)(0x60 | p->outer_tos >> 4);
		ip[1] = (uint8_t)(p->outer_tos << 4);
		gw_store_be16(ip + 4, (uint16_t)p->inner_len);
		ip[6] = p->next_header;
		ip[7] = TTL;
		memcpy(ip + 8, from->bytes, 16);
		memcpy(ip + 24, to->bytes, 16);
	}
	struct iovec iov[3] = {{vnet_head, sizeof vnet_head}, {ip, v4 ? 20 : 40}, {p->inner, p->inner_len}};
	gw_loop_write_tun(l, iov, 3, &none, 1);
}
