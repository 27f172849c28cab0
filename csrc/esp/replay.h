/* SPDX-License-Identifier: MIT
 * Anti-replay window (RFC 4303 3.4.3 and appendix A2), kept the way of RFC 6479: the bitmap is a ring of words that
 * never shifts. Its size is a power of two with room for one word more than the window, and moving the top clears
 * whole words. The window itself is exact: `window` numbers ending at top.
 */
#ifndef GW_ESP_REPLAY_H
#define GW_ESP_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_REPLAY_MIN     32u
#define GW_REPLAY_MAX     65536u
#define GW_REPLAY_DEFAULT 64u

typedef unsigned long gw_replay_word; /* the machine's own: e500 and MIPS32 shift 64 bits slowly */
#define GW_REPLAY_WORD_BITS (8u * (uint32_t)sizeof(gw_replay_word))
#define GW_REPLAY_INLINE    4 /* words inside the SA: the default window costs no further cache line */

typedef struct gw_replay {
	uint64_t top;    /* highest number accepted */
	uint32_t window; /* numbers */
	uint32_t mask;   /* words - 1 */
	gw_replay_word *words;
	gw_replay_word inl[GW_REPLAY_INLINE];
} gw_replay;

/* Nothing received yet: every number inside the window, top included, will be taken once. -EINVAL, -ENOMEM. */
int gw_replay_init(gw_replay *r, uint32_t window, uint64_t top);
void gw_replay_free(gw_replay *r);
/* Clears the words between the old top and seq, which is above it. */
void gw_replay_advance(gw_replay *r, uint64_t seq);

/* The 64-bit number meant by the low half (A2.2). False: no high half fits (it would be -1 or 2^32). */
static inline bool gw_replay_infer(const gw_replay *r, uint32_t low, uint64_t *seq)
{
	const uint32_t top_low = (uint32_t)r->top, top_high = (uint32_t)(r->top >> 32);
	const uint32_t bottom = top_low - r->window + 1; /* modulo 2^32 on purpose */
	uint32_t high = top_high;

	if (top_low >= r->window - 1) { /* case A: the window lies within one high half */
		if (low < bottom) {
			if (top_high == UINT32_MAX) return false;
			high++;
		}
	} else if (low >= bottom) { /* case B: it spans two, and this is the older one */
		if (top_high == 0) return false;
		high--;
	}
	*seq = (uint64_t)high << 32 | low;
	return true;
}

/* Would this number be taken? Says nothing about its authenticity. */
static inline bool gw_replay_check(const gw_replay *r, uint64_t seq)
{
	if (seq == 0) return false; /* RFC 4303 2.2: the first packet has number 1 */
	if (seq > r->top) return true;
	if (r->top - seq >= r->window) return false;
	return !(r->words[(seq / GW_REPLAY_WORD_BITS) & r->mask] >> (seq % GW_REPLAY_WORD_BITS) & 1);
}

/* Takes an authenticated number; false when it was taken before or has fallen out of the window. */
static inline bool gw_replay_accept(gw_replay *r, uint64_t seq)
{
	gw_replay_word *word, bit;

	if (!gw_replay_check(r, seq)) return false;
	if (seq > r->top) {
		if (seq / GW_REPLAY_WORD_BITS != r->top / GW_REPLAY_WORD_BITS) gw_replay_advance(r, seq);
		r->top = seq;
	}
	word = &r->words[(seq / GW_REPLAY_WORD_BITS) & r->mask];
	bit = (gw_replay_word)1 << (seq % GW_REPLAY_WORD_BITS);
	*word |= bit;
	return true;
}

#endif
