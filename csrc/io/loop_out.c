/* SPDX-License-Identifier: MIT
 * Outward: TUN reads -> segments -> one seal -> trains.
 *
 * Packets of several reads are sealed together when reads are small (no TSO, or acknowledgements), because batch
 * ciphers like company; one super-packet is company enough. What was read lies still until it is sealed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loop_state.h"
#include "packet.h"

#define READ_BYTES   49152 /* read before sealing: one super-packet, or GW_LOOP_READS single packets */
#define TURNS        4     /* then the other direction has its own */
#define ALIGN_PAD    54    /* puts the packet behind the vnet header on a cache line */
#define ICMP_BYTES   1280
#define IPV6_MIN_MTU 1280

static void send_trains(gw_loop *l, bool all)
{
	gw_trains_send(&l->trains, all, l->ops, l->outer, &l->c);
	gw_loop_stage(l, GW_STAGE_SEND);
}

void gw_loop_send_rest(gw_loop *l)
{
	if (l->trains.n) send_trains(l, true);
}

/* Lays out, seals and books everything that is pending. */
static void seal_pending(gw_loop *l, uint64_t now_ns)
{
	uint32_t n = l->n_out;

	for (uint32_t first = 0; first < n;) {
		uint32_t fit = first;
		for (; fit < n; fit++) {
			gw_pkt *p = &l->out[fit];
			size_t cap = gw_seal_len(p->sa, p->in[0].len + (p->n_in > 1 ? p->in[1].len : 0));
			p->out = gw_trains_place(&l->trains, cap);
			if (!p->out) break;
			p->out_cap = (uint32_t)cap;
		}
		if (fit == first && !l->trains.n) { /* longer than the whole memory: cannot be, unless padding is absurd */
			gw_sa_drop(l->out[first++].sa, GW_OUT_INVALID, 1);
			continue;
		}
		gw_hist_add(l->c.seal_batch_hist, fit - first);
		gw_seal_batch(l->out + first, fit - first, now_ns);
		gw_loop_stage(l, GW_STAGE_SEAL);
		for (uint32_t i = first; i < fit; i++) {
			gw_pkt *p = &l->out[i];
			if (p->status != GW_OK) continue; /* counted at its SA */
			gw_peer *peer = &l->peers.peer[gw_sa_peer_id(p->sa)];
			if (!gw_trains_add(&l->trains, p->out, p->out_len, peer, p->outer_tos, l->out_df[i])) {
				/* Data behind the trains sent stays where it is; only the list starts again. */
				l->ops->send(l->outer, l->trains.train, l->trains.n, &l->c);
				l->trains.n = 0;
				l->trains.open = false;
				(void)gw_trains_add(&l->trains, p->out, p->out_len, peer, p->outer_tos, l->out_df[i]);
			}
		}
		send_trains(l, fit < n);
		first = fit;
	}
	l->n_out = 0;
}

static bool wants_df(const gw_sa *sa, const uint8_t *ip)
{
	uint32_t flags = gw_sa_flags(sa);
	if (flags & GW_SA_SET_DF) return true;
	/* IPv6 is never fragmented on its way: its DF counts as set. */
	return (flags & GW_SA_COPY_DF) && (ip[0] >> 4 == 6 || (ip[6] & 0x40));
}

/* Answers inward, as the next router would. The source is the packet's own destination: an address of ours would be
 * dropped as a martian, and this one passes reverse path filters. */
static void answer_too_big(gw_loop *l, const uint8_t *ip, size_t len, uint32_t mtu)
{
	uint8_t icmp[ICMP_BYTES], vnet_head[GW_VNET_LEN] = {0};
	static const gw_vnet none;
	gw_addr from = {.family = ip[0] >> 4 == 4 ? 4 : 6};

	memcpy(from.bytes, from.family == 4 ? ip + 16 : ip + 24, from.family == 4 ? 4 : 16);
	size_t n = gw_icmp_too_big(ip, len, mtu, &from, icmp, sizeof icmp);
	if (!n) return;
	struct iovec iov[2] = {{vnet_head, sizeof vnet_head}, {icmp, n}};
	gw_loop_write_tun(l, iov, 2, &none, 0); /* no segment: the books hold opened packets against these */
}

