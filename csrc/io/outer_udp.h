/* SPDX-License-Identifier: MIT
 * The state of one outer path, shared by its parts: udp.c makes the sockets, udp_send.c and udp_recv.c use them,
 * outer_udp.c puts them into the table. outer_raw.c is the same with other sockets.
 */
#ifndef GW_IO_OUTER_UDP_H
#define GW_IO_OUTER_UDP_H

#include "udp.h"

/* One recvmmsg. A GRO buffer takes up to 64 KB, as does a reassembled datagram; the stride is padded so that the
 * starts of many small datagrams do not fall into the same cache sets. */
#define GW_UDP_MESSAGES      64  /* of one call */
#define GW_UDP_SLOTS         256 /* buffers: packets of several calls may be held together, to be joined */
#define GW_UDP_BIG_SLOTS     16  /* held when they come full: more would leave the cache before they are written */
#define GW_UDP_BIG_MESSAGES  4
#define GW_UDP_BIG_BYTES     8192
#define GW_UDP_MESSAGE_BYTES 65536
#define GW_UDP_STRIDE_PAD    192
#define GW_UDP_CONTROL       128

struct mmsghdr;

typedef struct gw_udp_rx { /* one received message, not yet parsed to its end */
	uint8_t *data;
	uint32_t len, segment; /* bytes; segment: of each packet inside */
	uint8_t tos;
	gw_addr from;
} gw_udp_rx;

struct gw_outer {
	int fd[2];  /* DF set (also receives), DF clear; the second -1: the first does both */
	bool df;    /* of what is sent now */
	int ask_fd; /* connected to a peer when its path MTU is asked for: a loop's thread may live in another namespace */
	int family;
	bool raw; /* IP protocol 50: nothing but ESP arrives, with the IPv4 header in front */
	bool gso, gro, swapped, no_checksum;
	uint32_t gso_max_segments;
	uint32_t drops_seen; /* SO_RXQ_OVFL, as last counted */
	/* receiving */
	uint8_t *buffers;
	uint32_t want;            /* messages to ask for: few when they are big */
	uint32_t next, end, from; /* slots of the last call that are not parsed to their end; offset inside the first */
	bool full;                /* the last call brought as many as were asked for */
	gw_udp_rx rx[GW_UDP_SLOTS];
	struct mmsghdr *rx_msgs;
	struct iovec rx_iov[GW_UDP_SLOTS];
	struct sockaddr_storage rx_names[GW_UDP_SLOTS];
	_Alignas(8) uint8_t rx_control[GW_UDP_SLOTS][GW_UDP_CONTROL];
	/* sending */
	struct mmsghdr *tx_msgs;
	struct iovec tx_iov[GW_UDP_MESSAGES];
	_Alignas(8) uint8_t tx_control[GW_UDP_MESSAGES][GW_UDP_CONTROL];
	uint32_t tx_packets[GW_UDP_MESSAGES], tx_segment[GW_UDP_MESSAGES]; /* of each message */
	gw_peer *tx_peer[GW_UDP_MESSAGES];
};

/* Sockets closed, buffers there; NULL with one line. */
gw_outer *gw_udp_new(const gw_dp_config *config, gw_err *err);
void gw_udp_set_buffers(gw_outer *o, const gw_dp_config *config, gw_dp_info *info);
/* gw_outer_ops, of both paths: */
void gw_udp_close(gw_outer *o);
int gw_udp_fd(const gw_outer *o);
bool gw_udp_more(const gw_outer *o);
bool gw_udp_room(const gw_outer *o);
void gw_udp_release(gw_outer *o);
void gw_udp_settle(gw_outer *o, gw_loop_counters *c);
uint32_t gw_udp_path_mtu(const gw_outer *o, const gw_peer *peer);
/* A send failed with errno: books it. */
void gw_udp_send_failed(gw_outer *o, gw_peer *peer, int code, uint32_t packets, gw_loop_counters *c);
void gw_udp_set_df(int fd, int family, bool df);
int gw_udp_open_sockets(gw_outer *o, const gw_dp_config *config, gw_dp_info *info, gw_err *err);
/* SK_MEMINFO_DROPS: also what no later datagram reported. */
void gw_udp_count_drops(gw_outer *o, uint32_t total, gw_loop_counters *c);
size_t gw_udp_send(gw_outer *o, const gw_train *trains, size_t n, gw_loop_counters *c);
int gw_udp_recv(gw_outer *o, gw_pkt *pkts, gw_addr *from, size_t max, gw_loop_counters *c);

#endif
