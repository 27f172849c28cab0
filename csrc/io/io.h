/* SPDX-License-Identifier: MIT
 * Packets in and out of the kernel. Knows no cipher; calls esp/ with arrays of packets.
 *
 *   TUN --read 64 KB--> segment --gw_pkt[]--> gw_seal_batch --train--> outer path --UDP_SEGMENT-->
 *   outer path --UDP_GRO--> gw_sadb_lookup, gw_open_batch --gw_pkt[]--> coalesce --write--> TUN
 */
#ifndef GW_IO_IO_H
#define GW_IO_IO_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "../core/counters.h"
#include "../esp/esp.h"
#include "../gwdp.h"

/* ---- virtio_net_hdr, always little-endian (TUNSETVNETLE=1) ---- */
#define GW_VNET_LEN 10
typedef struct gw_vnet {
	uint8_t flags, gso_type;
	uint16_t hdr_len, gso_size, csum_start, csum_offset; /* host order here */
} gw_vnet;

/* ---- tun.c ---- */
/* An fd with IFF_TUN|IFF_NO_PI|IFF_VNET_HDR (and IFF_MULTI_QUEUE), O_NONBLOCK|O_CLOEXEC; -errno with one line.
 * name is in/out (IFNAMSIZ). *offload loses GW_OFF_TUN_* bits that TUNSETOFFLOAD refused. */
int gw_tun_open(char name[16], bool multi_queue, uint32_t *offload, gw_err *err);

/* ---- checksum.c: sums stand in the order in which the machine loads words; store them as they are ---- */
uint16_t gw_csum_fold(uint64_t sum);
uint64_t gw_csum_add(const uint8_t *data, size_t len, uint64_t sum); /* best vector code here; any alignment */

/* ---- segment.c: one TUN read -> packets as two spans (built headers, payload in place) ---- */
typedef struct gw_seg { /* one wire packet of a super-packet */
	uint8_t *head; /* 64-byte aligned scratch: headers, and payload up to a multiple of 64 bytes when more follows */
	uint32_t head_len;
	const uint8_t *rest; /* points into the TUN buffer */
	uint32_t rest_len;
} gw_seg;
#define GW_SEG_SCRATCH 192 /* bytes of scratch a segment */
/* What one TUN read will be cut into. Checked once; then any part of it can be emitted. */
typedef struct gw_seg_plan {
	gw_vnet vnet;
	const uint8_t *packet;
	uint32_t len;
	uint32_t header_len;    /* of each segment: network and transport header */
	uint32_t upper;         /* offset of the transport header */
	uint32_t payload_bytes; /* of a full segment; of the only one when count is 1 */
	uint32_t count;         /* wire packets: 1 .. 65535 */
	bool gso, udp;
	uint16_t ip_id;    /* IPv4: of the first segment */
	uint64_t base_sum; /* of everything that is the same in each transport checksum */
	uint64_t base_ip_sum;
} gw_seg_plan;
/* 0, or -EINVAL when vnet header and packet contradict each other: both are untrusted. */
int gw_segment_plan(gw_seg_plan *plan, const gw_vnet *vnet, const uint8_t *packet, size_t len);
/* Largest wire packet of the plan, bytes. */
uint32_t gw_segment_largest(const gw_seg_plan *plan);
/* Emits segments first .. first + n - 1 (n * GW_SEG_SCRATCH bytes of 64-byte aligned scratch). Checksums complete.
 * Returns n, or -EINVAL when a header does not fit the scratch. */
int gw_segment_emit(const gw_seg_plan *plan, uint32_t first, uint32_t n, uint8_t *scratch, gw_seg *segs);
/* Both in one. Returns how many of max were filled, or -EINVAL (also when there are more than max). */
int gw_segment(const gw_vnet *vnet, const uint8_t *packet, size_t len, uint8_t *scratch, gw_seg *segs, size_t max);

/* ---- fragment.c ---- */
/* Cuts an IPv4 packet into fragments of at most mtu bytes, from payload byte *done on, which is moved on: at most max
 * of them, in max * GW_SEG_SCRATCH bytes of scratch. Returns how many, 0 at the end; -EINVAL: it cannot be cut. */
int gw_fragment(const uint8_t *ip, uint32_t len, uint32_t mtu, uint32_t *done, uint8_t *scratch, gw_seg *segs,
				uint32_t max);

/* ---- mss.c ---- */
/* Lowers the MSS option of a TCP SYN to what `mtu` (inner, bytes) has room for. partial_checksum: the transport
 * checksum is not complete yet, else it is kept right. True when the packet was changed. */
bool gw_mss_clamp(uint8_t *ip, size_t len, uint32_t mtu, bool partial_checksum);

