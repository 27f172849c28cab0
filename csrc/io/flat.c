/* SPDX-License-Identifier: MIT
 * Segmenting and coalescing on flat memory: what property tests and fuzzers drive. The code under test is the very
 * code of the loop; only the packets' way in and out differs.
 */
#include <errno.h>
#include <stdlib.h>

#include "packet.h"

int gw_segment_flat(const uint8_t *in, size_t len, uint8_t *out, size_t out_cap, uint32_t *lens, size_t max_lens)
{
	_Alignas(64) uint8_t scratch[GW_SEG_SCRATCH * 4];
	gw_seg segs[4];
	gw_seg_plan plan;
	gw_vnet vnet;
	size_t at = 0;
	int bad;

	if (len <= GW_VNET_LEN) return -EINVAL;
	gw_vnet_load(&vnet, in);
	bad = gw_segment_plan(&plan, &vnet, in + GW_VNET_LEN, len - GW_VNET_LEN);
	if (bad) return bad;
	if (plan.count > max_lens || (size_t)plan.count * gw_segment_largest(&plan) > out_cap) return -ENOSPC;
	for (uint32_t first = 0; first < plan.count; first += 4) {
		uint32_t n = plan.count - first < 4 ? plan.count - first : 4;
		bad = gw_segment_emit(&plan, first, n, scratch, segs);
		if (bad < 0) return bad;
		for (uint32_t i = 0; i < n; i++) {
			memcpy(out + at, segs[i].head, segs[i].head_len);
			memcpy(out + at + segs[i].head_len, segs[i].rest, segs[i].rest_len);
			lens[first + i] = segs[i].head_len + segs[i].rest_len;
			at += lens[first + i];
		}
	}
	return (int)plan.count;
}

int gw_fragment_flat(const uint8_t *packet, size_t len, uint32_t mtu, uint8_t *out, size_t out_cap, uint32_t *lens,
					 size_t max_lens)
{
	_Alignas(64) uint8_t scratch[GW_SEG_SCRATCH * 4];
	uint32_t done = 0;
	gw_seg segs[4];
	size_t at = 0, count = 0;
	int n;

	if (len > 65535) return -EINVAL;
	while ((n = gw_fragment(packet, (uint32_t)len, mtu, &done, scratch, segs, 4)) > 0)
		for (int i = 0; i < n; i++) {
			const uint32_t bytes = segs[i].head_len + segs[i].rest_len;
			if (count == max_lens || bytes > out_cap - at) return -ENOSPC;
			memcpy(out + at, segs[i].head, segs[i].head_len);
			memcpy(out + at + segs[i].head_len, segs[i].rest, segs[i].rest_len);
			lens[count++] = bytes;
			at += bytes;
		}
	return n < 0 ? n : (int)count;
}

typedef struct sink {
	uint8_t *out;
	size_t at, cap, n, max;
	uint32_t *lens;
	bool full;
} sink;

static void sink_write(void *arg, const struct iovec *iov, int iovcnt, const gw_vnet *vnet, uint32_t segments)
{
	sink *s = arg;
	size_t total = 0;

	(void)vnet;
	(void)segments;
	for (int i = 0; i < iovcnt; i++) total += iov[i].iov_len;
	if (s->n == s->max || total > s->cap - s->at) s->full = true;
	if (s->full) return;
	for (int i = 0; i < iovcnt; i++) {
		memcpy(s->out + s->at, iov[i].iov_base, iov[i].iov_len);
		s->at += iov[i].iov_len;
	}
	s->lens[s->n++] = (uint32_t)total;
}

int gw_coalesce_flat(const uint8_t *packets, const uint32_t *lens, size_t n, uint8_t *out, size_t out_cap,
					 uint32_t *out_lens, size_t max_out)
{
	sink s = {.out = out, .cap = out_cap, .max = max_out, .lens = out_lens};
	gw_coalesce *co = gw_coalesce_new(sink_write, &s);

	if (!co) return -ENOMEM;
	for (size_t i = 0; i < n; packets += lens[i++]) gw_coalesce_add(co, packets, lens[i], true);
	gw_coalesce_flush(co);
	gw_coalesce_free(co);
	return s.full ? -ENOSPC : (int)s.n;
}

int gw_clamp_mss(uint8_t *packet, size_t len, uint32_t mtu)
{
	return gw_maybe_syn(packet, len) && gw_mss_clamp(packet, len, mtu, false);
}
