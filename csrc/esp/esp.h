/* SPDX-License-Identifier: MIT
 * What io/ may use of esp/, besides gw_seal_batch and gw_open_batch of gwdp.h. Bytes in, bytes out: nothing here
 * knows a file descriptor. One loop owns an SA, and only that loop calls into it.
 */
#ifndef GW_ESP_ESP_H
#define GW_ESP_ESP_H

#include <stdbool.h>
#include <string.h>

#include "../gwdp.h"

struct gw_counter_slot; /* core/counters.h */

/* In place of an SA that another loop owns: tables say which, and its number is never followed. */
static inline gw_sa *gw_sa_elsewhere(uint32_t loop)
{
	return (gw_sa *)((uintptr_t)loop << 1 | 1);
}
static inline bool gw_sa_is_elsewhere(const gw_sa *sa)
{
	return (uintptr_t)sa & 1;
}
static inline uint32_t gw_sa_owner(const gw_sa *elsewhere)
{
	return (uint32_t)((uintptr_t)elsewhere >> 1);
}

/* ---- SADB: inbound SAs by SPI. Written by its loop only, between batches. ---- */
typedef struct gw_sadb gw_sadb;
gw_sadb *gw_sadb_new(uint32_t max_sas);
void gw_sadb_free(gw_sadb *db);                                            /* frees (wipes) every SA that is left */
int gw_sadb_add(gw_sadb *db, gw_sa *sa);                                   /* -EEXIST, -ENOSPC; takes ownership */
int gw_sadb_note(gw_sadb *db, uint32_t spi, int direction, uint32_t loop); /* the same of an SA elsewhere */
gw_sa *gw_sadb_remove(gw_sadb *db, uint32_t spi, int direction);           /* gives ownership back; NULL when absent */
bool gw_sadb_owner(const gw_sadb *db, uint32_t spi, uint32_t *loop);       /* of an inbound SA elsewhere */
gw_sa *gw_sadb_in(const gw_sadb *db, uint32_t spi);
gw_sa *gw_sadb_out(const gw_sadb *db, uint32_t spi);
/* Moves the states of SAs whose time is over, idle ones too. Returns when the next will be, UINT64_MAX = none. */
uint64_t gw_sadb_age(gw_sadb *db, uint64_t now_ns);
uint64_t gw_sa_age(gw_sa *sa, uint64_t now_ns); /* the same of one */
/* Fills pkt->sa from the SPI in pkt->out for each; unknown or truncated ones get a status and sa NULL.
 * Prefetches what gw_open_batch will touch. */
void gw_sadb_lookup(const gw_sadb *db, gw_pkt *pkts, size_t n);

/* ---- SPD: outbound policy, first match by longest destination prefix, then order of entry. ---- */
typedef struct gw_spd gw_spd;
gw_spd *gw_spd_new(void);
void gw_spd_free(gw_spd *spd);
int gw_spd_set(gw_spd *spd, const gw_selector *selector, gw_sa *sa); /* replaces an equal selector's SA */
int gw_spd_del(gw_spd *spd, const gw_selector *selector);
gw_sa *gw_spd_get(gw_spd *spd, const gw_selector *selector); /* what an equal selector leads to, or NULL */
void gw_spd_forget(gw_spd *spd, const gw_sa *sa);            /* before an SA is freed */
/* One look-up serves a whole TUN read. NULL: *reason says GW_OUT_POL_BLOCK or GW_OUT_NO_STATES. */
gw_sa *gw_spd_lookup(gw_spd *spd, const uint8_t *ip_packet, size_t len, int *reason);

/* ---- what the outer path needs of an SA ---- */
/* Equal address and port; the prefix, a selector's matter, does not count. */
static inline bool gw_addr_same(const gw_addr *a, const gw_addr *b)
{
	return a->family == b->family && a->port == b->port && !memcmp(a->bytes, b->bytes, sizeof a->bytes);
}
const gw_addr *gw_sa_peer(const gw_sa *sa); /* as configured: where the peer is by now, io knows under its id */
const gw_addr *gw_sa_local(const gw_sa *sa);
bool gw_sa_is_transport(const gw_sa *sa);
uint32_t gw_sa_peer_id(const gw_sa *sa);
void gw_sa_set_peer_id(gw_sa *sa, uint32_t id);
uint32_t gw_sa_spi(const gw_sa *sa);
uint64_t gw_sa_newest(const gw_sa *sa); /* in: the highest sequence number that was accepted */
uint32_t gw_sa_flags(const gw_sa *sa);
/* Extra bytes that sealing adds at most: to lay packets out in a train. */
size_t gw_sa_overhead_max(const gw_sa *sa);
/* Largest inner packet that seals to at most esp_bytes (SPI..ICV), 0 when there is none. TFC padding not counted; the
 * IP header that transport mode leaves out is. */
size_t gw_sa_inner_max(const gw_sa *sa, size_t esp_bytes);
/* Where the SA's counters live: a slot of the loop's page, or (NULL) its own memory. Returns the slot that it leaves,
 * NULL when that was its own. */
struct gw_counter_slot *gw_sa_set_counters(gw_sa *sa, struct gw_counter_slot *slot);
/* A drop that io/ saw and that belongs to this SA. */
void gw_sa_drop(gw_sa *sa, int reason, uint64_t n);

/* ---- pure helpers ---- */
/* Outer TOS from inner for sealing (RFC 6040 normal mode), and the inner ECN fix-up when opening:
 * gw_ecn_decap returns GW_OK or GW_IN_ECN_ILLEGAL and rewrites the inner header (checksum included). */
uint8_t gw_ecn_encap(uint8_t inner_tos, uint32_t sa_flags);
int gw_ecn_decap(uint8_t *inner, size_t len, uint8_t outer_tos);
/* ICMP "fragmentation needed" / ICMPv6 "packet too big" answering `packet`, into out; returns its length or 0. */
size_t gw_icmp_too_big(const uint8_t *packet, size_t len, uint32_t mtu, const gw_addr *from, uint8_t *out, size_t cap);

#endif
