/* SPDX-License-Identifier: MIT
 * Traffic selectors. Lengths come from the wire and are checked before every read.
 */
#include "selector.h"

#include <string.h>

#include "../core/mem.h"

enum { HOPOPTS = 0, ICMP = 1, TCP = 6, UDP = 17, DCCP = 33, ROUTING = 43, FRAGMENT = 44, AH = 51 };
enum { ICMPV6 = 58, DSTOPTS = 60, SCTP = 132, MOBILITY = 135, UDPLITE = 136 };

#define MAX_EXTENSION_HEADERS 8 /* nobody sends more in earnest */

static void read_ports(gw_flow *f, const uint8_t *p, size_t len)
{
	switch (f->proto) {
	case TCP:
	case UDP:
	case DCCP:
	case SCTP:
	case UDPLITE:
		if (len < 4) return;
		f->sport = gw_load_be16(p);
		f->dport = gw_load_be16(p + 2);
		break;
	case ICMP:
	case ICMPV6:
		if (len < 2) return;
		f->sport = p[0];
		f->dport = p[1];
		break;
	default: return;
	}
	f->has_ports = true;
}

static bool flow_v4(const uint8_t *p, size_t len, gw_flow *f)
{
	size_t header;

	if (len < 20) return false;
	header = (size_t)(p[0] & 15) * 4;
	if (header < 20 || header > len) return false;
	f->family = 4;
	f->src = p + 12;
	f->dst = p + 16;
	f->proto = p[9];
	if ((gw_load_be16(p + 6) & 0x1fff) == 0) read_ports(f, p + header, len - header);
	return true;
}

static bool flow_v6(const uint8_t *p, size_t len, gw_flow *f)
{
	size_t at = 40;

	if (len < 40) return false;
	f->family = 6;
	f->src = p + 8;
	f->dst = p + 24;
	f->proto = p[6];
	for (int i = 0; i < MAX_EXTENSION_HEADERS; i++) {
		size_t step;

		switch (f->proto) {
		case HOPOPTS:
		case ROUTING:
		case DSTOPTS:
		case MOBILITY:
			if (len - at < 8) return true;
			step = ((size_t)p[at + 1] + 1) * 8;
			break;
		case FRAGMENT:
			if (len - at < 8) return true;
			if (gw_load_be16(p + at + 2) & 0xfff8) { /* a later fragment: the protocol is told, ports are not */
				f->proto = p[at];
				return true;
			}
			step = 8;
			break;
		case AH:
			if (len - at < 8) return true;
			step = ((size_t)p[at + 1] + 2) * 4;
			break;
		default: read_ports(f, p + at, len - at); return true;
		}
		if (step > len - at) return true;
		f->proto = p[at];
		at += step;
	}
	return true;
}

bool gw_flow_of_packet(const uint8_t *packet, size_t len, gw_flow *out)
{
	memset(out, 0, sizeof(*out));
	if (len == 0) return false;
	switch (packet[0] >> 4) {
	case 4: return flow_v4(packet, len, out);
	case 6: return flow_v6(packet, len, out);
	default: return false;
	}
}

void gw_flow_of_payload(uint8_t proto, const uint8_t *payload, size_t len, gw_flow *out)
{
	memset(out, 0, sizeof(*out));
	out->proto = proto;
	read_ports(out, payload, len);
}

static bool ports_any(const gw_selector *s)
{
	/* all zero is "not given": nobody selects port 0 alone, and a zeroed struct must mean any */
	const bool src = s->sport_lo == 0 && (s->sport_hi == 0 || s->sport_hi == 65535);
	const bool dst = s->dport_lo == 0 && (s->dport_hi == 0 || s->dport_hi == 65535);
	return src && dst;
}

bool gw_selector_is_any(const gw_selector *s)
{
	return s->src.family == 0 && s->dst.family == 0 && s->proto == 0 && ports_any(s);
}

bool gw_prefix_equal(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
	const size_t whole = bits / 8;

	if (memcmp(a, b, whole) != 0) return false;
	return bits % 8 == 0 || ((a[whole] ^ b[whole]) >> (8 - bits % 8)) == 0;
}

static bool address_match(const gw_addr *want, uint8_t family, const uint8_t *have)
{
	if (want->family == 0 || !have) return true;
	return want->family == family && gw_prefix_equal(want->bytes, have, want->prefix);
}

static bool port_match(uint16_t lo, uint16_t hi, uint16_t port)
{
	return (lo == 0 && hi == 0) || (lo <= port && port <= hi);
}

bool gw_selector_match(const gw_selector *s, const gw_flow *flow)
{
	if (!address_match(&s->src, flow->family, flow->src) || !address_match(&s->dst, flow->family, flow->dst))
		return false;
	if (s->proto && s->proto != flow->proto) return false;
	if (ports_any(s)) return true;
	return flow->has_ports && port_match(s->sport_lo, s->sport_hi, flow->sport) &&
		   port_match(s->dport_lo, s->dport_hi, flow->dport);
}

static bool address_equal(const gw_addr *a, const gw_addr *b)
{
	if (a->family != b->family) return false;
	return a->family == 0 || (a->prefix == b->prefix && gw_prefix_equal(a->bytes, b->bytes, a->prefix));
}

bool gw_selector_equal(const gw_selector *a, const gw_selector *b)
{
	if (!address_equal(&a->src, &b->src) || !address_equal(&a->dst, &b->dst) || a->proto != b->proto) return false;
	if (ports_any(a) && ports_any(b)) return true;
	return a->sport_lo == b->sport_lo && a->sport_hi == b->sport_hi && a->dport_lo == b->dport_lo &&
		   a->dport_hi == b->dport_hi;
}

static bool address_bad(const gw_addr *a)
{
	return a->family != 0 && !(a->family == 4 && a->prefix <= 32) && !(a->family == 6 && a->prefix <= 128);
}

const char *gw_selector_fault(const gw_selector *s)
{
	if (address_bad(&s->src)) return "selector: source is neither IPv4/0..32 nor IPv6/0..128";
	if (address_bad(&s->dst)) return "selector: destination is neither IPv4/0..32 nor IPv6/0..128";
	if (s->src.family && s->dst.family && s->src.family != s->dst.family)
		return "selector: source and destination are of different IP versions";
	if (s->sport_lo > s->sport_hi || s->dport_lo > s->dport_hi) return "selector: a port range ends before it begins";
	return NULL;
}
