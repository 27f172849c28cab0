/* SPDX-License-Identifier: MIT
 * See train.h.
 */
#include "train.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gw_trains_init(gw_trains *ts, size_t bytes, uint32_t max_segments, int family)
{
	memset(ts, 0, sizeof *ts);
	ts->memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (!ts->memory) return -ENOMEM;
	ts->cap = bytes;
	ts->max_segments = max_segments > 1 ? max_segments : 64; /* without UDP_SEGMENT: packets of one sendmmsg */
	/* A UDP datagram's payload, less an Ethernet header with a VLAN tag: a frame of 65,536 bytes or more is beyond
	 * the device's gso_max_size, and the kernel then cuts the whole train in software. */
	ts->max_bytes = family == 6 ? 65469 : 65489;
	return 0;
}

void gw_trains_free(gw_trains *ts)
{
	free(ts->memory);
}

uint8_t *gw_trains_place(gw_trains *ts, size_t bytes)
{
	if (bytes > ts->cap - ts->at) return NULL;
	uint8_t *p = ts->memory + ts->at;
	ts->at += bytes;
	return p;
}

static bool fits(const gw_trains *ts, const gw_train *t, const uint8_t *data, uint32_t len, const gw_peer *peer,
				 uint8_t tos, bool df)
{
	return t->data + t->len == data && len <= t->seg_len && t->count < ts->max_segments &&
		   t->len + len <= ts->max_bytes && t->tos == tos && t->df == df && t->peer == peer;
}

bool gw_trains_add(gw_trains *ts, uint8_t *data, uint32_t len, gw_peer *peer, uint8_t tos, bool df)
{
	gw_train *t = ts->n ? &ts->train[ts->n - 1] : NULL;

	if (ts->open && fits(ts, t, data, len, peer, tos, df)) {
		t->len += len;
		t->count++;
	} else {
		if (ts->n == GW_TRAINS) return false;
		t = &ts->train[ts->n];
		*t = (gw_train){peer, data, len, len, 1, tos, df};
		ts->n++;
		ts->open = true;
	}
	/* All segments but the last have one size; and a full train need not wait for the proof that no more fits. */
	if (len < t->seg_len || t->count == ts->max_segments || t->len + t->seg_len > ts->max_bytes) ts->open = false;
	return true;
}

void gw_trains_send(gw_trains *ts, bool all, const gw_outer_ops *ops, gw_outer *o, gw_loop_counters *c)
{
	uint32_t n = ts->open && !all ? ts->n - 1 : ts->n;

	if (n) ops->send(o, ts->train, n, c);
	if (n == ts->n) {
		ts->n = 0;
		ts->at = 0;
		ts->open = false;
	} else if (n) { /* a few packets, by what the last super-packet was too long */
		gw_train *t = &ts->train[n];
		memmove(ts->memory, t->data, t->len);
		ts->train[0] = *t;
		ts->train[0].data = ts->memory;
		ts->n = 1;
		ts->at = t->len;
	}
}
