/* SPDX-License-Identifier: MIT
 * What one loop has in hand, shared by its parts: loop.c runs it, loop_out.c and loop_in.c are its directions.
 */
#ifndef GW_IO_LOOP_STATE_H
#define GW_IO_LOOP_STATE_H

#include <pthread.h>

#include "../core/mailbox.h"
#include "ring.h"
#include "train.h"

#define GW_LOOP_OUT   128 /* packets sealed at once, at most */
#define GW_LOOP_IN    256 /* packets opened at once, at most */
#define GW_LOOP_READS 32  /* TUN reads before they are looked at, at most */
/* One TUN read: the header and the largest packet. */
#define GW_TUN_READ_BYTES (GW_VNET_LEN + 65536 + 40)

typedef struct gw_loop gw_loop;
struct gw_loop {
	int tun_fd, wake_fd; /* wake_fd: the end is wished, or another loop has put something into a ring */
	const gw_outer_ops *ops;
	gw_outer *outer;
	gw_mailbox *box;
	gw_sadb *sadb;
	gw_spd *spd;
	gw_coalesce *co;
	gw_counter_page *page;
	int page_fd;
	uint32_t mtu;     /* inner packets of the TUN */
	uint32_t headers; /* outer bytes before the ESP packet */
	bool coalesce, clamp_mss;
	uint8_t *whole; /* fragmentation before sealing: the packet that is cut; NULL = it is not wished */
	bool roaming;   /* some inbound SA's peer may move */
	gw_peers peers;
	uint64_t next_change_ns; /* when some SA's lifetime is over by the clock alone */
	uint32_t join_refused;   /* super-packets that the TUN refused one after the other */
	/* outward */
	uint8_t *tun_memory, *scratch; /* TUN reads until they are sealed; their segments' headers */
	size_t tun_cap, tun_at;
	gw_span reads[GW_LOOP_READS];
	gw_trains trains;
	gw_pkt out[GW_LOOP_OUT];
	bool out_df[GW_LOOP_OUT];
	gw_seg segs[GW_LOOP_OUT];
	uint32_t n_out;
	/* inward */
	gw_pkt in[GW_LOOP_IN];
	gw_addr from[GW_LOOP_IN];
	/* counters: written here, copied to the page now and then */
	gw_loop_counters c;
	uint64_t last_cycles, published_ns;
	bool dirty, try_in, try_out; /* something was counted; the direction may have work */
	/* the end */
	int stop; /* atomic: the owner wishes it */
	int dead; /* atomic: -errno why the loop ended by itself */
	const char *dead_why;
	pthread_t thread;
	bool started;
	/* the other loops; a ring from each stands with its reader */
	gw_loop **all;
	uint32_t index, n_loops;
	gw_ring **inbox; /* n_loops, NULL for its own */
	int asleep;      /* atomic */
	uint16_t port;
};

/* loop_out.c, loop_in.c: one turn each. True when more may be waiting, false when the queue was seen empty. */
bool gw_loop_out(gw_loop *l, uint64_t now_ns);
bool gw_loop_in(gw_loop *l, uint64_t now_ns);
/* The same of what other loops handed over; see loop_take.c. */
bool gw_loop_take_over(gw_loop *l, uint64_t now_ns);
bool gw_loop_handed(const gw_loop *l); /* there is something */
/* loop_give.c: gives `packets` packets to the loop that owns their SA. False: its ring is full. */
bool gw_loop_hand(gw_loop *l, uint32_t owner, const gw_handed *head, const uint8_t *data, uint32_t packets);
/* loop_out.c, loop_in.c: what gw_loop_take_over found. */
void gw_loop_out_handed(gw_loop *l, uint8_t *read, uint32_t len, uint64_t now_ns);
void gw_loop_in_open(gw_loop *l, uint32_t got, bool handed, uint64_t now_ns);
/* loop_out.c: what is pending is sealed; and what waits for company leaves now. */
void gw_loop_seal_rest(gw_loop *l, uint64_t now_ns);
void gw_loop_send_rest(gw_loop *l);
/* path_mtu.c: the largest inner packet that goes through to this SA's peer unfragmented, at most the TUN's MTU. */
uint32_t gw_loop_inner_mtu(gw_loop *l, const gw_sa *sa, uint64_t now_ns);
/* loop_tun.c, a gw_flush_fn: one write. `segments` opened packets are booked with it, 0 for a packet of our own. */
void gw_loop_write_tun(void *loop, const struct iovec *iov, int iovcnt, const gw_vnet *vnet, uint32_t segments);

/* loop_transport.c: takes a packet's IP header off before it is sealed under a transport mode SA; false: it is none
 * between the SA's addresses that could be made again at the other end. And puts one before what was opened, and
 * writes. */
bool gw_loop_strip(gw_pkt *p);
void gw_loop_unwrap(gw_loop *l, const gw_pkt *p);

/* The loop cannot go on: it ends after this turn, and gw_dp_health says why. The first reason stays. */
static inline void gw_loop_die(gw_loop *l, int err, const char *why)
{
	if (__atomic_load_n(&l->dead, __ATOMIC_RELAXED)) return;
	l->dead_why = why;
	__atomic_store_n(&l->dead, err, __ATOMIC_RELEASE);
}

/* Books the cycles since the last call under `stage`. */
static inline void gw_loop_stage(gw_loop *l, int stage)
{
	uint64_t now = gw_cycles();
	l->c.stage_cycles[stage] += now - l->last_cycles;
	l->last_cycles = now;
}

static inline void gw_hist_add(uint64_t hist[GW_HIST_BUCKETS], uint32_t n)
{
	hist[gw_hist_bucket(n)]++;
}

#endif
