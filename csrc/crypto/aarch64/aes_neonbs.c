/* SPDX-License-Identifier: MIT
 * Bit-sliced AES: planes, S-box, rounds, keys. See aes_neonbs.h.
 */
#if defined(__aarch64__)

#include "aes_neonbs.h"

typedef uint8x16_t v;

/* ---- permutations ---- */

/* [r % 4]: columns turned by one and by two rows, as they stand when ShiftRows was left out r times. */
static const uint8_t turns[4][2][16] __attribute__((aligned(64))) = {
	{{1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12}, {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13}},
	{{5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0}, {10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5}},
	{{9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4}, {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13}},
	{{13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8}, {10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5}},
};

/* ShiftRows to the power 0 to 3 */
static const uint8_t shifts[4][16] __attribute__((aligned(64))) = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11},
	{0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 5, 14, 7},
	{0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3},
};

/* ---- blocks to planes, and back: a transposition of 8 x 8 bits in each lane ---- */

NEON_INLINE void trade4(v *a, v *b)
{
	const v a0 = *a;
	*a = vsliq_n_u8(*a, *b, 4);
	*b = vsriq_n_u8(*b, a0, 4);
}

NEON_INLINE void trade2(v *a, v *b, v low)
{
	const v a0 = *a;
	*a = vbslq_u8(low, *a, vshlq_n_u8(*b, 2));
	*b = vbslq_u8(low, vshrq_n_u8(a0, 2), *b);
}

NEON_INLINE void trade1(v *a, v *b, v low)
{
	const v a0 = *a;
	*a = vbslq_u8(low, *a, vaddq_u8(*b, *b));
	*b = vbslq_u8(low, vshrq_n_u8(a0, 1), *b);
}

NEON_INLINE void transpose(v *p)
{
	const v pairs = vdupq_n_u8(0x33), single = vdupq_n_u8(0x55);
	NEON_UNROLL for (int i = 0; i < 4; i++) trade4(&p[i], &p[i + 4]);
	NEON_UNROLL for (int i = 0; i < 8; i++) if ((i & 2) == 0) trade2(&p[i], &p[i + 2], pairs);
	NEON_UNROLL for (int i = 0; i < 8; i += 2) trade1(&p[i], &p[i + 1], single);
}

/* ---- rounds ---- */

#define CIRCUIT_FN     NEON_INLINE
#define CIRCUIT_INLINE NEON_INLINE
#define CIRCUIT_UNROLL NEON_UNROLL
#define TURN1(x)       vqtbl1q_u8(x, turn[0])
#define TURN2(x)       vqtbl1q_u8(x, turn[1])
#define TURNS          , const v *turn
#include "../aes_circuit.h"

NEON_INLINE void add_key(v *p, const gw_planes k)
{
	NEON_UNROLL for (int i = 0; i < 8; i++) p[i] ^= vld1q_u8(k[i]);
}

NEON_INLINE void crypt8(uint8_t *out, const uint8_t *in, const gw_planes *k, uint32_t rounds, bool decrypt)
{
	const gw_planes *last = k + rounds;
	v p[8];
	neon_load(p, 8, in);
	transpose(p);
	add_key(p, *k++);
	NEON_ROLLED for (uint32_t r = 1;; r++)
	{
		if (decrypt) unmix_bits(p);
		sub_bytes(p);
		if (decrypt) unmix_bits(p);
		if (k == last) break;
		const uint8_t(*at)[16] = turns[(decrypt ? 0 - r : r) & 3];
		const v turn[2] = {vld1q_u8(at[0]), vld1q_u8(at[1])};
		if (decrypt) before_unmixing(p, turn);
		mix_columns(p, turn);
		add_key(p, *k++);
	}
	add_key(p, *last);
	transpose(p);
	const v shift = vld1q_u8(shifts[rounds & 3]); /* 0 or 2 of them: the same forwards and backwards */
	NEON_UNROLL for (int i = 0; i < 8; i++) p[i] = vqtbl1q_u8(p[i], shift);
	neon_store(p, 8, out);
}

void gw_aes_neonbs_encrypt8(uint8_t *out, const uint8_t *in, const gw_aes_neonbs_key *k)
{
	crypt8(out, in, k->enc, k->tbl.rounds, false);
}

void gw_aes_neonbs_decrypt8(uint8_t *out, const uint8_t *in, const gw_aes_neonbs_key *k)
{
	crypt8(out, in, k->dec, k->tbl.rounds, true);
}

/* ---- keys ---- */

/* A round key for all eight blocks, with ShiftRows undone `undo` times. */
static void key_planes(gw_planes to, const uint8_t *key, uint32_t undo, uint8_t constant)
{
	const v k = vqtbl1q_u8(vld1q_u8(key), vld1q_u8(shifts[(0 - undo) & 3])) ^ vdupq_n_u8(constant);
	NEON_ROLLED for (int i = 0; i < 8; i++) vst1q_u8(to[i], vtstq_u8(k, vdupq_n_u8((uint8_t)(1u << i))));
}

int gw_aes_neonbs_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_neonbs_key *k = ctx;
	if (gw_aes_neon_setkey(&k->tbl, key, len) != 0) return -EINVAL;
	const uint32_t rounds = k->tbl.rounds;
	for (uint32_t r = 0; r <= rounds; r++) {
		/* SubBytes' constant: comes after it, or goes before its inverse */
		key_planes(k->enc[r], k->tbl.enc[r], r, r > 0 ? 0x63 : 0);
		key_planes(k->dec[r], k->tbl.dec[r], 0 - r, r < rounds ? 0x63 : 0);
	}
	return 0;
}

#endif
