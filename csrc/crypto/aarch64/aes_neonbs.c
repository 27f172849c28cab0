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

/* ---- S-box ---- */

/* SubBytes less its constant 0x63, which the round keys carry: 115 gates (Boyar and Peralta, "A new combinational logic
 * minimization technique with applications to cryptology", 2010). x0 and s0 are the highest bits. */
NEON_INLINE void sub_bytes(v *p)
{
	const v x0 = p[7], x1 = p[6], x2 = p[5], x3 = p[4], x4 = p[3], x5 = p[2], x6 = p[1], x7 = p[0];
	/* linear: into the tower field */
	const v y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3;
	const v y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1;
	const v y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
	const v y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
	/* inversion */
	const v t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16, t9 = (y5 & y1) ^ t7;
	const v t11 = (y2 & y7) ^ t7, t12 = y9 & y11, t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12;
	const v t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;
	const v t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22, t30 = t23 ^ t24;
	const v t33 = ((t22 ^ t26) & t30) ^ t24, t36 = t24 & (t27 ^ t33), t37 = t36 ^ t23 ^ t33, t38 = t27 ^ t36;
	const v t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37;
	const v t45 = t42 ^ t41;
	const v z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11;
	const v z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13;
	const v z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
	/* linear: back */
	const v t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5;
	const v t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
	const v t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58;
	const v t64 = z4 ^ t59, t65 = t61 ^ t62, t66 = z1 ^ t63, s3 = t53 ^ t66;
	p[7] = t59 ^ t63;
	p[6] = t64 ^ s3;
	p[5] = t55 ^ t64 ^ t65;
	p[4] = s3;
	p[3] = t51 ^ t66;
	p[2] = t47 ^ t65;
	p[1] = t56 ^ t62;
	p[0] = t48 ^ t60;
}

/* The inverse of SubBytes' linear half: bit i is the sum of bits i + 2, i + 5 and i + 7. */
NEON_INLINE void unmix_bits(v *p)
{
	v out[8];
	NEON_UNROLL for (int k = 0; k < 8; k += 2)
	{
		const v both = p[k] ^ p[(k + 3) & 7];
		out[(k + 6) & 7] = both ^ p[(k + 5) & 7];
		out[(k + 1) & 7] = both ^ p[(k + 6) & 7];
	}
	NEON_UNROLL for (int i = 0; i < 8; i++) p[i] = out[i];
}

/* ---- rounds ---- */

NEON_INLINE void add_key(v *p, const gw_planes k)
{
	NEON_UNROLL for (int i = 0; i < 8; i++) p[i] ^= vld1q_u8(k[i]);
}

/* 2 t ^ r1 ^ r2(t) with t = a ^ r1; doubling moves planes up, and the highest comes back as 0x1b. */
NEON_INLINE void mix_columns(v *p, v turn1, v turn2)
{
	v r[8], t[8];
	NEON_UNROLL for (int i = 0; i < 8; i++)
	{
		r[i] = vqtbl1q_u8(p[i], turn1);
		t[i] = p[i] ^ r[i];
	}
	NEON_UNROLL for (int i = 0; i < 8; i++)
	{
		p[i] = r[i] ^ vqtbl1q_u8(t[i], turn2) ^ t[(i + 7) & 7];
		if (i == 1 || i == 3 || i == 4) p[i] ^= t[7];
	}
}

/* a ^ 4 (a ^ r2(a)): what makes InvMixColumns of MixColumns. */
NEON_INLINE void before_unmixing(v *p, v turn2)
{
	v u[8];
	NEON_UNROLL for (int i = 0; i < 8; i++) u[i] = p[i] ^ vqtbl1q_u8(p[i], turn2);
	const v u67 = u[6] ^ u[7];
	p[0] ^= u[6];
	p[1] ^= u67;
	p[2] ^= u[0] ^ u[7];
	p[3] ^= u[1] ^ u[6];
	p[4] ^= u[2] ^ u67;
	p[5] ^= u[3] ^ u[7];
	p[6] ^= u[4];
	p[7] ^= u[5];
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
		const uint8_t(*turn)[16] = turns[(decrypt ? 0 - r : r) & 3];
		const v turn1 = vld1q_u8(turn[0]), turn2 = vld1q_u8(turn[1]);
		if (decrypt) before_unmixing(p, turn2);
		mix_columns(p, turn1, turn2);
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
