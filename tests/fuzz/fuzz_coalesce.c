/* SPDX-License-Identifier: MIT
 * libFuzzer on joining: whatever packets come, in whatever order, what is written to the TUN segments into the same
 * packets again. Input: records of two bytes length and a packet; the first byte of all says whether lengths and
 * checksums are put right, without which nothing would ever join.
 *
 * Compared without the fields that a join may change: IDs under DF, the urgent pointer without URG, and checksums, of
 * which 0 and 0xffff mean the same.
 */
#include <stdlib.h>

#include "../../csrc/io/packet.h"

#define MAX_PACKETS 64
#define OUT_BYTES   (1u << 20)

static uint64_t digest(const uint8_t *p, uint32_t len)
{
	const bool tcp4 = len >= 40 && p[0] == 0x45 && p[9] == GW_PROTO_TCP,
			   tcp6 = len >= 60 && p[0] >> 4 == 6 && p[6] == 6;
	const uint32_t upper = tcp4 ? 20 : 40;
	uint64_t h = 1469598103934665603u ^ len;

	for (uint32_t i = 0; i < len; i++) {
		const bool id = tcp4 && (p[6] & 0x40) && (i == 4 || i == 5), sum = tcp4 && (i == 10 || i == 11);
		const bool tail = (tcp4 || tcp6) && i >= upper + 16 && i < upper + 20;
		h = (h ^ (id || sum || tail ? 0 : p[i])) * 1099511628211u;
	}
	return h ^ h >> 29;
}

static void put_right(uint8_t *p, uint32_t len)
{
	if (len >= 20 && p[0] >> 4 == 4) {
		gw_store_be16(p + 2, (uint16_t)len);
		memset(p + 10, 0, 2);
		if (p[0] == 0x45) gw_csum_store(p + 10, (uint16_t)~gw_csum_fold(gw_csum_add(p, 20, 0)));
	} else if (len >= 40 && p[0] >> 4 == 6) {
		gw_store_be16(p + 4, (uint16_t)(len - 40));
	}
	uint8_t proto = 0;
	const int upper = gw_ip_upper(p, len, &proto);
	if (upper < 0 || proto != GW_PROTO_TCP || (uint32_t)upper + 20 > len) return;
	const uint32_t l4 = len - (uint32_t)upper;
	memset(p + upper + GW_TCP_CSUM, 0, 2);
	gw_csum_store(p + upper + GW_TCP_CSUM,
				  (uint16_t)~gw_csum_fold(gw_csum_add(p + upper, l4, gw_csum_pseudo(p, proto, l4, 0))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[OUT_BYTES], again[OUT_BYTES];
	static uint32_t out_lens[MAX_PACKETS], segments[MAX_PACKETS];
	uint32_t lens[MAX_PACKETS], n = 0;
	uint64_t before = 0, after = 0;
	size_t total = 0, at = 0;
	uint32_t packets = 0;

	if (size < 1 || size > 60000) return 0;
	const bool right = data[0] & 1;
	uint8_t *in = malloc(size);
	for (size_t i = 1; i + 2 < size && n < MAX_PACKETS;) {
		uint32_t len = gw_load_be16(data + i) % 2048;
		i += 2;
		if (len > size - i) len = (uint32_t)(size - i);
		if (!len) continue;
		memcpy(in + total, data + i, len);
		if (right) put_right(in + total, len);
		before += digest(in + total, len);
		lens[n++] = len;
		total += len;
		i += len;
	}
	const int writes = gw_coalesce_flat(in, lens, n, out, OUT_BYTES, out_lens, MAX_PACKETS);
	if (writes < 0 || writes > (int)n) abort();
	for (int i = 0; i < writes; at += out_lens[i++]) {
		if (out_lens[i] < GW_VNET_LEN) abort();
		if (out[at + 1] == GW_VNET_GSO_NONE) { /* as it came, whatever it is */
			after += digest(out + at + GW_VNET_LEN, out_lens[i] - GW_VNET_LEN);
			packets++;
			continue;
		}
		const int cut = gw_segment_flat(out + at, out_lens[i], again, OUT_BYTES, segments, MAX_PACKETS);
		if (cut < 2) abort();
		const uint8_t *p = again;
		for (int k = 0; k < cut; p += segments[k++], packets++) after += digest(p, segments[k]);
	}
	if (packets != n || after != before) abort();
	free(in);
	return 0;
}
