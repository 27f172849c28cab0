/* SPDX-License-Identifier: MIT
 * What sealing and opening share: the chunk, and how a packet's nonce is made of its IV bytes.
 */
#ifndef GW_ESP_BATCH_H
#define GW_ESP_BATCH_H

#include "sa.h"

#define GW_CHUNK          64 /* packets under way at once: their ops and tails live on the stack (some 20 KB) */
#define GW_PREFETCH_AHEAD 16 /* packets between fetching an SA and using it */
#define GW_PREFETCH_KEYS  8  /* and between fetching its keys and using them */
#define GW_NEXT_DUMMY     59
#define GW_NEXT_IPV4      4
#define GW_NEXT_IPV6      41

/* Points op at the nonce that `iv` (on the wire) stands for; the nonce itself is put into `nonce` (16 bytes). */
static inline void gw_op_set_iv(gw_op *op, const gw_sa *sa, uint8_t *iv, uint8_t *nonce)
{
	switch (sa->iv_style) {
	case GW_IV_CBC:
		op->iv = iv;
		op->iv_len = 16;
		break;
	case GW_IV_AEAD:
	case GW_IV_CTR:
		memcpy(nonce, sa->salt, 4);
		memcpy(nonce + 4, iv, 8);
		gw_store_be32(nonce + 12, 1);
		op->iv = nonce;
		op->iv_len = sa->iv_style == GW_IV_AEAD ? 12 : 16;
		break;
	default: op->iv = NULL; op->iv_len = 0;
	}
}

/* What is authenticated besides the ciphertext. AEADs with ESN see the high half between SPI and low half
 * (RFC 4106 5, RFC 7634 2.1); MACs see it after the data, though it never travels (RFC 4303 2.2.1). */
static inline void gw_op_set_aad(gw_op *op, const gw_sa *sa, const uint8_t *esp, uint64_t seq, uint8_t *aad12)
{
	const bool esn = sa->flags & GW_SA_ESN;

	op->flags = 0;
	if (sa->iv_style != GW_IV_AEAD) {
		op->aad = esp;
		op->aad_len = sa->head_bytes;
		if (esn) {
			op->flags = GW_OP_ESN;
			gw_store_be32(op->esn, (uint32_t)(seq >> 32));
		}
	} else if (esn) {
		memcpy(aad12, esp, 4);
		gw_store_be64(aad12 + 4, seq);
		op->aad = aad12;
		op->aad_len = 12;
	} else {
		op->aad = esp;
		op->aad_len = 8;
	}
}

/* Before packet i: one SA, and the keys of another. A run of packets of one SA costs two comparisons. */
static inline void gw_batch_prefetch(const gw_pkt *pkts, size_t i, size_t n)
{
	if (i + GW_PREFETCH_AHEAD < n) {
		const gw_sa *sa = pkts[i + GW_PREFETCH_AHEAD].sa;
		if (sa && sa != pkts[i + GW_PREFETCH_AHEAD - 1].sa) gw_sa_prefetch(sa);
	}
	if (i + GW_PREFETCH_KEYS < n) {
		const gw_sa *sa = pkts[i + GW_PREFETCH_KEYS].sa;
		if (sa && sa != pkts[i + GW_PREFETCH_KEYS - 1].sa) gw_sa_prefetch_keys(sa);
	}
}

/* Before a batch: what gw_batch_prefetch is too late for. */
static inline void gw_batch_prefetch_first(const gw_pkt *pkts, size_t n)
{
	const gw_sa *last = NULL;

	if (n < 2) return; /* there is nothing to do while the memory answers */
	for (size_t i = 0; i < n && i < GW_PREFETCH_AHEAD; i++) {
		if (pkts[i].sa && pkts[i].sa != last) gw_sa_prefetch(pkts[i].sa);
		last = pkts[i].sa;
	}
	last = NULL;
	for (size_t i = 0; i < n && i < GW_PREFETCH_KEYS; i++) {
		if (pkts[i].sa && pkts[i].sa != last) gw_sa_prefetch_keys(pkts[i].sa);
		last = pkts[i].sa;
	}
}

#endif
