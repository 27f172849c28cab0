/* SPDX-License-Identifier: MIT
 * AES for AArch64 without Crypto Extensions: TBL looks 16 bytes up in registers, so that the S-box, held in 16 of the
 * 32 vector registers, costs seven instructions a block and no secret ever is an address.
 *
 * MixColumns of a (after ShiftRows), with r1, r2 its columns turned by one and two rows and t = a ^ r1:
 * 2 t ^ r1 ^ r2(t). a and r1 both come from the substituted block by one TBL each.
 */
#ifndef GW_CRYPTO_AARCH64_AES_NEON_H
#define GW_CRYPTO_AARCH64_AES_NEON_H

#include <arm_neon.h>

#include "../block.h"
#include "../impl.h"
#include "../spans.h"

#define NEON_INLINE static inline __attribute__((always_inline))
#define NEON_UNROLL _Pragma("GCC unroll 16")
#define NEON_ROLLED _Pragma("GCC unroll 1") /* compilers unroll for in-order cores: code size without a gain here */

typedef struct gw_aes_neon_key {
	uint8_t enc[15][16] __attribute__((aligned(16)));
	uint8_t dec[15][16] __attribute__((aligned(16))); /* equivalent inverse cipher, FIPS 197 5.3.5 */
	uint32_t rounds;
} gw_aes_neon_key;

typedef struct gw_xts_neon_key {
	gw_aes_neon_key data, tweak;
} gw_xts_neon_key;

/* len <= 16 bytes of key stream from the block that counter names */
void gw_aes_neon_ctr_one(uint8_t *out, const uint8_t *in, size_t len, const gw_aes_neon_key *k,
						 const uint64_t *counter);

/* What stays in registers: an S-box and two permutations. This header's functions are for single blocks. */
typedef struct aes_neon_tables {
	uint8x16x4_t box[4];
	uint8x16_t shift, shift_turn; /* decryption: ShiftRows; a turn alone */
} aes_neon_tables;

/* The tables as they stand in memory, [decryption], in the order that aes_neon_core.S loads them. */
typedef struct gw_aes_neon_table {
	uint8_t box[256];
	uint8_t shift[16], shift_turn[16];
	uint8_t step[16]; /* 0x40 */
	uint8_t poly[16]; /* 0x1b */
} __attribute__((aligned(64))) gw_aes_neon_table;
extern const gw_aes_neon_table gw_aes_neon_table_of[2];

/* aes_neon_core.S: groups of four blocks (at least 1), faster than a compiler does it; out may be in. rk: the key's enc
 * or dec; t: the table of that direction. Each keeps its last argument up to date. */
#define AES_NEON_LOOP(name, ...)                                                                                       \
	void gw_aes_neon_##name(uint8_t *out, const uint8_t *in, size_t groups, const uint8_t(*rk)[16], uint32_t rounds,   \
							const gw_aes_neon_table *t, ##__VA_ARGS__)
AES_NEON_LOOP(ecb_encrypt4);
AES_NEON_LOOP(ecb_decrypt4);
AES_NEON_LOOP(cbc_decrypt4, uint8_t *chain);
AES_NEON_LOOP(ctr4, uint64_t *counter); /* high and low half, native; the low one must not wrap on the way */
AES_NEON_LOOP(xts_encrypt4, uint8_t *tweak);
AES_NEON_LOOP(xts_decrypt4, uint8_t *tweak);
/* Four packets, `blocks` of each; moves the pointers on. */
void gw_aes_neon_cbc_encrypt4(uint8_t **out, const uint8_t **in, size_t blocks, const uint8_t (*rk)[16],
							  uint32_t rounds, const gw_aes_neon_table *t, uint8_t (*chain)[16]);

int gw_aes_neon_setkey(void *ctx, const uint8_t *key, size_t len); /* a gw_aes_neon_key; -EINVAL unless 16, 24, 32 */
void gw_aes_neon_encrypt_block(const gw_aes_neon_key *k, const uint8_t *in, uint8_t *out);
void gw_aes_neon_decrypt_block(const gw_aes_neon_key *k, const uint8_t *in, uint8_t *out);

/* Modes from any point of a message: what they carry is kept up to date. */
struct cbc_lane;
void gw_cbc_neon_run(struct cbc_lane *l, int lanes, size_t blocks, const gw_aes_neon_key *k);
void gw_cbc_neon_decrypt_run(uint8_t *out, const uint8_t *in, size_t blocks, const gw_aes_neon_key *k, uint8_t *chain);
void gw_ctr_neon_run(uint8_t *out, const uint8_t *in, size_t len, const gw_aes_neon_key *k, uint64_t *counter);

/* An XTS message: begin (false: too short, nothing to do), run over `whole` blocks as they come, end at what follows.
 */
typedef struct gw_xts_neon_stream {
	const gw_aes_neon_key *data;
	bool decrypt;
	size_t whole, tail;          /* blocks before ciphertext stealing; bytes of the last, partial block */
	uint8_t tweak[16], last[32]; /* last: input of ciphertext stealing */
} gw_xts_neon_stream;
bool gw_xts_neon_begin(gw_xts_neon_stream *x, const gw_op *op, const gw_aes_neon_key *tweak_key);
void gw_xts_neon_run(gw_xts_neon_stream *x, uint8_t *out, const uint8_t *in, size_t blocks);
void gw_xts_neon_end(const gw_xts_neon_stream *x, uint8_t *out);

