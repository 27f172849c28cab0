/* SPDX-License-Identifier: MIT
 * Sealing (RFC 4303 3.3): packets in spans -> SPI, sequence number, IV, ciphertext, ICV in out.
 *
 * The payload is read where it lies. Only its last bytes short of a multiple of 64 are copied, into a tail that
 * padding and trailer complete; so a cipher sees whole blocks, and copy and encryption are one pass.
 */
#include "batch.h"

#define TAIL_MAX 96 /* 63 bytes of payload, 15 of padding, 2 of trailer; the pad pattern is stored 16 at a time */

typedef struct work {
	uint8_t tail[TAIL_MAX];
	uint8_t nonce[16];
	uint8_t aad[12];
} work;

static const uint8_t pad_pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static size_t payload_len(const gw_pkt *p)
{
	return p->n_in == 0 ? 0 : p->n_in == 1 ? p->in[0].len : p->in[0].len + p->in[1].len;
}

/* Writes padding and trailer behind `len` bytes of payload of which `at` points to the end. Returns their bytes. */
static size_t put_trailer(uint8_t *at, size_t len, uint32_t block_mask, uint8_t next_header)
{
	const size_t pad = (size_t) - (len + 2) & block_mask;

	memcpy(at, pad_pattern, 16); /* a fixed length is one store */
	at[pad] = (uint8_t)pad;
	at[pad + 1] = next_header;
	return pad + 2;
}

/* The usual case: spans stay where they are. False when they are not cut as the contract wants. */
static bool cut_spans(gw_op *op, work *w, const gw_pkt *p, size_t len, uint32_t block_mask, uint8_t next_header)
{
	const gw_span *last;
	size_t whole, rest;

	op->n_in = 0;
	if (p->n_in == 2 && p->in[1].len) {
		if (p->in[0].len & 63) return false;
		if (p->in[0].len) op->in[op->n_in++] = p->in[0];
		last = &p->in[1];
	} else if (p->n_in) {
		last = &p->in[0];
	} else {
		return false;
	}
	whole = last->len & ~(size_t)63;
	rest = last->len & 63;
	if (whole) op->in[op->n_in++] = (gw_span){last->data, whole};
	if (rest) memcpy(w->tail, last->data + whole, rest);
	op->in[op->n_in++] = (gw_span){w->tail, rest + put_trailer(w->tail + rest, len, block_mask, next_header)};
	return true;
}

/* TFC padding, dummies without content, odd spans: laid out in `out` and encrypted in place. */
static void lay_out(gw_op *op, const gw_pkt *p, uint8_t *text, size_t plain, uint32_t block_mask, uint8_t next_header)
{
	uint8_t *at = text, trailer[TAIL_MAX];
	size_t trailer_len = put_trailer(trailer, plain, block_mask, next_header);

	for (uint32_t i = 0; i < p->n_in; i++) {
		if (p->in[i].len) memcpy(at, p->in[i].data, p->in[i].len);
		at += p->in[i].len;
	}
	memset(at, 0, plain - (size_t)(at - text));
	memcpy(text + plain, trailer, trailer_len);
	op->n_in = 1;
	op->in[0] = (gw_span){text, plain + trailer_len};
}

/* Tunnel mode: what is inside says itself what it is, and gives the outer header its TOS. */
static bool look_inside(gw_pkt *p, const gw_sa *sa, uint8_t *next_header)
{
	const gw_span *head = &p->in[0];
	uint8_t tos;

	*next_header = p->next_header;
	if (sa->mode != GW_MODE_TUNNEL) return true;
	if (p->next_header == GW_NEXT_DUMMY) {
		p->outer_tos = 0;
		return true;
	}
	if (p->n_in == 0 || head->len < 20) return false;
	if (head->data[0] >> 4 == 4) {
		*next_header = GW_NEXT_IPV4;
		tos = head->data[1];
	} else if (head->data[0] >> 4 == 6 && head->len >= 40) {
		*next_header = GW_NEXT_IPV6;
		tos = (uint8_t)(head->data[0] << 4 | head->data[1] >> 4);
	} else {
		return false;
	}
	p->outer_tos = gw_ecn_encap(tos, sa->flags);
	return true;
}

/* The number of the next packet; false when the last one has been sent. */
static bool next_seq(gw_sa *sa, uint64_t *seq)
{
	const uint64_t last = sa->flags & GW_SA_ESN ? UINT64_MAX : UINT32_MAX;

	if (sa->seq >= last) {
		sa->state = GW_SA_STATE_EXPIRED;
		return false;
	}
	*seq = sa->seq + 1;
	return true;
}

