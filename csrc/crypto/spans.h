/* SPDX-License-Identifier: MIT
 * An op's input: up to three spans, of which every one but the last is a multiple of 64 bytes.
 */
#ifndef GW_CRYPTO_SPANS_H
#define GW_CRYPTO_SPANS_H

#include <string.h>

#include "../gwdp.h"

static inline size_t gw_op_len(const gw_op *op)
{
	size_t len = 0;
	for (uint32_t i = 0; i < op->n_in; i++) len += op->in[i].len;
	return len;
}

/* Copies len bytes that start at byte `from` of the input, across spans. */
static inline void gw_op_gather(const gw_op *op, size_t from, uint8_t *to, size_t len)
{
	for (uint32_t i = 0; i < op->n_in && len > 0; i++) {
		const gw_span *s = &op->in[i];
		if (from >= s->len) {
			from -= s->len;
			continue;
		}
		const size_t n = s->len - from < len ? s->len - from : len;
		memcpy(to, s->data + from, n);
		to += n;
		len -= n;
		from = 0;
	}
}

#endif
