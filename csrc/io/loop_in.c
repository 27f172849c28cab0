/* SPDX-License-Identifier: MIT
 * Inward: UDP receive -> SA by SPI -> one open, in place -> few TUN writes.
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loop_state.h"
#include "packet.h"

/* The kernel refused a super-packet: its packets one by one, as they came. Their own headers still lie before each
 * payload (see gw_flush_fn). */
static void write_pieces(gw_loop *l, const struct iovec *iov, const gw_vnet *vnet, uint32_t segments)
{
	uint8_t head[GW_VNET_LEN] = {0};

	l->c.tun_write_einval++;
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
	} else if (errno == EINVAL && segments > 1) {
		write_pieces(l, iov, vnet, segments);
	} else {
		/* EIO: the device is down; it may come up again. EBADFD: it is gone. */
		if (errno == EBADFD || errno == EBADF) gw_loop_die(l, -errno, "writing the TUN");
		l->c.drops[GW_IN_BUFFER_ERROR] += segments;
	}
	gw_loop_stage(l, GW_STAGE_TUN_WRITE);
}

/* Groups stay open until a receive finds nothing, or has no room: one super-packet of the far client comes in two
 * trains, and while the first was opened the second has probably arrived. */
static bool settle(gw_loop *l, bool found)
{
	bool more = l->ops->more(l->outer) || (found && gw_coalesce_open(l->co));

	if (!more || !l->ops->room(l->outer)) {
		gw_coalesce_flush(l->co);
		l->ops->release(l->outer);
	}
	l->c.coalesce_bad_checksum = gw_coalesce_bad_checksums(l->co);
	gw_loop_stage(l, GW_STAGE_COALESCE);
	return more;
}

/* NAT gave the peer another port, or it moved. Only an authentic packet says so, and only the newest: one that was
 * delayed on the old path, or held back by somebody, moves nothing. */
static void follow_peer(gw_loop *l, const gw_pkt *p, const gw_addr *from)
{
	if (!(gw_sa_flags(p->sa) & GW_SA_ROAM) || gw_addr_same(gw_sa_peer(p->sa), from)) return;
	if (gw_load_be32(p->out + 4) != (uint32_t)gw_sa_newest(p->sa)) return;
	const gw_addr old = *gw_sa_peer(p->sa);
	gw_sadb_move_peer(l->sadb, &old, from);
	l->c.peer_moves++;
}

bool gw_loop_in(gw_loop *l, uint64_t now_ns)
{
	int got = l->ops->recv(l->outer, l->in, l->from, GW_LOOP_IN, &l->c);
	uint32_t n = 0;

	gw_loop_stage(l, GW_STAGE_RECV);
	if (got < 0) gw_loop_die(l, got, "receiving from the outer socket");
	if (got <= 0) return settle(l, false);
	gw_sadb_lookup(l->sadb, l->in, (size_t)got);
	for (uint32_t i = 0; i < (uint32_t)got; i++) {
		if (!l->in[i].sa) {
			l->c.drops[l->in[i].status]++;
			continue;
		}
		if (n != i) {
			l->in[n] = l->in[i];
			l->from[n] = l->from[i];
		}
		n++;
	}
	if (n) {
		gw_hist_add(l->c.open_batch_hist, n);
		gw_open_batch(l->in, n, now_ns);
	}
	gw_loop_stage(l, GW_STAGE_OPEN);
	for (uint32_t i = 0; i < n; i++) {
		const gw_pkt *p = &l->in[i];
		if (p->status != GW_OK) continue;
		if (l->roaming) follow_peer(l, p, &l->from[i]);
		if (l->clamp_mss && gw_maybe_syn(p->inner, p->inner_len))
			l->c.mss_clamped += gw_mss_clamp(p->inner, p->inner_len, l->mtu, false);
		gw_coalesce_add(l->co, p->inner, p->inner_len, l->coalesce);
	}
	return settle(l, true);
}
