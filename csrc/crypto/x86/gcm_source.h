/* SPDX-License-Identifier: MIT
 * gcm_vaes.c's input: any 64 bytes of a packet's stream of blocks, across spans, without a loop or a branch where the
 * packet has one or two spans.
 */
#ifndef GW_CRYPTO_X86_GCM_SOURCE_H
#define GW_CRYPTO_X86_GCM_SOURCE_H
#if defined(__x86_64__)

#include "aes_vaes.h"

#define LEAD      32         /* stream bytes before the data, see gcm_vaes.c */
#define LEAD_MASK 0xffffffff /* these in a byte mask */

/* Positions are stream bytes, `at`. */
typedef struct source {
	const gw_op *op;
	const uint8_t *base, *base2; /* of the current and the next span, less their first stream byte */
	size_t end, end2;            /* their ends, in stream bytes */
	uint32_t next;               /* span after the current one */
} source;

GW_INLINE void second_span(source *s)
{
	const gw_span *in = s->op->in;
	s->base2 = s->base;
	s->end2 = s->end;
	if (s->next >= s->op->n_in) return;
	s->base2 = (const uint8_t *)((uintptr_t)in[s->next].data - s->end);
	s->end2 = s->end + in[s->next].len;
}

GW_INLINE void open_source(source *s, const gw_op *op)
{
	s->op = op;
	s->base = (const uint8_t *)((uintptr_t)op->in[0].data - LEAD);
	s->end = LEAD + (op->n_in > 0 ? op->in[0].len : 0);
	s->next = 1;
	second_span(s);
}

/* Makes the span that holds stream byte `at` the current one. */
GW_INLINE void seek(source *s, size_t at)
{
	while (__builtin_expect(at >= s->end && s->next < s->op->n_in, 0)) {
		s->base = s->base2;
		s->end = s->end2;
		s->next++;
		second_span(s);
	}
}

/* All ones below bit n; n may be negative or beyond 64. */
GW_INLINE GW_TARGET_VAES __mmask64 below(ptrdiff_t n)
{
	n = n < 0 ? 0 : n;
	return _bzhi_u64(~0ull, (uint32_t)(n > 64 ? 64 : n));
}

/* 64 stream bytes that lie in the current and the next span; those beyond are zero. skip: bytes in front, no data. */
GW_INLINE GW_TARGET_VAES __m512i load_two(const source *s, size_t at, __mmask64 skip)
{
	const __mmask64 one = below((ptrdiff_t)(s->end - at)), both = below((ptrdiff_t)(s->end2 - at));
	return _mm512_mask_loadu_epi8(_mm512_maskz_loadu_epi8(one & ~skip, s->base + at), both & ~one & ~skip,
								  s->base2 + at);
}

/* Three spans within one run: a 64-byte span in the middle. Copied together, at most 320 bytes. */
static __attribute__((noinline)) void gather(const gw_op *op, size_t at, uint8_t *to, size_t cap)
{
	const size_t len = gw_op_len(op), skip = at == 0 ? LEAD : 0, from = at + skip - LEAD;
	const size_t n = len - from < cap - skip ? len - from : cap - skip;
	memset(to, 0, cap);
	gw_op_gather(op, from, to + skip, n);
}

GW_INLINE GW_TARGET_VAES gw_four load_group(source *s, size_t at, bool first)
{
	const __mmask64 skip = first ? LEAD_MASK : 0;
	seek(s, first ? LEAD : at);
	if (__builtin_expect(at + 256 <= s->end, 1)) {
		if (!first) return gw_load256bytes(s->base + at);
		return (gw_four){_mm512_maskz_loadu_epi8(~skip, s->base), gw_load512(s->base + 64), gw_load512(s->base + 128),
						 gw_load512(s->base + 192)};
	}
	if (at + 256 <= s->end2)
		return (gw_four){load_two(s, at, skip), load_two(s, at + 64, 0), load_two(s, at + 128, 0),
						 load_two(s, at + 192, 0)};
	uint8_t copy[256] __attribute__((aligned(64)));
	gather(s->op, at, copy, sizeof copy);
	return gw_load256bytes(copy);
}

#endif
#endif
