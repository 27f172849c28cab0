/* SPDX-License-Identifier: MIT
 * Trains -> sendmmsg. With UDP_SEGMENT a train is one message; without, each packet is one, still many a call.
 *
 * The system call is made directly: musl's sendmmsg is a loop over sendmsg on 64-bit machines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/mem.h"
#include "outer_udp.h"

static long send_many(int fd, struct mmsghdr *msgs, unsigned n)
{
#ifdef SYS_sendmmsg
	return syscall(SYS_sendmmsg, fd, msgs, n, 0);
#else
	return sendmmsg(fd, msgs, n, 0);
#endif
}

static void set_message(gw_outer *o, uint32_t i, const gw_train *t, uint8_t *data, uint32_t len, uint32_t packets)
{
	struct msghdr *m = &o->tx_msgs[i].msg_hdr;
	size_t control = 0;

	o->tx_iov[i] = (struct iovec){data, len};
	o->tx_packets[i] = packets;
	o->tx_segment[i] = t->seg_len;
	o->tx_peer[i] = t->peer;
	m->msg_name = &t->peer->name;
	m->msg_namelen = t->peer->name_len;
	m->msg_iov = &o->tx_iov[i];
	m->msg_iovlen = 1;
	if (packets > 1) {
		uint16_t segment = (uint16_t)t->seg_len;
		if (o->swapped) segment = __builtin_bswap16(segment); /* qemu-user hands it on as it is */
		control =
			gw_udp_put_cmsg((struct cmsghdr *)(void *)o->tx_control[i], SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
	}
	if (t->tos) {
		const int v4 = o->family == AF_INET;
		const uint32_t tos = o->swapped ? gw_swap32(t->tos) : t->tos;
		control += gw_udp_put_cmsg((struct cmsghdr *)(void *)(o->tx_control[i] + control),
								   v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &tos, sizeof tos);
	}
	m->msg_control = control ? o->tx_control[i] : NULL;
	m->msg_controllen = control;
}

/* The kernel refused UDP_SEGMENT for this message (no checksum offload on the way out, a segment above the MTU with
 * DF clear): its packets one by one. Returns how many were taken. */
static uint32_t send_singly(gw_outer *o, int fd, uint32_t i, gw_loop_counters *c)
{
	struct msghdr m = o->tx_msgs[i].msg_hdr;
	uint8_t *at = o->tx_iov[i].iov_base;
	size_t left = o->tx_iov[i].iov_len, gso_control = CMSG_SPACE(sizeof(uint16_t));
	uint32_t taken = 0;

	c->gso_fallbacks++;
	m.msg_controllen -= gso_control;
	m.msg_control = m.msg_controllen ? o->tx_control[i] + gso_control : NULL;
	while (left) {
		struct iovec iov = {at, left < o->tx_segment[i] ? left : o->tx_segment[i]};
		m.msg_iov = &iov;
		c->udp_sends++;
		if (sendmsg(fd, &m, 0) >= 0) {
			taken++;
			c->udp_send_bytes += iov.iov_len;
		} else if (errno == EINTR) {
			continue;
		} else {
			gw_udp_send_failed(o, o->tx_peer[i], errno, 1, c);
		}
		at += iov.iov_len;
		left -= iov.iov_len;
	}
	c->udp_send_packets += taken;
	return taken;
}

static size_t send_messages(gw_outer *o, int fd, uint32_t n, gw_loop_counters *c)
{
	size_t taken = 0;

	for (uint32_t i = 0; i < n;) {
		long sent = send_many(fd, o->tx_msgs + i, n - i);
		c->udp_sends++;
		for (; sent > 0; sent--, i++) {
			taken += o->tx_packets[i];
			c->udp_send_packets += o->tx_packets[i];
			c->udp_send_bytes += o->tx_iov[i].iov_len;
		}
		if (sent == 0 || errno == EINTR) continue;
		/* Errors are counted drops: a peer that restarts or a full queue causes them, and both pass. */
		/* A segment above the path's MTU: EINVAL before Linux 6.14, then EMSGSIZE; singly it may be fragmented. */
		bool by_itself = errno == EINVAL || errno == EIO || errno == ENOPROTOOPT || (errno == EMSGSIZE && !o->df);
		if (o->tx_packets[i] > 1 && by_itself) {
			if (errno == EIO) o->tx_peer[i]->gso = false; /* this way out will refuse every time */
			taken += send_singly(o, fd, i, c);
		} else {
			gw_udp_send_failed(o, o->tx_peer[i], errno, o->tx_packets[i], c);
		}
		i++;
	}
	return taken;
}

size_t gw_udp_send(gw_outer *o, const gw_train *trains, size_t n, gw_loop_counters *c)
{
	size_t taken = 0;
	uint32_t fill = 0;
	int fd = -1;

	for (size_t i = 0; i < n; i++) {
		const gw_train *t = &trains[i];
		int way = o->fd[t->df || o->fd[1] < 0 ? 0 : 1];
		const bool gso = o->gso && t->peer->gso;

		if (fill && t->df != o->df) {
			taken += send_messages(o, fd, fill, c);
			fill = 0;
		}
		if (t->df != o->df && o->fd[1] < 0) gw_udp_set_df(way, o->family, t->df);
		o->df = t->df;
		fd = way;
		uint32_t step = gso ? t->len : t->seg_len;
		for (uint32_t at = 0; at < t->len; at += step) {
			uint32_t len = t->len - at < step ? t->len - at : step;
			if (fill == GW_UDP_MESSAGES) {
				taken += send_messages(o, fd, fill, c);
				fill = 0;
			}
			set_message(o, fill++, t, t->data + at, len, gso ? t->count : 1);
		}
	}
	return fill ? taken + send_messages(o, fd, fill, c) : taken;
}
