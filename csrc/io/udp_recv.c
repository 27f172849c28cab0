/* SPDX-License-Identifier: MIT
 * recvmmsg -> packets. With UDP_GRO a message is up to 64 packets of one size; each is looked at by itself, because
 * the kernel joins by addresses and ports alone: SPIs may be mixed, and the last may be a keepalive or IKE.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/mem.h"
#include "outer_udp.h"

static long recv_many(int fd, struct mmsghdr *msgs, unsigned n)
{
#ifdef SYS_recvmmsg
	return syscall(SYS_recvmmsg, fd, msgs, n, MSG_DONTWAIT, NULL);
#else
	return recvmmsg(fd, msgs, n, MSG_DONTWAIT, NULL);
#endif
}

void gw_udp_count_drops(gw_outer *o, uint32_t total, gw_loop_counters *c)
{
	uint32_t more = total - o->drops_seen; /* wraps as the kernel's does */
	if (more > UINT32_MAX / 2) return;     /* an older report, overtaken */
	c->udp_rcvbuf_drops += more;
	o->drops_seen = total;
}

/* An int that qemu-user hands on in the host's order. */
static uint32_t control_int(const gw_outer *o, const struct cmsghdr *c)
{
	uint32_t v = 0;
	memcpy(&v, CMSG_DATA(c), sizeof v);
	return o->swapped ? gw_swap32(v) : v;
}

/* A raw IPv4 socket shows the header, which carries the TOS; the kernel has checked it and joined fragments. */
static void strip_ipv4(gw_udp_rx *r)
{
	const uint32_t header = r->len ? (uint32_t)(r->data[0] & 15) * 4 : 0;

	if (header < 20 || header > r->len) {
		r->len = 0;
		return;
	}
	r->tos = r->data[1];
	r->data += header;
	r->len -= header;
}

static void parse_message(gw_outer *o, uint32_t i, gw_loop_counters *c)
{
	struct mmsghdr *m = &o->rx_msgs[i];
	gw_udp_rx *r = &o->rx[i];

	r->data = o->rx_iov[i].iov_base;
	r->len = m->msg_len;
	r->segment = 0;
	r->tos = 0;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m->msg_hdr); h; h = gw_udp_next_cmsg(&m->msg_hdr, h)) {
		if (h->cmsg_level == SOL_UDP && h->cmsg_type == UDP_GRO)
			r->segment = control_int(o, h);
		else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SO_RXQ_OVFL)
			gw_udp_count_drops(o, control_int(o, h), c);
		else if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_TOS)
			r->tos = *CMSG_DATA(h);
		else if (h->cmsg_level == IPPROTO_IPV6 && h->cmsg_type == IPV6_TCLASS)
			r->tos = (uint8_t)control_int(o, h);
	}
	if (o->raw && o->family == AF_INET) strip_ipv4(r);
	if (!r->segment || r->segment > r->len) r->segment = r->len;
	if (i && o->rx_names[i].ss_family == AF_INET && !memcmp(&o->rx_names[i], &o->rx_names[i - 1], 8))
		r->from = o->rx[i - 1].from; /* the usual case: one peer */
	else
		gw_udp_from_sockaddr(&o->rx_names[i], &r->from);
}

/* Asks for more, into the slots behind those that are still held. 0: nothing there. */
static int refill(gw_outer *o, gw_loop_counters *c)
{
	uint32_t first = o->end, want = o->want;
	uint64_t bytes = 0;
	long got;

	if (want > GW_UDP_SLOTS - first) want = GW_UDP_SLOTS - first;
	for (uint32_t i = first; i < first + want; i++) { /* the kernel wrote over these */
		struct msghdr *m = &o->rx_msgs[i].msg_hdr;
		m->msg_namelen = sizeof o->rx_names[i];
		m->msg_controllen = GW_UDP_CONTROL;
	}
	o->full = false;
	do got = recv_many(o->fd[0], o->rx_msgs + first, want);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
		/* What ICMP brought in is the sender's affair, and is cleared by being read. */
		if (errno == EBADF || errno == ENOTSOCK || errno == EFAULT) return -errno;
		return 0;
	}
	c->udp_recvs++;
	o->end = first + (uint32_t)got;
	for (uint32_t i = first; i < o->end; i++) {
		parse_message(o, i, c);
		bytes += o->rx[i].len;
	}
	c->udp_recv_bytes += bytes;
	o->full = (uint32_t)got == want;
	o->want = bytes > (uint64_t)got * GW_UDP_BIG_BYTES ? GW_UDP_BIG_MESSAGES : GW_UDP_MESSAGES;
	return (int)got;
}

/* Keepalives (RFC 3948 2.3) and the non-ESP marker (2.2) are no packets for us. */
static bool is_esp(const uint8_t *p, uint32_t len, gw_loop_counters *c)
{
	static const uint8_t marker[4];
	if (len == 1 && p[0] == 0xff) {
		c->keepalives++;
		return false;
	}
	if (len >= 4 && !memcmp(p, marker, 4)) {
		c->non_esp++;
		return false;
	}
	return len > 0;
}

int gw_udp_recv(gw_outer *o, gw_pkt *pkts, gw_addr *from, size_t max, gw_loop_counters *c)
{
	size_t n = 0;

	if (o->next == o->end) {
		int got = refill(o, c);
		if (got <= 0) return got;
	}
	for (; o->next < o->end; o->next++, o->from = 0) {
		const gw_udp_rx *r = &o->rx[o->next];
		while (o->from < r->len) {
			if (n == max) goto full;
			uint32_t left = r->len - o->from, len = left < r->segment ? left : r->segment;
			uint8_t *p = r->data + o->from;
			o->from += len;
			if (!o->raw && !is_esp(p, len, c)) continue;
			pkts[n].out = p;
			pkts[n].out_len = len;
			pkts[n].outer_tos = r->tos;
			pkts[n].status = GW_OK;
			from[n++] = r->from;
		}
	}
full:
	c->udp_recv_packets += n;
	return (int)n;
}
