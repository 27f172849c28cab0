/* SPDX-License-Identifier: MIT
 * Positions count bytes and never turn back: 32 bits wrap around, and every processor of ours writes them in one piece.
 * Writer and reader write to cache lines of their own.
 */
#include "ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RING_BYTES (1u << 20) /* some 15 super-packets */
#define TO_START   UINT32_MAX /* len of a record that only fills the end */

struct gw_ring {
	uint32_t head __attribute__((aligned(64))); /* atomic: written up to here */
	uint32_t room_until;                        /* the writer's: what it last saw of tail */
	uint32_t tail __attribute__((aligned(64))); /* atomic: released up to here */
	uint32_t got;                               /* the reader's: read up to here */
	uint8_t *data;
};

gw_ring *gw_ring_new(void)
{
	gw_ring *r = aligned_alloc(64, sizeof *r);

	if (!r) return NULL;
	memset(r, 0, sizeof *r);
	/* Packets in clear pass through: pages of its own go back to the kernel, which clears them. */
	r->data = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->data != MAP_FAILED) return r;
	free(r);
	return NULL;
}

void gw_ring_free(gw_ring *r)
{
	if (!r) return;
	munmap(r->data, RING_BYTES);
	free(r);
}

static gw_handed *at(const gw_ring *r, uint32_t position)
{
	return (gw_handed *)(void *)(r->data + (position & (RING_BYTES - 1)));
}

static uint32_t stride(const gw_handed *h)
{
	return (uint32_t)(sizeof *h + (h->inward ? 0 : GW_HANDED_TUN_PAD) + h->len + 63) & ~63u;
}

bool gw_ring_put(gw_ring *r, const gw_handed *head, const uint8_t *data)
{
	const uint32_t to_end = RING_BYTES - (r->head & (RING_BYTES - 1)), need = stride(head);
	const uint32_t skip = need > to_end ? to_end : 0;

	if (r->head + skip + need - r->room_until > RING_BYTES) {
		r->room_until = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
		if (r->head + skip + need - r->room_until > RING_BYTES) return false;
	}
	if (skip) at(r, r->head)->len = TO_START;
	gw_handed *h = at(r, r->head + skip);
	*h = *head;
	memcpy(gw_handed_data(h), data, head->len);
	__atomic_store_n(&r->head, r->head + skip + need, __ATOMIC_RELEASE);
	return true;
}

bool gw_ring_waiting(const gw_ring *r)
{
	return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) != r->got;
}

gw_handed *gw_ring_get(gw_ring *r)
{
	if (!gw_ring_waiting(r)) return NULL;
	if (at(r, r->got)->len == TO_START) r->got += RING_BYTES - (r->got & (RING_BYTES - 1));
	gw_handed *h = at(r, r->got);
	r->got += stride(h);
	return h;
}

void gw_ring_release(gw_ring *r)
{
	__atomic_store_n(&r->tail, r->got, __ATOMIC_RELEASE);
}
