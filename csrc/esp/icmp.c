/* SPDX-License-Identifier: MIT
 * "Too big", told inward: ICMP 3/4 (RFC 1191, RFC 1812 4.3.2) and ICMPv6 2/0 (RFC 4443 2.4, 3.2).
 */
#include "../core/mem.h"
#include "esp.h"
#include "selector.h"

enum { PROTO_ICMP = 1, PROTO_ICMPV6 = 58 };

#define V4_MAX 576u  /* RFC 1812 4.3.2.3: as much of the packet as fits into this */
#define V6_MAX 1280u /* the minimum MTU */

static uint32_t sum16(const uint8_t *p, size_t len, uint32_t sum)
{
	for (; len > 1; p += 2, len -= 2) sum += gw_load_be16(p);
	return len ? sum + ((uint32_t)*p << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* RFC 1122 3.2.2: never about ICMP errors, later fragments, or packets without one definite sender. */
static bool answerable_v4(const uint8_t *p, size_t len)
{
	const size_t header = (size_t)(p[0] & 15) * 4;
	const uint8_t first = p[12];

	if (header < 20 || header > len) return false;
	if (gw_load_be16(p + 6) & 0x1fff) return false;
	if (first == 0 || first == 127 || first >= 224 || p[16] >= 224) return false;
	if (p[9] != PROTO_ICMP) return true;
	if (len < header + 1) return false;
	switch (p[header]) { /* queries and their answers only */
	case 0:
	case 8:
	case 13:
	case 14: return true;
	default: return false;
	}
}

static size_t too_big_v4(const uint8_t *packet, size_t len, uint32_t mtu, const gw_addr *from, uint8_t *out, size_t cap)
{
	const size_t quote = len < V4_MAX - 28 ? len : V4_MAX - 28;
	const size_t total = 28 + quote;

	if (len < 20 || !answerable_v4(packet, len) || cap < total) return 0;
	memset(out, 0, 28);
	out[0] = 0x45;
	out[1] = 0xc0; /* RFC 1812 4.3.2.5: internetwork control */
	gw_store_be16(out + 2, (uint16_t)total);
	out[8] = 64;
	out[9] = PROTO_ICMP;
	memcpy(out + 12, from && from->family == 4 ? from->bytes : packet + 16, 4);
	memcpy(out + 16, packet + 12, 4);
	gw_store_be16(out + 10, fold(sum16(out, 20, 0)));
	out[20] = 3;
	out[21] = 4;
	gw_store_be16(out + 26, (uint16_t)(mtu > 65535 ? 65535 : mtu));
	memcpy(out + 28, packet, quote);
	gw_store_be16(out + 22, fold(sum16(out + 20, 8 + quote, 0)));
	return total;
}

static bool answerable_v6(const uint8_t *p, size_t len)
{
	static const uint8_t unspecified[16];
	gw_flow flow;

	if (p[8] == 0xff || memcmp(p + 8, unspecified, 16) == 0) return false;
	if (!gw_flow_of_packet(p, len, &flow)) return false;
	return flow.proto != PROTO_ICMPV6 || (flow.has_ports && flow.sport >= 128); /* type: below 128 are errors */
}

static size_t too_big_v6(const uint8_t *packet, size_t len, uint32_t mtu, const gw_addr *from, uint8_t *out, size_t cap)
{
	const size_t quote = len < V6_MAX - 48 ? len : V6_MAX - 48;
	const size_t total = 48 + quote;
	uint32_t pseudo;

	if (len < 40 || !answerable_v6(packet, len) || cap < total) return 0;
	/* a multicast destination is answered too (RFC 4443 2.4 e.3), but not in its name */
	if (packet[24] == 0xff && !(from && from->family == 6)) return 0;
	memset(out, 0, 48);
	out[0] = 0x60;
	gw_store_be16(out + 4, (uint16_t)(8 + quote));
	out[6] = PROTO_ICMPV6;
	out[7] = 64;
	memcpy(out + 8, from && from->family == 6 ? from->bytes : packet + 24, 16);
	memcpy(out + 24, packet + 8, 16);
	out[40] = 2;
	gw_store_be32(out + 44, mtu);
	memcpy(out + 48, packet, quote);
	pseudo = sum16(out + 8, 32, (uint32_t)(8 + quote) + PROTO_ICMPV6);
	gw_store_be16(out + 42, fold(sum16(out + 40, 8 + quote, pseudo)));
	return total;
}

size_t gw_icmp_too_big(const uint8_t *packet, size_t len, uint32_t mtu, const gw_addr *from, uint8_t *out, size_t cap)
{
	if (len == 0) return 0;
	switch (packet[0] >> 4) {
	case 4: return too_big_v4(packet, len, mtu, from, out, cap);
	case 6: return too_big_v6(packet, len, mtu, from, out, cap);
	default: return 0;
	}
}
