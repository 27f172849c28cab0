/* SPDX-License-Identifier: MIT
 * Addresses of the UDP path, and its sockets' making: buffers, offloads, the pair for DF.
 */
#include "udp.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "../core/clock.h"
#include "outer_udp.h"

#define ASK_NS 1000000u

#ifndef IPV6_DONTFRAG
#define IPV6_DONTFRAG 62
#endif
#ifndef IP_MTU
#define IP_MTU 14
#endif
#ifndef IPV6_MTU
#define IPV6_MTU 24
#endif

socklen_t gw_udp_to_sockaddr(const gw_addr *a, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof *out);
	if (a->family == 4) {
		struct sockaddr_in *s = (struct sockaddr_in *)out;
		s->sin_family = AF_INET;
		s->sin_port = htons(a->port);
		memcpy(&s->sin_addr, a->bytes, 4);
		return sizeof *s;
	}
	if (a->family == 6) {
		struct sockaddr_in6 *s = (struct sockaddr_in6 *)out;
		s->sin6_family = AF_INET6;
		s->sin6_port = htons(a->port);
		memcpy(&s->sin6_addr, a->bytes, 16);
		return sizeof *s;
	}
	return 0;
}

void gw_udp_from_sockaddr(const struct sockaddr_storage *from, gw_addr *out)
{
	memset(out, 0, sizeof *out);
	if (from->ss_family == AF_INET) {
		const struct sockaddr_in *s = (const struct sockaddr_in *)from;
		out->family = 4;
		out->port = ntohs(s->sin_port);
		memcpy(out->bytes, &s->sin_addr, 4);
	} else if (from->ss_family == AF_INET6) {
		const struct sockaddr_in6 *s = (const struct sockaddr_in6 *)from;
		out->family = 6;
		out->port = ntohs(s->sin6_port);
		memcpy(out->bytes, &s->sin6_addr, 16);
	}
}

static int fail(gw_err *err, int code, const char *what)
{
	const char *hint = "";
	if (code == EADDRINUSE) hint = ": another program (an IKE daemon?) holds the port";
	if (code == EADDRNOTAVAIL) hint = ": no interface has this address";
	if (err) snprintf(err->text, sizeof err->text, "outer UDP socket: %s: %s%s", what, strerror(code), hint);
	return -code;
}

/* Force needs a capability in the initial user namespace; what the plain option grants, the sysctl limits. */
static uint32_t set_buffer(int fd, int force, int plain, uint32_t bytes)
{
	int want = (int)(bytes / 2), got = 0; /* the kernel doubles it */
	socklen_t len = sizeof got;

	if (setsockopt(fd, SOL_SOCKET, force, &want, sizeof want) < 0)
		(void)setsockopt(fd, SOL_SOCKET, plain, &want, sizeof want);
	(void)getsockopt(fd, SOL_SOCKET, plain, &got, &len);
	return (uint32_t)got;
}

void gw_udp_set_buffers(gw_outer *o, const gw_dp_config *config, gw_dp_info *info)
{
	info->rcvbuf_bytes = set_buffer(o->fd[0], SO_RCVBUFFORCE, SO_RCVBUF, config->rcvbuf_bytes);
	info->sndbuf_bytes = set_buffer(o->fd[0], SO_SNDBUFFORCE, SO_SNDBUF, config->sndbuf_bytes);
	if (o->fd[1] >= 0) (void)set_buffer(o->fd[1], SO_SNDBUFFORCE, SO_SNDBUF, config->sndbuf_bytes);
}

/* The two sockets share an address: the group's program gives every datagram to the first. */
static int receive_on_first(int fd)
{
	struct sock_filter first = {BPF_RET | BPF_K, 0, 0, 0};
	struct sock_fprog program = {1, &first};
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
}

void gw_udp_set_df(int fd, int family, bool df)
{
	if (family == AF_INET) {
		int mode = df ? IP_PMTUDISC_DO : IP_PMTUDISC_DONT;
		(void)setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &mode, sizeof mode);
	} else {
		int on = df;
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_DONTFRAG, &on, sizeof on);
	}
}

