/* SPDX-License-Identifier: MIT
 * Anti-replay window: set-up and the move of its top across words.
 */
#include "replay.h"

#include <errno.h>
#include <string.h>

#include "../core/mem.h"

int gw_replay_init(gw_replay *r, uint32_t window, uint64_t top)
{
	const uint32_t need = (window + GW_REPLAY_WORD_BITS - 1) / GW_REPLAY_WORD_BITS + 1;
	uint32_t words = 2;

	if (window < GW_REPLAY_MIN || window > GW_REPLAY_MAX) return -EINVAL;
	while (words < need) words *= 2;
	memset(r, 0, sizeof(*r));
	r->words = words <= GW_REPLAY_INLINE ? r->inl : gw_alloc(words * sizeof(gw_replay_word));
	if (!r->words) return -ENOMEM;
	r->mask = words - 1;
	r->window = window;
	r->top = top;
	return 0;
}

void gw_replay_free(gw_replay *r)
{
	if (r->words && r->words != r->inl) gw_free_wipe(r->words, (r->mask + 1) * sizeof(gw_replay_word));
	r->words = NULL;
}

void gw_replay_advance(gw_replay *r, uint64_t seq)
{
	const uint64_t from = r->top / GW_REPLAY_WORD_BITS, to = seq / GW_REPLAY_WORD_BITS;

	if (to - from > r->mask) { /* beyond the whole ring */
		memset(r->words, 0, (r->mask + 1) * sizeof(gw_replay_word));
		return;
	}
	for (uint64_t i = from + 1; i <= to; i++) r->words[i & r->mask] = 0;
}