static void put_iv(const gw_sa *sa, uint8_t *iv, uint64_t seq)
{
	if (sa->iv_style == GW_IV_CBC) {
		gw_store_be64(iv, sa->iv_mask);
		gw_store_be64(iv + 8, seq);
	} else if (sa->iv_style != GW_IV_NONE) {
		gw_store_be64(iv, seq ^ sa->iv_mask);
	}
}

/* Everything of one packet but the crypto. GW_OK: op is ready, and the packet is counted. */
static int prepare(gw_pkt *p, gw_sa *sa, gw_op *op, work *w, uint64_t now_ns)
{
	const size_t len = payload_len(p);
	size_t plain = len, total;
	uint8_t next_header, *text = p->out + sa->head_bytes;
	uint64_t seq;

	if (sa->direction != GW_DIR_OUT) return GW_IN_STATE_INVALID;
	if (p->n_in > 2 || len > UINT16_MAX + 40u || !look_inside(p, sa, &next_header)) return GW_OUT_INVALID;
	if (plain < sa->tfc_pad_to) plain = sa->tfc_pad_to;
	total = gw_esp_len(sa->head_bytes - 8u, sa->block_mask + 1u, sa->icv_bytes, plain);
	if (total > p->out_cap) return GW_OUT_INVALID;
	if (!next_seq(sa, &seq)) return GW_OUT_STATE_SEQ_ERROR;
	if (gw_lifetime_take(sa, (uint32_t)len, now_ns) != GW_OK) return GW_STATE_EXPIRED;
	sa->seq = seq;
	sa->wire_bytes += total;

	gw_store_be32(p->out, sa->spi);
	gw_store_be32(p->out + 4, (uint32_t)seq);
	put_iv(sa, p->out + 8, seq);
	if (plain != len || !cut_spans(op, w, p, len, sa->block_mask, next_header))
		lay_out(op, p, text, plain, sa->block_mask, next_header);
	op->key = sa->cipher_key;
	op->mac_key = sa->mac_key;
	op->out = text;
	op->tag = p->out + total - sa->icv_bytes;
	op->tag_len = sa->icv_bytes;
	op->status = 0;
	gw_op_set_iv(op, sa, p->out + 8, w->nonce);
	gw_op_set_aad(op, sa, p->out, seq, w->aad);
	if (sa->iv_style == GW_IV_CBC) op->flags |= GW_OP_IV_NONCE;
	p->out_len = (uint32_t)total;
	p->inner_len = (uint32_t)len;
	return GW_OK;
}

/* ahead: packets from pkts to the end of the batch, to prefetch beyond this chunk */
static size_t seal_chunk(gw_pkt *pkts, size_t n, size_t ahead, uint64_t now_ns)
{
	gw_op ops[GW_CHUNK];
	work works[GW_CHUNK];
	const gw_transform *run = NULL;
	gw_sa *moved = NULL; /* its counters are not published yet */
	size_t n_ops = 0, sealed = 0;

	for (size_t i = 0; i < n; i++) {
		gw_pkt *p = &pkts[i];
		gw_sa *sa = p->sa;

		gw_batch_prefetch(pkts, i, ahead);
		if (!sa) {
			if (p->status == GW_OK) p->status = GW_OUT_NO_STATES;
			p->out_len = 0;
			continue;
		}
		if (moved && moved != sa) gw_sa_publish(moved, now_ns);
		moved = sa;
		if (n_ops && !gw_transform_same(run, &sa->transform)) {
			gw_transform_seal(run, ops, n_ops);
			n_ops = 0;
		}
		run = &sa->transform;
		p->status = prepare(p, sa, &ops[n_ops], &works[n_ops], now_ns);
		if (p->status == GW_OK) {
			n_ops++;
			sealed++;
		} else {
			p->out_len = 0;
			gw_sa_drop(sa, p->status, 1);
		}
	}
	if (n_ops) gw_transform_seal(run, ops, n_ops);
	if (moved) gw_sa_publish(moved, now_ns);
	return sealed;
}

size_t gw_seal_batch(gw_pkt *pkts, size_t n, uint64_t now_ns)
{
	size_t sealed = 0;

	gw_batch_prefetch_first(pkts, n);
	for (size_t i = 0; i < n; i += GW_CHUNK)
		sealed += seal_chunk(pkts + i, n - i < GW_CHUNK ? n - i : GW_CHUNK, n - i, now_ns);
	return sealed;
}
