/* SPDX-License-Identifier: MIT
 * ECN through tunnels (RFC 6040) and the DSCP by choice (RFC 2983).
 */
#include "../core/mem.h"
#include "esp.h"

enum { NOT_ECT = 0, ECT_1 = 1, ECT_0 = 2, CE = 3 };

uint8_t gw_ecn_encap(uint8_t inner_tos, uint32_t sa_flags)
{
	uint8_t tos = 0;

	if (!(sa_flags & GW_SA_NO_ECN)) tos |= inner_tos & 3; /* normal mode: copied, CE too */
	if (sa_flags & GW_SA_COPY_DSCP) tos |= inner_tos & 0xfc;
	return tos;
}

/* RFC 1624, equation 3: the checksum after one 16-bit word changed. */
static void patch_checksum(uint8_t *sum, uint16_t before, uint16_t after)
{
	uint32_t s = (uint16_t)~gw_load_be16(sum) + (uint32_t)(uint16_t)~before + after;

	s = (s & 0xffff) + (s >> 16);
	s = (s & 0xffff) + (s >> 16);
	gw_store_be16(sum, (uint16_t)~s);
}

static void set_inner(uint8_t *inner, uint8_t ecn)
{
	if (inner[0] >> 4 == 4) {
		const uint16_t before = gw_load_be16(inner);
		const uint16_t after = (uint16_t)((before & ~3u) | ecn);

		inner[1] = (uint8_t)after;
		patch_checksum(inner + 10, before, after);
	} else {
		inner[1] = (uint8_t)((inner[1] & 0xcf) | ecn << 4);
	}
}

int gw_ecn_decap(uint8_t *inner, size_t len, uint8_t outer_tos)
{
	const uint8_t outer = outer_tos & 3;
	uint8_t mine;

	if (outer == NOT_ECT || outer == ECT_0) return GW_OK; /* figure 4: the inner one stands */
	if (len < 20) return GW_OK;
	mine = inner[0] >> 4 == 4 ? inner[1] & 3 : inner[1] >> 4 & 3;
	if (outer == CE) {
		if (mine == NOT_ECT) return GW_IN_ECN_ILLEGAL;
		if (mine != CE) set_inner(inner, CE);
	} else if (mine == ECT_0) {
		set_inner(inner, ECT_1);
	}
	return GW_OK;
}
