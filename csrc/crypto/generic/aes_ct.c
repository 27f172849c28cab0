/* SPDX-License-Identifier: MIT
 * Planes, S-box, rounds and keys of bit-sliced AES; see aes_ct.h.
 */
#include "aes_ct.h"

#if GW_AES_CT

/* With words of 64 bits planes live in registers, which takes unrolled loops and one piece of code. With 32 bits there
 * are too few registers anyway, every step takes twice as many instructions, and routers want one small copy of it. */
#define INLINE static inline __attribute__((always_inline))
#if UINTPTR_MAX > 0xffffffff
#define SHARED INLINE
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#else
#define SHARED static __attribute__((noinline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(disable)")
#else
#define UNROLL
#endif
#endif

typedef uint64_t v;

/* ---- blocks to planes, and back ---- */

INLINE void trade(v *a, v *b, int n, v low)
{
	const v t = ((*a >> n) ^ *b) & low;
	*b ^= t;
	*a ^= t << n;
}

/* 8 x 8 bits in every byte lane: bit i of word k changes places with bit k of word i. */
SHARED void transpose(v *p)
{
	UNROLL for (int i = 0; i < 4; i++) trade(&p[i], &p[i + 4], 4, 0x0f0f0f0f0f0f0f0f);
	UNROLL for (int i = 0; i < 4; i++) trade(&p[i + (i & 2)], &p[i + (i & 2) + 2], 2, 0x3333333333333333);
	UNROLL for (int i = 0; i < 8; i += 2) trade(&p[i], &p[i + 1], 1, 0x5555555555555555);
}

/* Four bytes to the even ones of eight. */
INLINE v spread(uint32_t w)
{
	const v x = (w | (v)w << 16) & 0x0000ffff0000ffff;
	return (x | x << 8) & 0x00ff00ff00ff00ff;
}

INLINE uint32_t gather(v x)
{
	x &= 0x00ff00ff00ff00ff;
	x = (x | x >> 8) & 0x0000ffff0000ffff;
	return (uint32_t)(x | x >> 16);
}

/* Word 4 * (column % 2) + block has the bytes of two columns in turn, row by row. */
SHARED void load(v *p, const uint8_t *in)
{
	for (int k = 0; k < 8; k++) {
		const uint8_t *at = in + 16 * (k & 3) + (k & 4);
		p[k] = spread(gw_load_le32(at)) | spread(gw_load_le32(at + 8)) << 8;
	}
	transpose(p);
}

SHARED void store(v *p, uint8_t *out)
{
	transpose(p);
	for (int k = 0; k < 8; k++) {
		uint8_t *at = out + 16 * (k & 3) + (k & 4);
		gw_store_le32(at, gather(p[k]));
		gw_store_le32(at + 8, gather(p[k] >> 8));
	}
}

/* ---- S-box ---- */

/* SubBytes less its constant 0x63, which the round keys carry: 115 gates (Boyar and Peralta, "A new combinational logic
 * minimization technique with applications to cryptology", 2010). x0 and the first output are the highest bits. */
SHARED void sub_bytes(v *p)
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
SHARED void unmix_bits(v *p)
{
	v out[8];
	UNROLL for (int k = 0; k < 8; k += 2)
	{
		const v both = p[k] ^ p[(k + 3) & 7];
		out[(k + 6) & 7] = both ^ p[(k + 5) & 7];
		out[(k + 1) & 7] = both ^ p[(k + 6) & 7];
	}
	UNROLL for (int i = 0; i < 8; i++) p[i] = out[i];
}

/* ---- rounds ---- */

INLINE v rotate(v x, int n)
{
	return x >> n | x << (64 - n);
}

/* Row r, the r-th quarter, gives column c what stood in column c + r. */
INLINE void shift_rows(v *p)
{
	UNROLL for (int i = 0; i < 8; i++)
	{
		const v x = p[i];
		p[i] = (x & 0x000000000000ffff) | (x & 0x00000000fff00000) >> 4 | (x & 0x00000000000f0000) << 12 |
			   (x & 0x0000ff0000000000) >> 8 | (x & 0x000000ff00000000) << 8 | (x & 0xf000000000000000) >> 12 |
			   (x & 0x0fff000000000000) << 4;
	}
}

INLINE void unshift_rows(v *p)
{
	UNROLL for (int i = 0; i < 8; i++)
	{
		const v x = p[i];
		p[i] = (x & 0x000000000000ffff) | (x & 0x000000000fff0000) << 4 | (x & 0x00000000f0000000) >> 12 |
			   (x & 0x0000ff0000000000) >> 8 | (x & 0x000000ff00000000) << 8 | (x & 0x000f000000000000) << 12 |
			   (x & 0xfff0000000000000) >> 4;
	}
}