static void push(gw_loop *l, gw_sa *sa, const gw_seg *seg, bool df)
{
	gw_pkt *p = &l->out[l->n_out];

	p->sa = sa;
	p->in[0] = (gw_span){seg->head, seg->head_len};
	p->in[1] = (gw_span){seg->rest, seg->rest_len};
	p->n_in = seg->rest_len ? 2 : 1;
	p->next_header = seg->head[0] >> 4 == 4 ? 4 : 41;
	p->status = GW_OK;
	if (gw_sa_is_transport(sa) && !gw_loop_strip(p)) { /* all segments of a read, or none */
		gw_sa_drop(sa, GW_OUT_INVALID, 1);
		return;
	}
	l->out_df[l->n_out++] = df;
}

/* The seldom case that packets are cut before they are sealed: one after the other, by way of a memory of its own. */
static void take_cut(gw_loop *l, gw_sa *sa, const gw_seg_plan *plan, uint32_t mtu, bool df, uint64_t now_ns)
{
	_Alignas(64) uint8_t head[GW_SEG_SCRATCH];
	gw_seg seg;

	for (uint32_t k = 0; k < plan->count; k++) {
		uint32_t done = 0;
		int n;

		if (l->n_out) seal_pending(l, now_ns);
		if (gw_segment_emit(plan, k, 1, head, &seg) < 0) {
			gw_sa_drop(sa, GW_OUT_INVALID, plan->count - k);
			return;
		}
		memcpy(l->whole, seg.head, seg.head_len);
		memcpy(l->whole + seg.head_len, seg.rest, seg.rest_len);
		while ((n = gw_fragment(l->whole, seg.head_len + seg.rest_len, mtu, &done, l->scratch, l->segs, GW_LOOP_OUT)) >
			   0) {
			for (int i = 0; i < n; i++) push(l, sa, &l->segs[i], df);
			seal_pending(l, now_ns);
		}
		if (n < 0) gw_sa_drop(sa, GW_OUT_MTU, 1);
	}
}

/* A TUN read whose SA another loop owns. */
static void hand_over(gw_loop *l, uint32_t owner, const uint8_t *ip, size_t len, uint32_t packets)
{
	const gw_handed head = {.len = (uint32_t)len + GW_VNET_LEN};

	if (!gw_loop_hand(l, owner, &head, ip - GW_VNET_LEN, packets)) l->c.drops[GW_OUT_ERROR] += packets;
}

/* One TUN read -> pending packets. */
static void take(gw_loop *l, const gw_vnet *vnet, uint8_t *ip, size_t len, bool handed, uint64_t now_ns)
{
	gw_seg_plan plan;
	int reason = GW_OUT_INVALID;

	if (gw_segment_plan(&plan, vnet, ip, len) < 0) {
		l->c.drops[GW_OUT_INVALID]++;
		return;
	}
	if (plan.gso && !handed) l->c.tun_read_gso++;
	gw_sa *sa = gw_spd_lookup(l->spd, ip, len, &reason);
	if (!sa) {
		l->c.drops[reason] += plan.count;
		return;
	}
	if (gw_sa_is_elsewhere(sa)) {
		if (handed)
			l->c.drops[GW_OUT_NO_STATES] += plan.count; /* it went while the packet came here */
		else
			hand_over(l, gw_sa_owner(sa), ip, len, plan.count);
		return;
	}
	if (handed) l->c.taken_over += plan.count;
	bool df = wants_df(sa, ip);
	uint32_t mtu = gw_loop_inner_mtu(l, sa, now_ns);
	if (gw_segment_largest(&plan) > mtu) {
		const bool v6 = ip[0] >> 4 == 6;
		/* IPv6 has no smaller packets than this: on a narrower path they are fragmented outside. */
		if (v6 && mtu < IPV6_MIN_MTU && mtu < l->mtu) mtu = l->mtu < IPV6_MIN_MTU ? l->mtu : IPV6_MIN_MTU;
		if (gw_segment_largest(&plan) > mtu && (v6 || (ip[6] & 0x40))) {
			gw_sa_drop(sa, GW_OUT_MTU, plan.count);
			answer_too_big(l, ip, len, mtu);
			return;
		}
		if (l->whole && !v6 && !gw_sa_is_transport(sa)) { /* RFC 4303 3.3.4: no fragments in transport mode */
			take_cut(l, sa, &plan, mtu, df, now_ns);
			return;
		}
		df = false;
	}
	if (l->clamp_mss && !plan.gso && gw_maybe_syn(ip, len))
		l->c.mss_clamped += gw_mss_clamp(ip, len, mtu, vnet->flags & GW_VNET_NEEDS_CSUM);
	for (uint32_t done = 0; done < plan.count;) {
		uint32_t room = GW_LOOP_OUT - l->n_out, n = plan.count - done < room ? plan.count - done : room;
		gw_seg *segs = l->segs + l->n_out;
		if (gw_segment_emit(&plan, done, n, l->scratch + (size_t)l->n_out * GW_SEG_SCRATCH, segs) < 0) {
			gw_sa_drop(sa, GW_OUT_INVALID, plan.count - done);
			return;
		}
		for (uint32_t i = 0; i < n; i++) push(l, sa, &segs[i], df);
		done += n;
		if (l->n_out == GW_LOOP_OUT) {
			gw_loop_stage(l, GW_STAGE_SEGMENT);
			seal_pending(l, now_ns);
		}
	}
}

