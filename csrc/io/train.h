/* SPDX-License-Identifier: MIT
 * Sealed packets -> trains: runs of packets that one UDP_SEGMENT send can carry. The last train stays open across
 * TUN reads, because one 64 KB super-packet is a little more than one send takes.
 */
#ifndef GW_IO_TRAIN_H
#define GW_IO_TRAIN_H

#include "io.h"

#define GW_TRAINS 128

typedef struct gw_trains {
	uint8_t *memory; /* packets are sealed into this, back to back */
	size_t cap, at;
	uint32_t max_segments, max_bytes; /* of a train */
	uint32_t n;
	bool open; /* the last one may still grow */
	gw_train train[GW_TRAINS];
} gw_trains;

/* 0 or -ENOMEM. */
int gw_trains_init(gw_trains *ts, size_t bytes, uint32_t max_segments, int family);
void gw_trains_free(gw_trains *ts);
/* Where the next packet is to be sealed, or NULL when `bytes` do not fit before something was sent. */
uint8_t *gw_trains_place(gw_trains *ts, size_t bytes);
/* A sealed packet, in order of place. False: no train left, send first. */
bool gw_trains_add(gw_trains *ts, uint8_t *data, uint32_t len, gw_peer *peer, uint8_t tos, bool df);
/* Sends the closed trains, with `all` the open one too, and makes room. */
void gw_trains_send(gw_trains *ts, bool all, const gw_outer_ops *ops, gw_outer *o, gw_loop_counters *c);

#endif
