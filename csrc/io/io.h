/* SPDX-License-Identifier: MIT
 * Packets in and out of the kernel. Knows no cipher; calls esp/ with arrays of packets.
 *
 *   TUN --read 64 KB--> segment --gw_pkt[]--> gw_seal_batch --train--> outer path --UDP_SEGMENT-->
 *   outer path --UDP_GRO--> gw_sadb_lookup, gw_open_batch --gw_pkt[]--> coalesce --write--> TUN
 */
#ifndef GW_IO_IO_H
#define GW_IO_IO_H

#include <stdbool.h>
#include <sys/socket.h>

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

/* ---- checksum.c ---- */
uint16_t gw_csum_fold(uint64_t sum);
uint64_t gw_csum_add(const uint8_t *data, size_t len, uint64_t sum); /* best vector code here; any alignment */

/* ---- segment.c: one TUN read -> packets as two spans (built headers, payload in place) ---- */
typedef struct gw_seg { /* one wire packet of a super-packet */
	uint8_t *head;       /* 64-byte aligned scratch: headers, and payload up to a multiple of 64 bytes when more follows */
	uint32_t head_len;
	const uint8_t *rest; /* points into the TUN buffer */
	uint32_t rest_len;
} gw_seg;
/* Returns how many of max were filled (scratch: max * 192 bytes), or -EINVAL. Checksums are complete. */
int gw_segment(const gw_vnet *vnet, const uint8_t *packet, size_t len, uint8_t *scratch, gw_seg *segs, size_t max);

/* ---- coalesce.c: opened packets -> few TUN writes ---- */
typedef struct gw_coalesce gw_coalesce;
/* flush: one TUN write: iov[0] is the vnet header + headers, the rest payload pieces; segments packets inside. */
typedef void (*gw_flush_fn)(void *arg, const struct iovec *iov, int iovcnt, const gw_vnet *vnet, uint32_t segments);

/* ---- the outer path: a small table of functions; one send = one (peer, TOS, DF, segment size) ---- */
typedef struct gw_train { /* packets back to back, all of seg_len bytes but the last */
	const gw_addr *peer;
	uint8_t *data;
	uint32_t len, seg_len, count;
	uint8_t tos;
	bool df;
} gw_train;

typedef struct gw_outer gw_outer;
typedef struct gw_outer_ops {
	const char *name; /* "udp", "raw" */
	gw_outer *(*open)(const gw_dp_config *config, gw_dp_info *info, gw_err *err);
	void (*close)(gw_outer *o);
	int (*fd)(const gw_outer *o);
	/* Sends trains in order with as few system calls as the kernel allows; counts errors, never fails.
	 * Returns packets that the kernel took. */
	size_t (*send)(gw_outer *o, const gw_train *trains, size_t n, gw_loop_counters *c);
	/* Receives what is there into its buffers; fills pkts (out, out_len, outer_tos) and from[]; keepalives and
	 * non-ESP are counted and left out. Buffers stay valid until the next call. Returns packets, 0 = nothing there,
	 * -errno = the path is dead. */
	int (*recv)(gw_outer *o, gw_pkt *pkts, gw_addr *from, size_t max, gw_loop_counters *c);
} gw_outer_ops;
extern const gw_outer_ops gw_outer_udp;

/* ---- probe.c: what does this kernel really do? Two segments over loopback, read back. ---- */
typedef struct gw_probe {
	bool udp_gso, udp_gro, cmsg_swapped; /* qemu-user does not swap cmsg data */
	uint32_t gso_max_segments;           /* 64, 128, or 1 */
} gw_probe;
int gw_probe_run(int family, gw_probe *out);

#endif
