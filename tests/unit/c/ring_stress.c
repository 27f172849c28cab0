/* SPDX-License-Identifier: MIT
 * Two threads and one ring: every record arrives once, in order and whole, and no more lie in it than it has room for.
 * Prints how many, and how often the writer found it full; meant for ThreadSanitizer.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../csrc/io/ring.h"

#define RECORDS 30000u

static gw_ring *ring;

static uint32_t length_of(uint32_t i)
{
	return i % 97 == 0 ? 65545 : 1 + (i * 2654435761u >> 16) % 1500;
}

static void *write_all(void *arg)
{
	static uint8_t data[65545];
	unsigned long full = 0;

	(void)arg;
	for (uint32_t i = 0; i < RECORDS; i++) {
		const gw_handed head = {.len = length_of(i), .inward = i & 1, .tos = (uint8_t)i, .from.port = (uint16_t)i};
		memset(data, (uint8_t)i, head.len);
		for (; !gw_ring_put(ring, &head, data); full++) sched_yield();
	}
	printf("full %lu\n", full);
	return NULL;
}

int main(void)
{
	pthread_t writer;
	uint32_t i = 0;

	ring = gw_ring_new();
	if (!ring || gw_ring_waiting(ring)) return 1;
	pthread_create(&writer, NULL, write_all, NULL);
	while (i < RECORDS) {
		gw_handed *h = gw_ring_get(ring);
		if (!h) {
			gw_ring_release(ring);
			sched_yield();
			continue;
		}
		uint8_t *data = gw_handed_data(h);
		if (h->len != length_of(i) || h->inward != (i & 1) || h->tos != (uint8_t)i || h->from.port != (uint16_t)i)
			return 2;
		for (uint32_t k = 0; k < h->len; k++)
			if (data[k] != (uint8_t)i) return 3;
		memset(data, 0, h->len); /* opened in place */
		if (i++ % 5 == 4) gw_ring_release(ring);
	}
	pthread_join(writer, NULL);
	gw_ring_release(ring);
	if (gw_ring_waiting(ring)) return 4;
	gw_ring_free(ring);
	printf("read %u\n", i);
	return 0;
}