/* Reads until the TUN is empty or there is enough to work on. What was read is not looked at yet: a load right behind
 * the kernel's copy would wait for it, packet by packet; later the loads overlap. */
static uint32_t gather(gw_loop *l, bool *drained)
{
	size_t bytes = 0;
	uint32_t n = 0;

	while (n < GW_LOOP_READS && bytes < READ_BYTES && l->tun_cap - l->tun_at >= GW_TUN_READ_BYTES + ALIGN_PAD) {
		uint8_t *at = l->tun_memory + l->tun_at + ALIGN_PAD;
		/* Directly: the library's read is a cancellation point, which costs more than the check is worth. */
		long got = syscall(SYS_read, l->tun_fd, at, (size_t)GW_TUN_READ_BYTES);
		if (got < 0) {
			if (errno == EINTR) continue;
			if (errno != EAGAIN && errno != EWOULDBLOCK) gw_loop_die(l, -errno, "reading the TUN");
			*drained = true;
			break;
		}
		l->c.tun_reads++;
		l->c.tun_read_bytes += (uint64_t)got;
		bytes += (size_t)got;
		l->reads[n++] = (gw_span){at, (size_t)got};
		l->tun_at += ((size_t)got + ALIGN_PAD + 63) & ~(size_t)63;
	}
	gw_loop_stage(l, GW_STAGE_TUN_READ);
	return n;
}

static void take_read(gw_loop *l, uint8_t *read, size_t len, bool handed, uint64_t now_ns)
{
	gw_vnet vnet;

	if (len <= GW_VNET_LEN) {
		l->c.drops[GW_OUT_INVALID]++;
		return;
	}
	gw_vnet_load(&vnet, read);
	take(l, &vnet, read + GW_VNET_LEN, len - GW_VNET_LEN, handed, now_ns);
}

void gw_loop_out_handed(gw_loop *l, uint8_t *read, uint32_t len, uint64_t now_ns)
{
	take_read(l, read, len, true, now_ns);
}

void gw_loop_seal_rest(gw_loop *l, uint64_t now_ns)
{
	if (l->n_out) seal_pending(l, now_ns);
	gw_loop_send_rest(l);
}

bool gw_loop_out(gw_loop *l, uint64_t now_ns)
{
	bool drained = false;

	for (int turn = 0; turn < TURNS && !drained; turn++) {
		uint32_t n = gather(l, &drained);
		for (uint32_t i = 0; i < n; i++) {
			const gw_span *r = &l->reads[i];
			if (i + 1 < n) __builtin_prefetch(l->reads[i + 1].data);
			take_read(l, (uint8_t *)r->data, r->len, false, now_ns);
		}
		gw_loop_stage(l, GW_STAGE_SEGMENT);
		if (l->n_out) seal_pending(l, now_ns);
		l->tun_at = 0;
	}
	if (drained) gw_loop_send_rest(l);
	return !drained;
}
