/* SPDX-License-Identifier: MIT
 * Exact sizes on the wire (RFC 4303 2, RFC 3948 2.1). The same formula lays out packets in seal.c, so that the two
 * cannot drift apart.
 */
#include "suite.h"

#define UDP_HEADER 8

static size_t outer_header(int af)
{
	return af == 4 ? 20 : af == 6 ? 40 : 0;
}

/* Longest IP packet: IPv4 counts its header in its 16-bit length, IPv6 does not. */
static size_t outer_max(int af)
{
	return af == 4 ? 65535 : 65535 + 40;
}

size_t gw_wire_len(int suite, int mode, int encap, int outer_af, uint32_t icv_bytes, size_t inner_len)
{
	const gw_suite *s = gw_suite_row(suite);
	const size_t outer = outer_header(outer_af);
	const int icv = s ? gw_suite_icv(s, icv_bytes) : -1;
	size_t plain = inner_len;

	if (icv < 0 || !outer) return 0;
	if (mode == GW_MODE_TRANSPORT) { /* the packet's own header moves outside */
		if (inner_len < outer) return 0;
		plain = inner_len - outer;
	}
	return outer + (encap == GW_ENCAP_UDP ? UDP_HEADER : 0) +
		   gw_esp_len(s->info.iv_bytes, s->info.block_bytes, (uint32_t)icv, plain);
}

size_t gw_inner_mtu(int suite, int mode, int encap, int outer_af, uint32_t icv_bytes, size_t outer_mtu)
{
	const gw_suite *s = gw_suite_row(suite);
	const size_t outer = outer_header(outer_af);
	const int icv = s ? gw_suite_icv(s, icv_bytes) : -1;
	size_t fixed, room;

	if (icv < 0 || !outer) return 0;
	if (outer_mtu > outer_max(outer_af)) outer_mtu = outer_max(outer_af);
	fixed = outer + (encap == GW_ENCAP_UDP ? UDP_HEADER : 0) + 8 + s->info.iv_bytes + (uint32_t)icv;
	if (outer_mtu <= fixed) return 0;
	/* whole blocks only, and the last two bytes of them are pad length and next header */
	room = (outer_mtu - fixed) & ~(size_t)(s->info.block_bytes - 1);
	if (room < 2) return 0;
	return room - 2 + (mode == GW_MODE_TRANSPORT ? outer : 0);
}