static int open_socket(gw_outer *o, const gw_addr *local, bool df)
{
	struct sockaddr_storage addr;
	socklen_t len = gw_udp_to_sockaddr(local, &addr);
	struct timeval patience = {.tv_usec = 100000}; /* a full send buffer is waited for, but never for ever */
	int fd = socket(o->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0) return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (o->no_checksum) (void)setsockopt(fd, SOL_SOCKET, SO_NO_CHECK, &on, sizeof on);
	if (o->no_checksum && o->family == AF_INET6) { /* RFC 6935: by both ends' consent only */
		(void)setsockopt(fd, SOL_UDP, UDP_NO_CHECK6_TX, &on, sizeof on);
		(void)setsockopt(fd, SOL_UDP, UDP_NO_CHECK6_RX, &on, sizeof on);
	}
	if (o->family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
	gw_udp_set_df(fd, o->family, df);
	if (bind(fd, (struct sockaddr *)&addr, len) < 0) {
		int code = errno;
		close(fd);
		return -code;
	}
	return fd;
}

/* A port that somebody else holds must be an error, though SO_REUSEPORT would let us share it. */
static int port_is_free(const gw_outer *o, const gw_addr *local)
{
	struct sockaddr_storage addr;
	socklen_t len = gw_udp_to_sockaddr(local, &addr);
	int fd = socket(o->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), code = 0;

	if (fd < 0) return -errno;
	if (local->port && bind(fd, (struct sockaddr *)&addr, len) < 0) code = -errno;
	close(fd);
	return code;
}

int gw_udp_open_sockets(gw_outer *o, const gw_dp_config *config, gw_dp_info *info, gw_err *err)
{
	gw_addr local = config->local;
	struct sockaddr_storage bound;
	socklen_t len = sizeof bound;
	int on = 1, code = port_is_free(o, &local);

	if (code < 0) return fail(err, -code, "bind");
	o->fd[0] = open_socket(o, &local, true);
	if (o->fd[0] < 0) return fail(err, -o->fd[0], "bind");
	if (getsockname(o->fd[0], (struct sockaddr *)&bound, &len) < 0) return fail(err, errno, "getsockname");
	gw_udp_from_sockaddr(&bound, &local);
	o->fd[1] = open_socket(o, &local, false);
	if (o->fd[1] < 0) return fail(err, -o->fd[1], "bind for DF 0");
	o->ask_fd = socket(o->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (o->ask_fd < 0) return fail(err, errno, "socket");
	if (receive_on_first(o->fd[0]) < 0) {
		/* Where nobody can say which of the two receives (qemu-user), there is one, whose DF is switched. */
		close(o->fd[1]);
		o->fd[1] = -1;
	}
	o->df = true;
	(void)setsockopt(o->fd[0], SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
	(void)setsockopt(o->fd[0], o->family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
					 o->family == AF_INET ? IP_RECVTOS : IPV6_RECVTCLASS, &on, sizeof on);
	if (o->gro && setsockopt(o->fd[0], SOL_UDP, UDP_GRO, &on, sizeof on) < 0) o->gro = false;
	info->local = local;
	gw_udp_set_buffers(o, config, info);
	return 0;
}

uint32_t gw_udp_path_mtu(const gw_outer *o, const gw_peer *peer)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	const int v4 = o->family == AF_INET;
	socklen_t size = sizeof(int);
	int mtu = 0;

	if (connect(o->ask_fd, &peer->name.any, peer->name_len) < 0) return 0;
	if (getsockopt(o->ask_fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &size) < 0) mtu = 0;
	(void)connect(o->ask_fd, &nobody, sizeof nobody);
	return mtu > 0 ? (uint32_t)mtu : 0;
}

void gw_udp_send_failed(gw_outer *o, gw_peer *peer, int code, uint32_t packets, gw_loop_counters *c)
{
	c->udp_send_errors += packets;
	if (code != EMSGSIZE) return;
	c->udp_send_too_big += packets;
	const uint64_t now = gw_now_ns();
	/* More of the same batch: its senders have not been told yet. */
	if (peer->mtu && now - peer->learnt_ns < ASK_NS) return;
	const uint32_t mtu = gw_udp_path_mtu(o, peer);
	if (!mtu) return;
	peer->mtu = mtu;
	peer->learnt_ns = now;
}
