/* SPDX-License-Identifier: MIT
 * IPv4 fragmentation (RFC 791 3.2) before sealing: what the far gateway opens are whole ESP packets, and it is the
 * receiving host that joins what was cut.
 */
#include <errno.h>

#include "packet.h"

#define COPIED    0x80 /* an option with this bit stands in every fragment */
#define MORE      0x2000
#define OFFSETS   0x1fff
#define IP_OPTION 20

/* The header of the fragments after the first, from the first's `ihl` bytes. Returns its length. */
static uint32_t later_header(const uint8_t *ip, uint32_t ihl, uint8_t *out)
{
	uint32_t n = IP_OPTION;

	memcpy(out, ip, IP_OPTION);
	for (uint32_t at = IP_OPTION; at < ihl && ip[at];) {
		const uint32_t len = ip[at] == 1 ? 1 : at + 1 < ihl ? ip[at + 1] : 0;
		if (!len || len > ihl - at || (len == 1 && ip[at] != 1)) break; /* nonsense: no option survives it */
		if (ip[at] & COPIED) {
			memcpy(out + n, ip + at, len);
			n += len;
		}
		at += len;
	}
	while (n % 4) out[n++] = 0;
	out[0] = (uint8_t)(0x40 | n / 4);
	return n;
}

int gw_fragment(const uint8_t *ip, uint32_t len, uint32_t mtu, uint32_t *done, uint8_t *scratch, gw_seg *segs,
				uint32_t max)
{
	const uint32_t ihl = len >= 20 ? (ip[0] & 15u) * 4 : 0, payload = len - ihl;
	const uint16_t field = len >= 20 ? gw_load_be16(ip + 6) : 0;
	uint8_t later[60];
	uint32_t n = 0;

	if (ihl < 20 || ihl > len || ip[0] >> 4 != 4 || mtu < ihl + 8 || payload > 65535) return -EINVAL;
	const uint32_t later_len = later_header(ip, ihl, later);
	for (; n < max && *done < payload; n++, scratch += GW_SEG_SCRATCH) {
		const uint32_t head = *done ? later_len : ihl, left = payload - *done;
		uint32_t bytes = head + left <= mtu ? left : (mtu - head) & ~7u;
		const uint32_t offset = (field & OFFSETS) + *done / 8;
		if (offset > OFFSETS) return -EINVAL;
		memcpy(scratch, *done ? later : ip, head);
		gw_store_be16(scratch + 2, (uint16_t)(head + bytes));
		gw_store_be16(scratch + 6,
					  (uint16_t)((field & ~(MORE | OFFSETS)) | offset | (bytes < left ? MORE : field & MORE)));
		gw_store_be16(scratch + 10, 0);
		gw_csum_store(scratch + 10, (uint16_t)~gw_csum_fold(gw_csum_add(scratch, head, 0)));
		uint32_t take = -head & 63;
		if (take > bytes) take = bytes;
		memcpy(scratch + head, ip + ihl + *done, take);
		segs[n] = (gw_seg){scratch, head + take, ip + ihl + *done + take, bytes - take};
		*done += bytes;
	}
	return (int)n;
}
