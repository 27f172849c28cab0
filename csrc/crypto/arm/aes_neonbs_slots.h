/* SPDX-License-Identifier: MIT
 * Slots: single blocks of many packets, gathered until all eight lanes of the core are taken, so that short packets
 * cost per byte about what long ones do. Everything is copied when it comes in: the buffers that it came from may be
 * written before the slots are run. Include after neon.h.
 */
#ifndef GW_CRYPTO_ARM_AES_NEONBS_SLOTS_H
#define GW_CRYPTO_ARM_AES_NEONBS_SLOTS_H

#include "aes_neonbs.h"
#include "copy.h"

/* aes_neonbs_round.inc knows the first three members. */
typedef struct gw_neonbs_slots {
	uint8_t in[GW_NEONBS_LANES][16] __attribute__((aligned(16)));
	uint8_t mask[GW_NEONBS_LANES][16]; /* XORed to the result */
	uint8_t *out[GW_NEONBS_LANES];
	const gw_neonbs_key *key[GW_NEONBS_LANES];
	uint32_t len[GW_NEONBS_LANES]; /* where partial is set: bytes of the result that are wanted; 0: all 16 */
	const gw_neonbs_key *current;  /* of the packet that is being gathered */
	uint32_t used;
	bool same;    /* all keys are one */
	bool partial; /* some len is not 0 */
	bool decrypt;
	uint8_t nowhere[16]; /* out of the slots that are not used */
	gw_neonbs_mixed mixed;
} gw_neonbs_slots;

void gw_neonbs_slots_init(gw_neonbs_slots *s, bool decrypt); /* masks are zero until they are set */
void gw_neonbs_slots_run(gw_neonbs_slots *s);                /* does nothing when no slot is taken */
void gw_neonbs_slots_wipe(gw_neonbs_slots *s);

/* Before a packet's first block. */
static inline void gw_neonbs_slots_key(gw_neonbs_slots *s, const gw_neonbs_key *key)
{
	if (key == s->current) return;
	if (s->used > 0) {
		if (key->rounds != s->current->rounds)
			gw_neonbs_slots_run(s);
		else
			s->same = false;
	}
	s->current = key;
}

/* The next slot, for the caller to fill in[] and mask[]. */
static inline uint32_t gw_neonbs_slots_take(gw_neonbs_slots *s, uint8_t *out)
{
	if (s->used == GW_NEONBS_LANES) gw_neonbs_slots_run(s);
	const uint32_t i = s->used++;
	s->key[i] = s->current;
	s->out[i] = out;
	return i;
}

static inline void gw_neonbs_slots_put(gw_neonbs_slots *s, uint8_t *out, uint8x16_t in, uint8x16_t mask)
{
	const uint32_t i = gw_neonbs_slots_take(s, out);
	vst1q_u8(s->in[i], in);
	vst1q_u8(s->mask[i], mask);
}

/* A last block of len < 16 bytes: out = D(in) ^ data. */
static inline void gw_neonbs_slots_put_part(gw_neonbs_slots *s, uint8_t *out, uint8x16_t in, const uint8_t *data,
											uint32_t len)
{
	const uint32_t i = gw_neonbs_slots_take(s, out);
	vst1q_u8(s->in[i], in);
	gw_copy_few(s->mask[i], data, len);
	s->len[i] = len;
	s->partial = true;
}

#endif
