/* SPDX-License-Identifier: MIT
 * libFuzzer on what comes from the TUN: a virtio_net_hdr and a packet, both untrusted. Segments are IP packets of their
 * own, all payload is there once; the same packet is then cut into fragments and has its MSS clamped.
 */
#include <stdlib.h>

#include "../../csrc/core/mem.h"
#include "../../csrc/io/io.h"

#define OUT_BYTES (1u << 21)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[OUT_BYTES];
	static uint32_t lens[9000];

	if (size < 2 || size > 65000) return 0;
	const uint32_t mtu = gw_load_be16(data);
	data += 2;
	size -= 2;
	uint8_t *in = malloc(size ? size : 1), *p = out; /* a heap block of its size: one byte too far is seen */
	if (size) memcpy(in, data, size);
	const int n = gw_segment_flat(in, size, out, OUT_BYTES, lens, 9000);
	for (int i = 0; i < n; p += lens[i++]) {
		const uint32_t says = p[0] >> 4 == 4 ? gw_load_be16(p + 2) : gw_load_be16(p + 4) + 40u;
		if (lens[i] > 65535 + 40 || (n > 1 && says != lens[i])) abort();
	}
	if (size > GW_VNET_LEN) {
		uint8_t *packet = malloc(size - GW_VNET_LEN);
		const size_t len = size - GW_VNET_LEN;
		memcpy(packet, in + GW_VNET_LEN, len);
		const uint8_t ihl = (uint8_t)((packet[0] & 15) * 4);
		const int cut = gw_fragment_flat(packet, len, mtu, out, OUT_BYTES, lens, 9000);
		size_t payload = 0;
		p = out;
		for (int i = 0; i < cut; p += lens[i++]) {
			const uint32_t head = (p[0] & 15u) * 4;
			if (lens[i] > mtu || lens[i] < head || head > ihl || gw_load_be16(p + 2) != lens[i]) abort();
			if (memcmp(p + head, packet + ihl + payload, lens[i] - head) != 0) abort();
			payload += lens[i] - head;
		}
		if (cut > 0 && payload != len - ihl) abort();
		const int changed = gw_clamp_mss(packet, len, mtu);
		if (changed && len < 44) abort();
		free(packet);
	}
	free(in);
	return 0;
}