NEON_INLINE void aes_neon_load_tables(aes_neon_tables *t, bool decrypt)
{
	NEON_UNROLL for (int i = 0; i < 4; i++) NEON_UNROLL for (int j = 0; j < 4; j++) t->box[i].val[j] =
		vld1q_u8(gw_aes_neon_table_of[decrypt].box + 64 * i + 16 * j);
	t->shift = vld1q_u8(gw_aes_neon_table_of[decrypt].shift);
	t->shift_turn = vld1q_u8(gw_aes_neon_table_of[decrypt].shift_turn);
}

/* TBX leaves alone what is out of its range: four steps of 64. */
NEON_INLINE void aes_neon_sub(uint8x16_t *b, int blocks, const aes_neon_tables *t)
{
	const uint8x16_t step = vdupq_n_u8(0x40);
	uint8x16_t x[4];
	NEON_UNROLL for (int i = 0; i < blocks; i++)
	{
		x[i] = vsubq_u8(b[i], step);
		b[i] = vqtbl4q_u8(t->box[0], b[i]);
	}
	NEON_UNROLL for (int i = 0; i < blocks; i++)
	{
		b[i] = vqtbx4q_u8(b[i], t->box[1], x[i]);
		x[i] = vsubq_u8(x[i], step);
	}
	NEON_UNROLL for (int i = 0; i < blocks; i++)
	{
		b[i] = vqtbx4q_u8(b[i], t->box[2], x[i]);
		x[i] = vsubq_u8(x[i], step);
	}
	NEON_UNROLL for (int i = 0; i < blocks; i++) b[i] = vqtbx4q_u8(b[i], t->box[3], x[i]);
}

NEON_INLINE uint8x16_t aes_neon_times2(uint8x16_t a)
{
	const int8x16_t top = vshrq_n_s8(vreinterpretq_s8_u8(a), 7);
	return veorq_u8(vaddq_u8(a, a), vandq_u8(vreinterpretq_u8_s8(top), vdupq_n_u8(0x1b)));
}

NEON_INLINE uint8x16_t aes_neon_turn2(uint8x16_t a)
{
	return vreinterpretq_u8_u16(vrev32q_u16(vreinterpretq_u16_u8(a)));
}

NEON_INLINE uint8x16_t aes_neon_mix(uint8x16_t a, uint8x16_t r1)
{
	const uint8x16_t t = veorq_u8(a, r1);
	return veorq_u8(aes_neon_times2(t), veorq_u8(r1, aes_neon_turn2(t)));
}

NEON_INLINE void aes_neon_round(uint8x16_t *b, int blocks, const uint8_t *rk, const aes_neon_tables *t, bool decrypt)
{
	const uint8x16_t k = vld1q_u8(rk);
	aes_neon_sub(b, blocks, t);
	NEON_UNROLL for (int i = 0; i < blocks; i++)
	{
		if (decrypt) { /* InvMixColumns(a) = MixColumns(a ^ 4 (a ^ a turned by two)) */
			const uint8x16_t a = vqtbl1q_u8(b[i], t->shift), u = veorq_u8(a, aes_neon_turn2(a));
			const poly8x16_t over = vreinterpretq_p8_u8(vshrq_n_u8(u, 6));
			const uint8x16_t low = vreinterpretq_u8_p8(vmulq_p8(over, vdupq_n_p8(0x1b)));
			const uint8x16_t m = veorq_u8(a, veorq_u8(vshlq_n_u8(u, 2), low));
			b[i] = aes_neon_mix(m, vqtbl1q_u8(m, t->shift_turn));
		} else {
			b[i] = aes_neon_mix(vqtbl1q_u8(b[i], t->shift), vqtbl1q_u8(b[i], t->shift_turn));
		}
		b[i] = veorq_u8(b[i], k);
	}
}

/* All rounds but the XOR with the last key, which callers merge with their own. rk: enc or dec keys. */
NEON_INLINE void aes_neon_crypt(uint8x16_t *b, int blocks, const uint8_t (*rk)[16], uint32_t rounds,
								const aes_neon_tables *t, bool decrypt)
{
	const uint8_t *k = rk[1], *last = rk[rounds];
	const uint8x16_t first = vld1q_u8(rk[0]);
	NEON_UNROLL for (int i = 0; i < blocks; i++) b[i] = veorq_u8(b[i], first);
	aes_neon_round(b, blocks, k, t, decrypt);
	NEON_ROLLED for (k += 16; k < last; k += 32)
	{
		aes_neon_round(b, blocks, k, t, decrypt);
		aes_neon_round(b, blocks, k + 16, t, decrypt);
	}
	aes_neon_sub(b, blocks, t);
	NEON_UNROLL for (int i = 0; i < blocks; i++) b[i] = vqtbl1q_u8(b[i], t->shift);
}

/* An XTS tweak times x^8, one byte further: the byte r that leaves at the top stands at the bottom after the rotation,
 * and r * 0x86 added to it is r * 0x87. */
NEON_INLINE uint8x16_t neon_times_x8(uint8x16_t t)
{
	const uint8x16_t rotated = vextq_u8(t, t, 15);
	const poly16x8_t product = vmull_p8(vreinterpret_p8_u8(vget_low_u8(rotated)), vcreate_p8(0x86));
	return veorq_u8(rotated, vreinterpretq_u8_p16(product));
}

NEON_INLINE void neon_load(uint8x16_t *b, int blocks, const uint8_t *in)
{
	NEON_UNROLL for (int i = 0; i < blocks; i++) b[i] = vld1q_u8(in + 16 * i);
}

NEON_INLINE void neon_store(const uint8x16_t *b, int blocks, uint8_t *out)
{
	NEON_UNROLL for (int i = 0; i < blocks; i++) vst1q_u8(out + 16 * i, b[i]);
}

#endif
