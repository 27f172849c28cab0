/* SPDX-License-Identifier: MIT
 * Into the TUN: what was opened and put together, and what the loop itself has to say to the inside.
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop_state.h"
#include "packet.h"

#define JOIN_REFUSED 16 /* in a row: this kernel takes none, and asking costs a system call each time */

/* The kernel refused a super-packet: its packets one by one, as they came. Their own headers still lie before each
 * payload (see gw_flush_fn). */
static void write_pieces(gw_loop *l, const struct iovec *iov, const gw_vnet *vnet, uint32_t segments)
{
	uint8_t head[GW_VNET_LEN] = {0};

	l->c.tun_write_einval++;
	if (++l->join_refused == JOIN_REFUSED && l->coalesce) {
		l->coalesce = false;
		l->c.coalesce_off++;
	}
	for (uint32_t k = 1; k <= segments; k++) {
		uint8_t *packet = (uint8_t *)iov[k].iov_base - vnet->hdr_len;
		struct iovec one[2] = {{head, sizeof head}, {packet, vnet->hdr_len + iov[k].iov_len}};
		ssize_t put = writev(l->tun_fd, one, 2);
		l->c.tun_writes++;
		if (put < 0) {
			l->c.drops[GW_IN_BUFFER_ERROR]++;
			continue;
		}
		l->c.tun_write_bytes += (uint64_t)put;
		l->c.tun_write_segments++;
	}
}

void gw_loop_write_tun(void *loop, const struct iovec *iov, int iovcnt, const gw_vnet *vnet, uint32_t segments)
{
	gw_loop *l = loop;
	ssize_t put;

	gw_loop_stage(l, GW_STAGE_COALESCE);
	do put = writev(l->tun_fd, iov, iovcnt);
	while (put < 0 && errno == EINTR);
	if (put >= 0) {
		l->c.tun_writes++;
		l->c.tun_write_bytes += (uint64_t)put;
		l->c.tun_write_segments += segments;
		if (segments > 1) l->join_refused = 0;
	} else if (errno == EINVAL && segments > 1) {
		write_pieces(l, iov, vnet, segments);
	} else {
		/* EIO: the device is down; it may come up again. EBADFD: it is gone. */
		if (errno == EBADFD || errno == EBADF) gw_loop_die(l, -errno, "writing the TUN");
		l->c.drops[GW_IN_BUFFER_ERROR] += segments;
	}
	gw_loop_stage(l, GW_STAGE_TUN_WRITE);
}
