/* SPDX-License-Identifier: MIT
 * The UDP outer path (RFC 3948) as an entry of the outer-path table.
 */
#define _GNU_SOURCE
#include "outer_udp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../core/mem.h"

#define MEMINFO_DROPS 8 /* SK_MEMINFO_DROPS of linux/sock_diag.h */
#define BUFFER_STRIDE (GW_UDP_MESSAGE_BYTES + GW_UDP_STRIDE_PAD)

void gw_udp_close(gw_outer *o)
{
	if (!o) return;
	for (int i = 0; i < 2; i++)
		if (o->fd[i] >= 0) close(o->fd[i]);
	if (o->ask_fd >= 0) close(o->ask_fd);
	free(o->rx_msgs);
	free(o->tx_msgs);
	if (o->buffers) munmap(o->buffers, (size_t)BUFFER_STRIDE * GW_UDP_SLOTS);
	free(o);
}

/* Everything that stays the same from call to call is set once. */
static bool make_buffers(gw_outer *o)
{
	o->rx_msgs = calloc(GW_UDP_SLOTS, sizeof *o->rx_msgs);
	o->tx_msgs = calloc(GW_UDP_MESSAGES, sizeof *o->tx_msgs);
	o->buffers =
		mmap(NULL, (size_t)BUFFER_STRIDE * GW_UDP_SLOTS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (o->buffers == MAP_FAILED) o->buffers = NULL;
	if (!o->rx_msgs || !o->tx_msgs || !o->buffers) return false;
	for (uint32_t i = 0; i < GW_UDP_SLOTS; i++) {
		struct msghdr *m = &o->rx_msgs[i].msg_hdr;
		o->rx_iov[i] = (struct iovec){o->buffers + (size_t)i * BUFFER_STRIDE, GW_UDP_MESSAGE_BYTES};
		m->msg_name = &o->rx_names[i];
		m->msg_iov = &o->rx_iov[i];
		m->msg_iovlen = 1;
		m->msg_control = o->rx_control[i];
	}
	o->want = GW_UDP_MESSAGES;
	return true;
}

gw_outer *gw_udp_new(const gw_dp_config *config, gw_err *err)
{
	gw_outer *o = aligned_alloc(64, (sizeof *o + 63) & ~(size_t)63);

	if (o) {
		memset(o, 0, sizeof *o);
		o->fd[0] = o->fd[1] = o->ask_fd = -1;
		o->family = config->local.family == 6 ? AF_INET6 : AF_INET;
		if (make_buffers(o)) return o;
	}
	if (err) snprintf(err->text, sizeof err->text, "outer path: out of memory");
	gw_udp_close(o);
	return NULL;
}

static gw_outer *udp_open(const gw_dp_config *config, bool only_sends, gw_dp_info *info, gw_err *err)
{
	gw_outer *o = gw_udp_new(config, err);
	gw_probe probe;

	(void)only_sends; /* each has its port */
	if (!o) return NULL;
	o->no_checksum = !config->udp_checksum;
	(void)gw_probe_run(o->family, &probe);
	/* UDP_SEGMENT with SO_NO_CHECK is EINVAL. */
	o->gso = probe.udp_gso && (config->offload & GW_OFF_UDP_GSO) && !o->no_checksum;
	o->gro = probe.udp_gro && (config->offload & GW_OFF_UDP_GRO);
	o->swapped = probe.cmsg_swapped;
	o->gso_max_segments = o->gso ? probe.gso_max_segments : 1;
	if (gw_udp_open_sockets(o, config, info, err) < 0) {
		gw_udp_close(o);
		return NULL;
	}
	if (!o->gso) info->offload &= ~(uint32_t)GW_OFF_UDP_GSO;
	if (!o->gro) info->offload &= ~(uint32_t)GW_OFF_UDP_GRO;
	info->gso_max_segments = o->gso_max_segments;
	return o;
}

int gw_udp_fd(const gw_outer *o)
{
	return o->fd[0];
}

bool gw_udp_more(const gw_outer *o)
{
	return o->next < o->end || o->full;
}

bool gw_udp_room(const gw_outer *o)
{
	if (o->next < o->end) return true; /* the next call parses on */
	return o->end + o->want <= (o->want == GW_UDP_BIG_MESSAGES ? GW_UDP_BIG_SLOTS : GW_UDP_SLOTS);
}

void gw_udp_release(gw_outer *o)
{
	if (o->next == o->end) o->next = o->end = 0;
}

void gw_udp_settle(gw_outer *o, gw_loop_counters *c)
{
	uint32_t info[16] = {0};
	socklen_t len = sizeof info;

	if (getsockopt(o->fd[0], SOL_SOCKET, SO_MEMINFO, info, &len) == 0 && len > MEMINFO_DROPS * sizeof *info)
		gw_udp_count_drops(o, info[MEMINFO_DROPS], c);
}

const gw_outer_ops gw_outer_udp = {
	.name = "udp",
	.open = udp_open,
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