/* ---- coalesce.c: opened packets -> few TUN writes, by the kernel's GRO rule ---- */
typedef struct gw_coalesce gw_coalesce;
/* flush: one TUN write: iov[0] is the vnet header, for a super-packet followed by its headers; the rest are the
 * packet, or payload pieces. Of a super-packet, piece k (iov[1 + k]) is still preceded in memory by its own original
 * vnet->hdr_len bytes of headers: that is what a caller writes when the kernel refuses the whole. */
typedef void (*gw_flush_fn)(void *arg, const struct iovec *iov, int iovcnt, const gw_vnet *vnet, uint32_t segments);
gw_coalesce *gw_coalesce_new(gw_flush_fn flush, void *arg);
void gw_coalesce_free(gw_coalesce *co);
/* join false: every packet is flushed by itself. Packets stay where they are until gw_coalesce_flush. */
void gw_coalesce_add(gw_coalesce *co, const uint8_t *packet, uint32_t len, bool join);
void gw_coalesce_flush(gw_coalesce *co);
bool gw_coalesce_open(const gw_coalesce *co); /* something would be flushed */
uint64_t gw_coalesce_bad_checksums(const gw_coalesce *co);

/* ---- peers.c: whom the SAs of a loop send to, one entry for all SAs of an address and port ---- */
typedef struct gw_peer {
	gw_addr addr;
	socklen_t name_len; /* of name, the address as the kernel wants it; 0: none */
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} name;
	uint32_t users; /* SAs that refer to it by its number */
	uint32_t next;  /* in its bucket, or among the free ones */
	bool gso;       /* UDP_SEGMENT has not been refused on the way there */
	uint32_t mtu;   /* whole outer packets, bytes, as the kernel said when one was too big; 0 = never */
	uint64_t learnt_ns;
} gw_peer;

typedef struct gw_peers {
	gw_peer *peer; /* max; they do not move */
	uint32_t *buckets;
	uint32_t max, mask, free;
	bool raw; /* to the kernel a raw IPv6 socket's port is a protocol */
} gw_peers;
int gw_peers_init(gw_peers *ps, uint32_t max, bool raw); /* 0 or -ENOMEM */
void gw_peers_free(gw_peers *ps);
/* The number of this address, with one user more. There is room for as many as there are SAs. */
uint32_t gw_peers_take(gw_peers *ps, const gw_addr *addr);
bool gw_peers_release(gw_peers *ps, uint32_t id);                 /* true: nobody uses it any more */
void gw_peers_move(gw_peers *ps, uint32_t id, const gw_addr *to); /* everything that sends there follows */

/* ---- the outer path: a small table of functions; one send = one (peer, TOS, DF, segment size) ---- */
typedef struct gw_train { /* packets back to back, all of seg_len bytes but the last */
	gw_peer *peer;
	uint8_t *data;
	uint32_t len, seg_len, count;
	uint8_t tos;
	bool df;
} gw_train;

typedef struct gw_outer gw_outer;
typedef struct gw_outer_ops {
	const char *name; /* "udp", "raw" */
	/* only_sends: another loop receives for it, where a port of its own is not to be had */
	gw_outer *(*open)(const gw_dp_config *config, bool only_sends, gw_dp_info *info, gw_err *err);
	void (*close)(gw_outer *o);
	int (*fd)(const gw_outer *o);
	/* Sends trains in order with as few system calls as the kernel allows; counts errors, never fails.
	 * Returns packets that the kernel took. What is too big teaches the peer's path MTU. */
	size_t (*send)(gw_outer *o, const gw_train *trains, size_t n, gw_loop_counters *c);
	/* Receives what is there into its buffers; fills pkts (out, out_len, outer_tos) and from[]; keepalives and
	 * non-ESP are counted and left out. Returns packets, 0 = nothing there, -errno = the path is dead. */
	int (*recv)(gw_outer *o, gw_pkt *pkts, gw_addr *from, size_t max, gw_loop_counters *c);
	/* The last call filled what it had asked for: another will probably find more. */
	bool (*more)(const gw_outer *o);
	/* Another call has room beside the packets that were handed out: these stay valid until release, which must
	 * come before the next call when there is no room. */
	bool (*room)(const gw_outer *o);
	void (*release)(gw_outer *o);
	/* The path MTU (whole outer packets, bytes) to a peer; 0 when the kernel does not know. */
	uint32_t (*path_mtu)(const gw_outer *o, const gw_peer *peer);
	/* Takes over what the kernel counted by itself (receive buffer drops) since the last datagram. */
	void (*settle)(gw_outer *o, gw_loop_counters *c);
} gw_outer_ops;
extern const gw_outer_ops gw_outer_udp, gw_outer_raw;

/* ---- probe.c: what does this kernel really do? Two segments over loopback, read back. ---- */
typedef struct gw_probe {
	bool udp_gso, udp_gro, cmsg_swapped; /* qemu-user does not swap cmsg data */
	uint32_t gso_max_segments;           /* 64, 128, or 1 */
} gw_probe;
int gw_probe_run(int family, gw_probe *out);

#endif
