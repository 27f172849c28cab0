/* SPDX-License-Identifier: MIT
 * AES by the AArch64 Crypto Extensions: keys, and rounds over N blocks at once. The number of blocks is a constant
 * wherever these are inlined, so that blocks and round keys stay in registers.
 */
#ifndef GW_CRYPTO_AARCH64_AES_CE_H
#define GW_CRYPTO_AARCH64_AES_CE_H

#include <arm_neon.h>

#include "../block.h"
#include "../impl.h"
#include "../spans.h"

#define CE         __attribute__((target("+crypto")))
#define CE_INLINE  static inline CE __attribute__((always_inline))
#define CE_OUTLINE static CE __attribute__((noinline))
#define CE_UNROLL  _Pragma("GCC unroll 16")
#define CE_ROLLED  _Pragma("GCC unroll 1") /* compilers unroll for in-order cores: code size without a gain here */

#define CE_MAX_ROUNDS 14

typedef struct gw_aes_ce_key {
	uint8_t enc[CE_MAX_ROUNDS + 1][16] __attribute__((aligned(16)));
	uint8_t dec[CE_MAX_ROUNDS + 1][16] __attribute__((aligned(16))); /* equivalent inverse cipher, FIPS 197 5.3.5 */
	uint32_t rounds;
} gw_aes_ce_key;

typedef struct gw_xts_ce_key {
	gw_aes_ce_key data, tweak;
} gw_xts_ce_key;

int gw_aes_ce_setkey(void *ctx, const uint8_t *key, size_t len); /* a gw_aes_ce_key; -EINVAL unless 16, 24, 32 */
/* One block with any key: for tweaks, hash keys and other single blocks. */
void gw_aes_ce_encrypt_block(const gw_aes_ce_key *k, const uint8_t *in, uint8_t *out);
void gw_cbc_ce_encrypt(gw_op *ops, size_t n);

/* The last ten rounds' keys and the last key, in registers; the two or four rounds that longer keys have in front are
 * read where they lie. One piece of code then serves all key lengths. */
typedef struct ce_keys {
	uint8x16_t rk[11];
	const uint8_t (*first)[16];
	uint32_t extra; /* rounds in front: 0, 2, 4 */
} ce_keys;

CE_INLINE ce_keys ce_load_keys(const uint8_t (*k)[16], uint32_t rounds)
{
	ce_keys c = {.first = k, .extra = rounds - 10};
	CE_UNROLL for (int i = 0; i < 11; i++) c.rk[i] = vld1q_u8(k[c.extra + (uint32_t)i]);
	return c;
}

CE_INLINE void ce_extra_round(uint8x16_t *b, int blocks, const uint8_t *key, bool decrypt)
{
	const uint8x16_t k = vld1q_u8(key);
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] =
		decrypt ? vaesimcq_u8(vaesdq_u8(b[i], k)) : vaesmcq_u8(vaeseq_u8(b[i], k));
}

/* The rounds in front, from key number `from` on. */
CE_INLINE void ce_extra(uint8x16_t *b, int blocks, const ce_keys *k, int from, bool decrypt)
{
	if (k->extra == 0) return;
	ce_extra_round(b, blocks, k->first[from], decrypt);
	ce_extra_round(b, blocks, k->first[from + 1], decrypt);
	if (k->extra == 2) return;
	ce_extra_round(b, blocks, k->first[from + 2], decrypt);
	ce_extra_round(b, blocks, k->first[from + 3], decrypt);
}

/* All rounds but the last key's XOR, which callers merge with their own. */
CE_INLINE void ce_encrypt(uint8x16_t *b, int blocks, const ce_keys *k)
{
	ce_extra(b, blocks, k, 0, false);
	CE_UNROLL for (int r = 0; r < 9; r++) CE_UNROLL for (int i = 0; i < blocks; i++) b[i] =
		vaesmcq_u8(vaeseq_u8(b[i], k->rk[r]));
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = vaeseq_u8(b[i], k->rk[9]);
}

CE_INLINE void ce_decrypt(uint8x16_t *b, int blocks, const ce_keys *k)
{
	ce_extra(b, blocks, k, 0, true);
	CE_UNROLL for (int r = 0; r < 9; r++) CE_UNROLL for (int i = 0; i < blocks; i++) b[i] =
		vaesimcq_u8(vaesdq_u8(b[i], k->rk[r]));
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = vaesdq_u8(b[i], k->rk[9]);
}

CE_INLINE void ce_load(uint8x16_t *b, int blocks, const uint8_t *in)
{
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = vld1q_u8(in + 16 * i);
}

CE_INLINE void ce_store(const uint8x16_t *b, int blocks, uint8_t *out)
{
	CE_UNROLL for (int i = 0; i < blocks; i++) vst1q_u8(out + 16 * i, b[i]);
}

#endif
