/* SPDX-License-Identifier: MIT
 * One loop hands packets to another: a ring of records with one writer and one reader, and no lock. What is read lies
 * still, and may be written into, until it is released.
 */
#ifndef GW_IO_RING_H
#define GW_IO_RING_H

#include "io.h"

typedef struct gw_handed { /* a record; its data lie behind it */
	uint32_t len;
	uint8_t inward; /* an ESP packet; else a TUN read with its vnet header */
	uint8_t tos;    /* inward: of the outer header */
	gw_addr from;   /* inward */
} __attribute__((aligned(64))) gw_handed;

/* The packet behind a TUN read's vnet header stands on a cache line, as in the loop's own reads. */
#define GW_HANDED_TUN_PAD 54

static inline uint8_t *gw_handed_data(gw_handed *h)
{
	return (uint8_t *)(h + 1) + (h->inward ? 0 : GW_HANDED_TUN_PAD);
}

typedef struct gw_ring gw_ring;
gw_ring *gw_ring_new(void); /* NULL: out of memory */
void gw_ring_free(gw_ring *r);
/* Writer: copies a record in; false: no room. */
bool gw_ring_put(gw_ring *r, const gw_handed *head, const uint8_t *data);
/* Reader: the next record, NULL = there is none yet. */
gw_handed *gw_ring_get(gw_ring *r);
bool gw_ring_waiting(const gw_ring *r); /* gw_ring_get would find one */
void gw_ring_release(gw_ring *r);       /* everything that was got */

#endif
