/* SPDX-License-Identifier: MIT
 * Key expansion (FIPS 197, 5.2) into bit slices, and mixed keys. Constant time: the S-box is the core's.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "aes_neonbs.h"

/* Byte p of a slice is row p % 4 of column 0, 2, 1, 3; of a state that is shifted by i, row r stands i*r columns
 * further right. An index of 16 bytes for each i. */
#define AT(c, r, i)  (4 * (((c) - (i) * (r)) & 3) + (r))
#define COLUMN(c, i) AT(c, 0, i), AT(c, 1, i), AT(c, 2, i), AT(c, 3, i)
#define SHIFTED(i)                                                                                                     \
	{                                                                                                                  \
		COLUMN(0, i), COLUMN(2, i), COLUMN(1, i), COLUMN(3, i)                                                         \
	}
static const uint8_t shifted[4][16] = {SHIFTED(0), SHIFTED(1), SHIFTED(2), SHIFTED(3)};

/* Bytes as pairs over GF(16), see aes_neonvp.S: lower half, upper half. */
static const uint8_t pair_low[16] = {0x00, 0x10, 0x92, 0x82, 0x74, 0x64, 0xe6, 0xf6,
									 0xd4, 0xc4, 0x46, 0x56, 0xa0, 0xb0, 0x32, 0x22};
static const uint8_t pair_high[16] = {0x00, 0x83, 0xbd, 0x3e, 0x03, 0x80, 0xbe, 0x3d,
									  0xfe, 0x7d, 0x43, 0xc0, 0xfd, 0x7e, 0x40, 0xc3};

static uint8x16_t look_up(const uint8_t table[16], uint8x16_t index)
{
	const uint8x8x2_t t = {{vld1_u8(table), vld1_u8(table + 8)}};
	return vcombine_u8(vtbl2_u8(t, vget_low_u8(index)), vtbl2_u8(t, vget_high_u8(index)));
}

static uint32_t sub_word(uint32_t w)
{
	uint8_t b[128] __attribute__((aligned(16))) = {0};
	memcpy(b, &w, 4);
	gw_neonbs_subbytes(NULL, 0, b, b, 1);
	memcpy(&w, b, 4);
	gw_wipe(b, sizeof b);
	return w ^ 0x63636363;
}

/* Words are little-endian: byte 0 is row 0. Returns the number of rounds. */
static uint32_t expand(uint32_t w[60], const uint8_t *key, size_t len)
{
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	uint32_t rcon = 1;
	for (uint32_t i = 0; i < nk; i++) w[i] = gw_load_le32(key + 4 * i);
	for (uint32_t i = nk; i < words; i++) {
		uint32_t t = w[i - 1];
		if (i % nk == 0) {
			t = sub_word(t >> 8 | t << 24) ^ rcon;
			rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
		} else if (nk == 8 && i % nk == 4) {
			t = sub_word(t);
		}
		w[i] = w[i - nk] ^ t;
	}
	return nk + 6;
}

int gw_neonbs_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_neonbs_key *k = (gw_neonbs_key *)ctx;
	uint32_t w[60];
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	k->rounds = expand(w, key, len);
	for (uint32_t r = 0; r <= k->rounds; r++) {
		uint8x16_t v = look_up((const uint8_t *)(w + 4 * r), vld1q_u8(shifted[r == k->rounds ? 0 : r % 4]));
		if (r > 0) v = veorq_u8(v, vdupq_n_u8(0x63)); /* of the S-box before; MixColumns leaves it as it is */
		const uint8x16_t pairs =
			veorq_u8(look_up(pair_low, vandq_u8(v, vdupq_n_u8(15))), look_up(pair_high, vshrq_n_u8(v, 4)));
		vst1q_u8(k->serial[r], r == k->rounds ? v : pairs);
		for (uint32_t bit = 0; bit < 8; bit++)
			vst1q_u8(k->slices + r * GW_NEONBS_ROUND_BYTES + (7 - bit) * 16, vtstq_u8(v, vdupq_n_u8(1u << bit)));
	}
	gw_wipe(w, sizeof w);
	return 0;
}

void gw_neonbs_mix(gw_neonbs_mixed *m, const gw_neonbs_key *const key[GW_NEONBS_LANES])
{
	const size_t bytes = (key[0]->rounds + 1) * GW_NEONBS_ROUND_BYTES;
	for (uint32_t lane = 0; lane < GW_NEONBS_LANES; lane++) {
		if (m->key[lane] == key[lane]) continue;
		const uint8x16_t bit = vdupq_n_u8(1u << lane);
		for (size_t i = 0; i < bytes; i += 32) {
			uint8_t *to = m->slices + i;
			const uint8_t *from = key[lane]->slices + i;
			vst1q_u8(to, vbslq_u8(bit, vld1q_u8(from), vld1q_u8(to)));
			vst1q_u8(to + 16, vbslq_u8(bit, vld1q_u8(from + 16), vld1q_u8(to + 16)));
		}
		m->key[lane] = key[lane];
	}
}

#include "neon_end.h"
#else
typedef int gw_neonbs_key_not_here;
#endif