INLINE void add_key(v *p, const v *k)
{
	UNROLL for (int i = 0; i < 8; i++) p[i] ^= k[i];
}

/* 2 t ^ r1 ^ r2(t) with t = a ^ r1; doubling moves planes up, and the highest comes back as 0x1b. */
SHARED void mix_columns(v *p)
{
	v r[8], t[8];
	UNROLL for (int i = 0; i < 8; i++)
	{
		r[i] = rotate(p[i], 16);
		t[i] = p[i] ^ r[i];
	}
	UNROLL for (int i = 0; i < 8; i++)
	{
		p[i] = r[i] ^ rotate(t[i], 32) ^ t[(i + 7) & 7];
		if (i == 1 || i == 3 || i == 4) p[i] ^= t[7];
	}
}

/* a ^ 4 (a ^ r2(a)): what makes InvMixColumns of MixColumns. */
INLINE void before_unmixing(v *p)
{
	v u[8];
	UNROLL for (int i = 0; i < 8; i++) u[i] = p[i] ^ rotate(p[i], 32);
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

void gw_aes_ct_encrypt4(const gw_aes_ct_key *k, uint8_t blocks[64])
{
	v p[8];
	load(p, blocks);
	add_key(p, k->planes[0]);
	for (uint32_t r = 1;; r++) {
		sub_bytes(p);
		shift_rows(p);
		if (r == k->rounds) break;
		mix_columns(p);
		add_key(p, k->planes[r]);
	}
	add_key(p, k->planes[k->rounds]);
	store(p, blocks);
}

/* The constant 0x63 of each key passes InvShiftRows and InvMixColumns unchanged and is there when InvSubBytes wants it.
 */
void gw_aes_ct_decrypt4(const gw_aes_ct_key *k, uint8_t blocks[64])
{
	v p[8];
	load(p, blocks);
	add_key(p, k->planes[k->rounds]);
	for (uint32_t r = k->rounds - 1;; r--) {
		unshift_rows(p);
		unmix_bits(p);
		sub_bytes(p);
		unmix_bits(p);
		add_key(p, k->planes[r]);
		if (r == 0) break;
		before_unmixing(p);
		mix_columns(p);
	}
	store(p, blocks);
}

/* ---- keys ---- */

static uint32_t sub_word(uint32_t w)
{
	uint8_t blocks[64] = {0};
	v p[8];
	gw_store_le32(blocks, w);
	load(p, blocks);
	sub_bytes(p);
	store(p, blocks);
	w = gw_load_le32(blocks) ^ 0x63636363;
	gw_wipe(blocks, sizeof blocks);
	return w;
}

int gw_aes_ct_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_ct_key *k = (gw_aes_ct_key *)ctx;
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	uint32_t w[60], rcon = 1;
	uint8_t blocks[64];

	k->rounds = nk + 6;
	for (uint32_t i = 0; i < nk; i++) w[i] = gw_load_le32(key + 4 * i);
	for (uint32_t i = nk; i < words; i++) { /* FIPS 197 5.2, with the first byte lowest */
		uint32_t t = w[i - 1];
		if (i % nk == 0) {
			t = sub_word(t >> 8 | t << 24) ^ rcon;
			rcon = (rcon << 1) ^ (0x11b & (0 - (rcon >> 7)));
		} else if (nk == 8 && i % nk == 4) {
			t = sub_word(t);
		}
		w[i] = w[i - nk] ^ t;
	}
	for (uint32_t r = 0; r <= k->rounds; r++) {
		for (uint32_t i = 0; i < 16; i++) gw_store_le32(blocks + 4 * i, w[4 * r + (i & 3)] ^ (r > 0 ? 0x63636363 : 0));
		load(k->planes[r], blocks);
	}
	gw_wipe(w, sizeof w);
	gw_wipe(blocks, sizeof blocks);
	return 0;
}

void gw_aes_ct_set_lane(gw_aes_ct_key *to, const gw_aes_ct_key *from, uint32_t lane)
{
	const v mask = 0x1111111111111111ull << lane;
	to->rounds = from->rounds;
	for (uint32_t r = 0; r <= from->rounds; r++)
		for (int i = 0; i < 8; i++) to->planes[r][i] ^= (to->planes[r][i] ^ from->planes[r][i]) & mask;
}
#endif
