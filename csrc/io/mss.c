/* SPDX-License-Identifier: MIT
 * MSS clamping (RFC 879 and 9293 3.7.1: the option counts what is behind fixed headers): a TCP that is told the
 * tunnel's size when it begins needs no ICMP to find it, which firewalls like to lose.
 */
#include "packet.h"

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MSS 2

/* Offset of the MSS option's value inside the TCP header, 0: none. */
static uint32_t find_mss(const uint8_t *tcp, uint32_t header_len)
{
	for (uint32_t at = 20; at < header_len;) {
		uint8_t kind = tcp[at];
		if (kind == OPTION_END) return 0;
		if (kind == OPTION_NOP) {
			at++;
			continue;
		}
		if (at + 2 > header_len || tcp[at + 1] < 2 || at + tcp[at + 1] > header_len) return 0;
		if (kind == OPTION_MSS) return tcp[at + 1] == 4 ? at + 2 : 0;
		at += tcp[at + 1];
	}
	return 0;
}

static uint16_t swap16(uint16_t v)
{
	return (uint16_t)(v << 8 | v >> 8);
}

bool gw_mss_clamp(uint8_t *ip, size_t len, uint32_t mtu, bool partial_checksum)
{
	uint8_t proto = 0;
	const int upper = gw_ip_upper(ip, len, &proto);

	if (upper < 0 || proto != GW_PROTO_TCP || (size_t)upper + 20 > len) return false;
	const uint32_t headers = ip[0] >> 4 == 4 ? 40 : 60;
	if (mtu <= headers) return false;
	uint8_t *tcp = ip + upper;
	uint32_t header_len = (uint32_t)(tcp[GW_TCP_DOFF] >> 4) * 4, most = mtu - headers;
	if (!(tcp[GW_TCP_FLAGS] & GW_TCP_SYN) || header_len < 20 || (size_t)upper + header_len > len) return false;
	const uint32_t at = find_mss(tcp, header_len);
	if (most > 65535) most = 65535;
	if (!at) return false;
	const uint16_t old = gw_load_be16(tcp + at), new = (uint16_t)most;
	if (old <= new) return false;
	gw_store_be16(tcp + at, new);
	if (!partial_checksum) {
		/* RFC 1624: ~(~checksum + ~old + new); an option at an odd place adds with its bytes exchanged. */
		uint32_t sum = (uint16_t)~gw_load_be16(tcp + GW_TCP_CSUM);
		sum += at & 1 ? swap16((uint16_t)~old) : (uint16_t)~old;
		sum += at & 1 ? swap16(new) : new;
		sum = (sum & 0xffff) + (sum >> 16);
		gw_store_be16(tcp + GW_TCP_CSUM, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
	}
	return true;
}
