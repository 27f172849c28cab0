/* SPDX-License-Identifier: MIT
 * Traffic selectors (RFC 4301 4.4.1.1): what of an IP packet they look at, and whether it matches.
 */
#ifndef GW_ESP_SELECTOR_H
#define GW_ESP_SELECTOR_H

#include <stdbool.h>

#include "../gwdp.h"

typedef struct gw_flow {
	const uint8_t *src, *dst; /* point into the packet; NULL when unknown (transport mode) */
	uint8_t family;           /* 4, 6, or 0 with src and dst NULL */
	uint8_t proto;
	bool has_ports;        /* false: no ports in this protocol, a later fragment, or cut short */
	uint16_t sport, dport; /* ICMP: type and code, as Linux has it */
} gw_flow;

/* Looks through IPv6 extension headers. False: not a whole IP header. */
bool gw_flow_of_packet(const uint8_t *packet, size_t len, gw_flow *out);
/* Transport mode: protocol from the ESP trailer, ports from its payload, addresses unknown. */
void gw_flow_of_payload(uint8_t proto, const uint8_t *payload, size_t len, gw_flow *out);

bool gw_selector_is_any(const gw_selector *s);
bool gw_selector_match(const gw_selector *s, const gw_flow *flow);
bool gw_selector_equal(const gw_selector *a, const gw_selector *b);
/* Equal in their first `bits` bits. */
bool gw_prefix_equal(const uint8_t *a, const uint8_t *b, uint32_t bits);
/* NULL, or what is wrong with it, for a person. */
const char *gw_selector_fault(const gw_selector *s);

#endif
