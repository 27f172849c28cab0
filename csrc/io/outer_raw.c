/* SPDX-License-Identifier: MIT
 * Bare ESP (IP protocol 50, RFC 4303 2) over raw sockets, as an entry of the outer-path table. Buffers, receiving and
 * sending are the UDP path's; here no kernel offload joins packets, so sendmmsg and recvmmsg alone make the batches.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "outer_udp.h"

static int fail(gw_err *err, int code, const char *what)
{
	if (err)
		snprintf(err->text, sizeof err->text, "outer ESP socket: %s: %s%s", what, strerror(code),
				 code == EADDRNOTAVAIL     ? ": no interface has this address"
				 : code == EPERM           ? ": raw sockets need CAP_NET_RAW"
				 : code == EPROTONOSUPPORT ? ": this kernel has no raw sockets"
										   : "");
	return -code;
}

static int open_socket(gw_outer *o, const gw_addr *local, bool df, gw_err *err)
{
	struct sockaddr_storage addr;
	const socklen_t len = gw_udp_to_sockaddr(local, &addr);
	struct timeval patience = {.tv_usec = 100000}; /* a full send buffer is waited for, but never for ever */
	int fd = socket(o->family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ESP), code = 0;

	if (fd < 0) return fail(err, errno, "socket");
	gw_udp_set_df(fd, o->family, df);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (bind(fd, (struct sockaddr *)&addr, len) < 0) {
		code = fail(err, errno, "bind");
		close(fd);
		return code;
	}
	return fd;
}

static int open_sockets(gw_outer *o, const gw_dp_config *config, bool only_sends, gw_dp_info *info, gw_err *err)
{
	gw_addr local = config->local;
	struct sockaddr_storage own;
	socklen_t len;
	int on = 1;

	local.port = 0; /* to the kernel a raw IPv6 socket's port is a protocol */
	for (int i = 0; i < 2; i++) {
		o->fd[i] = open_socket(o, &local, i == 0, err);
		if (o->fd[i] < 0) return o->fd[i];
	}
	/* Every raw socket gets a copy of every packet. The second one sends only, as do those of further loops: connected
	 * to ourselves it matches none that comes from outside, and sends to any other address all the same. */
	len = gw_udp_to_sockaddr(&local, &own);
	for (int i = only_sends ? 0 : 1; i < 2; i++)
		if (connect(o->fd[i], (struct sockaddr *)&own, len) < 0) return fail(err, errno, "connect");
	o->ask_fd = socket(o->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (o->ask_fd < 0) return fail(err, errno, "socket");
	(void)setsockopt(o->fd[0], SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
	if (o->family == AF_INET6) (void)setsockopt(o->fd[0], IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
	info->local = local;
	gw_udp_set_buffers(o, config, info);
	return 0;
}

static gw_outer *raw_open(const gw_dp_config *config, bool only_sends, gw_dp_info *info, gw_err *err)
{
	gw_outer *o = gw_udp_new(config, err);
	gw_probe probe;

	if (!o) return NULL;
	o->raw = true;
	(void)gw_probe_run(o->family, &probe);
	o->swapped = probe.cmsg_swapped;
	o->gso_max_segments = 1;
	if (open_sockets(o, config, only_sends, info, err) < 0) {
		gw_udp_close(o);
		return NULL;
	}
	info->offload &= ~(uint32_t)(GW_OFF_UDP_GSO | GW_OFF_UDP_GRO);
	info->gso_max_segments = 1;
	return o;
}

const gw_outer_ops gw_outer_raw = {
	.name = "raw",
	.open = raw_open,
	.close = gw_udp_close,
	.fd = gw_udp_fd,
	.send = gw_udp_send,
	.recv = gw_udp_recv,
	.more = gw_udp_more,
	.room = gw_udp_room,
	.release = gw_udp_release,
	.path_mtu = gw_udp_path_mtu,
	.settle = gw_udp_settle,
};
