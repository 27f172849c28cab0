/* SPDX-License-Identifier: MIT
 * An SA from the inside. What a packet touches are the three cache lines of gw_sa; the counter slot is a fourth,
 * which a run of packets touches once. All else stands elsewhere, so that the lines of ten thousand SAs lie side by
 * side: spread over their whole size they would cost a TLB miss each.
 */
#ifndef GW_ESP_SA_H
#define GW_ESP_SA_H

#include "../core/counters.h"
#include "../crypto/impl.h"
#include "esp.h"
#include "replay.h"
#include "suite.h"

/* What is asked seldom, or only by an SA that has limits or selectors. */
typedef struct gw_sa_cold {
	uint64_t created_ns;
	uint64_t soft_packets, hard_packets, soft_bytes, hard_bytes, soft_ns, hard_ns;
	gw_selector selector;
	gw_addr local, peer;
	gw_transform_key *key;
	char implementation[160];
} gw_sa_cold;

struct gw_sa {
	/* -- first line: every packet -- */
	uint32_t spi;
	uint32_t flags;
	uint8_t direction, mode;
	uint8_t head_bytes; /* SPI, sequence number, IV */
	uint8_t icv_bytes;
	uint8_t block_mask; /* block_bytes - 1 */
	uint8_t iv_style;
	uint8_t state;   /* GW_SA_STATE_* */
	uint8_t limited; /* some lifetime is set */
	uint64_t seq;    /* out: last number used */
	uint64_t packets, bytes, wire_bytes;
	const void *cipher_key, *mac_key;
	/* -- second line -- */
	gw_transform transform;
	gw_counter_slot *slot;
	uint64_t iv_mask; /* AEAD and CTR: IV = sequence number ^ iv_mask; CBC: the nonce's upper half */
	uint8_t salt[4];
	uint16_t key_lines; /* cache lines of expanded key worth prefetching */
	uint8_t check_selector;
	uint8_t pad0;
	uint32_t tfc_pad_to;
	uint32_t peer_id; /* io's */
	gw_replay replay; /* its words are in the third line */
	gw_sa_cold *cold;
	gw_counter_slot *own; /* the slot until gw_sa_set_counters */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct gw_sa) <= 3 * 64, "a packet touches three cache lines of its SA");

/* The fields that one run of packets moves, into the slot, under its sequence number. */
void gw_sa_publish(gw_sa *sa, uint64_t now_ns);

/* May a packet of this many inner bytes still be sent or accepted? GW_OK or GW_STATE_EXPIRED; counts it when it may.
 * Soft limits turn the SA to DYING. A hard limit is never exceeded, not even by the packet that reaches it. */
int gw_lifetime_take(gw_sa *sa, uint32_t bytes, uint64_t now_ns);
/* Time passes without packets: moves the state, and returns when it will move next, UINT64_MAX = never. */
uint64_t gw_lifetime_age(gw_sa *sa, uint64_t now_ns);
/* Has the time run out? Cheap, before any crypto. */
bool gw_lifetime_over(gw_sa *sa, uint64_t now_ns);

static inline bool gw_transform_same(const gw_transform *a, const gw_transform *b)
{
	return a->cipher == b->cipher && a->mac == b->mac;
}

/* To be written. The empty assembly is what keeps it: a function that does nothing but prefetch has no effects to gcc,
 * which then leaves out the calls of it. */
static inline void gw_prefetch(const void *p)
{
	__builtin_prefetch(p, 1);
	__asm__ volatile("");
}

/* Batches over many SAs: the lines of one that comes some packets later. */
static inline void gw_sa_prefetch(const gw_sa *sa)
{
	const char *p = (const char *)sa;

	gw_prefetch(p);
	gw_prefetch(p + 64);
	gw_prefetch(p + 128); /* the window's; an SA that sends has no use for it, and is not asked which it is */
}

/* What the SA points to; the SA itself must have come by now, or this waits for it. */
static inline void gw_sa_prefetch_keys(const gw_sa *sa)
{
	const char *cipher = sa->cipher_key, *mac = sa->mac_key;

	gw_prefetch(sa->slot);
	if (sa->direction == GW_DIR_IN && sa->replay.words != sa->replay.inl)
		gw_prefetch(&sa->replay.words[(sa->replay.top / GW_REPLAY_WORD_BITS) & sa->replay.mask]);
	if (sa->limited) gw_prefetch(sa->cold);
	if (sa->check_selector) {
		gw_prefetch(&sa->cold->selector);
		gw_prefetch((const char *)(&sa->cold->selector + 1) - 1);
	}
	if (cipher)
		for (uint32_t i = 0; i < sa->key_lines; i++) gw_prefetch(cipher + (size_t)64 * i);
	if (mac) {
		gw_prefetch(mac);
		gw_prefetch(mac + 64);
	}
}

#endif
