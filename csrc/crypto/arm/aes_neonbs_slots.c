/* SPDX-License-Identifier: MIT
 * Running the slots.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "aes_neonbs.h"
#include "copy.h"

#include "aes_neonbs_slots.h"

/* out[i] = E(in[i]) ^ mask[i] (or D) of all eight. */
void gw_neonbs_slots_encrypt(const void *slices, uint32_t rounds, gw_neonbs_slots *s);
void gw_neonbs_slots_decrypt(const void *slices, uint32_t rounds, gw_neonbs_slots *s);

void gw_neonbs_slots_init(gw_neonbs_slots *s, bool decrypt)
{
	s->current = NULL;
	s->used = 0;
	s->same = true;
	s->partial = false;
	s->decrypt = decrypt;
	for (uint32_t i = 0; i < GW_NEONBS_LANES; i++) {
		vst1q_u8(s->mask[i], vdupq_n_u8(0));
		s->len[i] = 0;
		s->mixed.key[i] = NULL;
	}
}

/* Too few blocks for the core to pay, or keys that would have to be mixed first. */
static void run_serial(gw_neonbs_slots *s)
{
	if (s->same)
		gw_neonvp_encrypt(s->key[0]->serial, s->key[0]->rounds, s->in[0], s->in[0], s->used);
	else
		for (uint32_t i = 0; i < s->used; i++)
			gw_neonvp_encrypt(s->key[i]->serial, s->key[i]->rounds, s->in[i], s->in[i], 1);
	for (uint32_t i = 0; i < s->used; i++) {
		const uint8x16_t v = veorq_u8(vld1q_u8(s->in[i]), vld1q_u8(s->mask[i]));
		if (s->len[i] == 0) {
			vst1q_u8(s->out[i], v);
		} else {
			vst1q_u8(s->in[i], v);
			gw_copy_few(s->out[i], s->in[i], s->len[i]);
			s->len[i] = 0;
		}
	}
	s->used = 0;
	s->same = true;
	s->partial = false;
}

void gw_neonbs_slots_run(gw_neonbs_slots *s)
{
	const uint8_t *slices;
	uint8_t *part_out[GW_NEONBS_LANES];
	if (s->used == 0) return;
	if (!s->decrypt && (s->used <= GW_NEONBS_BREAK_EVEN || !s->same)) {
		run_serial(s);
		return;
	}
	for (uint32_t i = s->used; i < GW_NEONBS_LANES; i++) {
		s->key[i] = s->key[0];
		s->out[i] = s->nowhere;
	}
	slices = s->key[0]->slices;
	if (!s->same) {
		gw_neonbs_mix(&s->mixed, s->key);
		slices = s->mixed.slices;
	}
	if (s->partial) /* by way of in[], which has been read by then */
		for (uint32_t i = 0; i < GW_NEONBS_LANES; i++) {
			part_out[i] = s->out[i];
			if (s->len[i] != 0) s->out[i] = s->in[i];
		}
	(s->decrypt ? gw_neonbs_slots_decrypt : gw_neonbs_slots_encrypt)(slices, s->key[0]->rounds, s);
	if (s->partial)
		for (uint32_t i = 0; i < GW_NEONBS_LANES; i++) {
			if (s->len[i] != 0) gw_copy_few(part_out[i], s->in[i], s->len[i]);
			s->len[i] = 0;
		}
	s->used = 0;
	s->same = true;
	s->partial = false;
}

void gw_neonbs_slots_wipe(gw_neonbs_slots *s)
{
	gw_wipe_few(s->in, sizeof s->in);
	gw_wipe_few(s->mask, sizeof s->mask);
	gw_wipe_few(s->nowhere, sizeof s->nowhere);
	if (s->mixed.key[0] != NULL) gw_wipe_few(s->mixed.slices, sizeof s->mixed.slices);
}

#include "neon_end.h"
#else
typedef int gw_neonbs_slots_not_here;
#endif
