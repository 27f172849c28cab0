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

/* ---- rounds ---- */

INLINE v rotate(v x, int n)
{
	return x >> n | x << (64 - n);
}

#define CIRCUIT_FN     SHARED
#define CIRCUIT_INLINE INLINE
#define CIRCUIT_UNROLL UNROLL
#define TURN1(x)       rotate(x, 16)
#define TURN2(x)       rotate(x, 32)
#define TURNS
#include "../aes_circuit.h"

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
