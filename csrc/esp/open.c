/* SPDX-License-Identifier: MIT
 * Opening (RFC 4303 3.4), in place: SPI..ICV in out -> the inner packet, which inner points to.
 *
 * Nothing from the wire is believed before its ICV was found right, and lengths not even then. The window is asked
 * twice: before the crypto, to spare it, and after it in order of arrival, which is when it moves.
 */
#include "batch.h"
#include "selector.h"

typedef struct work {
	gw_pkt *pkt;
	uint64_t seq;
	uint8_t nonce[16];
	uint8_t aad[12];
} work;

/* Before the crypto. GW_OK: op is ready. */
static int prepare(gw_pkt *p, gw_sa *sa, gw_op *op, work *w, uint64_t now_ns)
{
	const uint32_t fixed = (uint32_t)sa->head_bytes + sa->icv_bytes;
	uint8_t *text = p->out + sa->head_bytes;
	uint32_t low, text_len;

	if (sa->direction != GW_DIR_IN) return GW_IN_STATE_INVALID;
	/* at least one block, because pad length and next header are always there */
	if (p->out_len < fixed + sa->block_mask + 1u) return GW_IN_HDR_ERROR;
	text_len = p->out_len - fixed;
	if (text_len & sa->block_mask) return GW_IN_HDR_ERROR;
	if (gw_load_be32(p->out) != sa->spi) return GW_IN_NO_STATES;
	if (gw_lifetime_over(sa, now_ns)) return GW_STATE_EXPIRED;

	low = gw_load_be32(p->out + 4);
	w->seq = low;
	if ((sa->flags & GW_SA_ESN) && !gw_replay_infer(&sa->replay, low, &w->seq)) return GW_STATE_SEQ_ERROR;
	if (!(sa->flags & GW_SA_NO_REPLAY) && !gw_replay_check(&sa->replay, w->seq)) return GW_STATE_SEQ_ERROR;

	w->pkt = p;
	op->key = sa->cipher_key;
	op->mac_key = sa->mac_key;
	op->in[0] = (gw_span){text, text_len};
	op->n_in = 1;
	op->out = text;
	op->tag = text + text_len;
	op->tag_len = sa->icv_bytes;
	op->status = 0;
	gw_op_set_iv(op, sa, p->out + 8, w->nonce);
	gw_op_set_aad(op, sa, p->out, w->seq, w->aad);
	return GW_OK;
}

/* Self-describing padding 1, 2, 3, ...: the receiver should check it (2.4). len: payload, padding and trailer.
 * Returns the payload's length, or -1. */
static int32_t strip_padding(const uint8_t *text, uint32_t len)
{
	static const uint8_t pattern[256] = {
#define ROW(n)  n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8
#define ROWS(n) ROW(n), ROW(n + 8), ROW(n + 16), ROW(n + 24), ROW(n + 32), ROW(n + 40), ROW(n + 48), ROW(n + 56)
		ROWS(0),  ROWS(64), ROWS(128), ROW(192), ROW(200), ROW(208), ROW(216), ROW(224), ROW(232),
		ROW(240), 249,      250,       251,      252,      253,      254,      255,
	};
	const uint32_t pad = text[len - 2];

	if (pad + 2 > len) return -1;
	if (memcmp(text + len - 2 - pad, pattern, pad) != 0) return -1;
	return (int32_t)(len - 2 - pad);
}

/* Tunnel mode: the length of the IP packet by its own header, which cuts off TFC padding; -1 when there is none. */
static int32_t inner_packet_len(const uint8_t *p, uint32_t len, uint8_t next_header)
{
	uint32_t total;

	if (next_header == GW_NEXT_IPV4) {
		if (len < 20 || p[0] >> 4 != 4 || (p[0] & 15) < 5) return -1;
		total = gw_load_be16(p + 2);
		if (total < (p[0] & 15u) * 4) return -1;
	} else {
		if (len < 40 || p[0] >> 4 != 6) return -1;
		total = 40u + gw_load_be16(p + 4);
	}
	return total <= len ? (int32_t)total : -1;
}

static int tunnel(gw_pkt *p, gw_sa *sa, uint32_t len)
{
	int32_t total;

	if (p->next_header != GW_NEXT_IPV4 && p->next_header != GW_NEXT_IPV6) return GW_STATE_MODE_ERROR;
	total = inner_packet_len(p->inner, len, p->next_header);
	if (total < 0) return GW_IN_HDR_ERROR;
	p->inner_len = (uint32_t)total;
	if (sa->check_selector) {
		gw_flow flow;
		if (!gw_flow_of_packet(p->inner, p->inner_len, &flow) || !gw_selector_match(&sa->cold->selector, &flow))
			return GW_IN_TMPL_MISMATCH;
	}
	return sa->flags & GW_SA_NO_ECN ? GW_OK : gw_ecn_decap(p->inner, p->inner_len, p->outer_tos);
}

static int transport(gw_pkt *p, const gw_sa *sa, uint32_t len)
{
	p->inner_len = len;
	if (sa->check_selector) {
		gw_flow flow;
		gw_flow_of_payload(p->next_header, p->inner, len, &flow);
		if (!gw_selector_match(&sa->cold->selector, &flow)) return GW_IN_TMPL_MISMATCH;
	}
	return GW_OK;
}

/* After the crypto, in order of arrival. */
static int finish(gw_pkt *p, gw_sa *sa, const gw_op *op, uint64_t seq, uint64_t now_ns)
{
	uint8_t *text = op->out;
	const uint32_t text_len = (uint32_t)op->in[0].len;
	int32_t len;
	int status;

	if (op->status != 0) return GW_STATE_PROTO_ERROR;
	if (!(sa->flags & GW_SA_NO_REPLAY)) {
		if (!gw_replay_accept(&sa->replay, seq)) return GW_STATE_SEQ_ERROR;
	} else if (seq > sa->replay.top) {
		sa->replay.top = seq; /* still what ESN infers from */
	}
	p->next_header = text[text_len - 1];
	len = strip_padding(text, text_len);
	if (len < 0) return GW_STATE_PROTO_ERROR;
	if (p->next_header == GW_NEXT_DUMMY) return GW_IN_DUMMY;
	p->inner = text;
	status = sa->mode == GW_MODE_TUNNEL ? tunnel(p, sa, (uint32_t)len) : transport(p, sa, (uint32_t)len);
	if (status == GW_OK) status = gw_lifetime_take(sa, p->inner_len, now_ns);
	if (status == GW_OK) sa->wire_bytes += p->out_len;
	return status;
}

static void drop(gw_pkt *p, int status)
{
	p->status = status;
	p->inner = NULL;
	p->inner_len = 0;
	if (p->sa) gw_sa_drop(p->sa, status, 1);
}

/* Decrypts a run under one transform and finishes it. Returns how many were accepted. */
static size_t open_run(const gw_transform *t, gw_op *ops, const work *works, size_t n, uint64_t now_ns)
{
	gw_sa *moved = NULL;
	size_t accepted = 0;

	gw_transform_open(t, ops, n);
	for (size_t i = 0; i < n; i++) {
		gw_pkt *p = works[i].pkt;
		const int status = finish(p, p->sa, &ops[i], works[i].seq, now_ns);

		if (moved && moved != p->sa) gw_sa_publish(moved, now_ns);
		moved = p->sa;
		if (status != GW_OK) {
			drop(p, status);
			continue;
		}
		p->status = GW_OK;
		accepted++;
	}
	if (moved) gw_sa_publish(moved, now_ns);
	return accepted;
}

/* ahead: packets from pkts to the end of the batch, to prefetch beyond this chunk */
static size_t open_chunk(gw_pkt *pkts, size_t n, size_t ahead, uint64_t now_ns)
{
	gw_op ops[GW_CHUNK];
	work works[GW_CHUNK];
	const gw_transform *run = NULL;
	size_t n_ops = 0, accepted = 0;

	for (size_t i = 0; i < n; i++) {
		gw_pkt *p = &pkts[i];
		int status;

		gw_batch_prefetch(pkts, i, ahead);
		if (!p->sa) {
			drop(p, p->status != GW_OK ? p->status : GW_IN_NO_STATES);
			continue;
		}
		if (n_ops && !gw_transform_same(run, &p->sa->transform)) {
			accepted += open_run(run, ops, works, n_ops, now_ns);
			n_ops = 0;
		}
		run = &p->sa->transform;
		status = prepare(p, p->sa, &ops[n_ops], &works[n_ops], now_ns);
		if (status == GW_OK)
			n_ops++;
		else
			drop(p, status);
	}
	if (n_ops) accepted += open_run(run, ops, works, n_ops, now_ns);
	return accepted;
}

size_t gw_open_batch(gw_pkt *pkts, size_t n, uint64_t now_ns)
{
	size_t accepted = 0;

	gw_batch_prefetch_first(pkts, n);
	for (size_t i = 0; i < n; i += GW_CHUNK)
		accepted += open_chunk(pkts + i, n - i < GW_CHUNK ? n - i : GW_CHUNK, n - i, now_ns);
	return accepted;
}
