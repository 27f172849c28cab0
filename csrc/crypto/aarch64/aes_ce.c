/* SPDX-License-Identifier: MIT
 * ECB, CBC decryption and CTR (SP 800-38A) by the AArch64 Crypto Extensions, eight blocks abreast. CBC encryption is
 * in cbc_ce.c, XTS in xts_ce.c.
 */
#if defined(__aarch64__)

#include "aes_ce.h"

/* ---- keys ---- */

/* SubWord without a table: AESE with a zero key is SubBytes and ShiftRows, and equal columns shift into each other. */
CE_INLINE uint32_t sub_word(uint32_t w)
{
	const uint8x16_t v = vaeseq_u8(vreinterpretq_u8_u32(vdupq_n_u32(w)), vdupq_n_u8(0));
	return vgetq_lane_u32(vreinterpretq_u32_u8(v), 0);
}

CE int gw_aes_ce_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_ce_key *k = ctx;
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	uint32_t w[4 * (CE_MAX_ROUNDS + 1)], rcon = 1;
	k->rounds = nk + 6;
	CE_ROLLED for (uint32_t i = 0; i < nk; i++) w[i] = gw_load_le32(key + 4 * i);
	CE_ROLLED for (uint32_t i = nk; i < words; i++)
	{
		uint32_t t = w[i - 1];
		if (i % nk == 0) {
			t = sub_word(t >> 8 | t << 24) ^ rcon;
			rcon = rcon << 1 ^ (0x11b & (0 - (rcon >> 7)));
		} else if (nk == 8 && i % nk == 4) {
			t = sub_word(t);
		}
		w[i] = w[i - nk] ^ t;
	}
	CE_ROLLED for (uint32_t i = 0; i < words; i++) gw_store_le32(k->enc[i / 4] + i % 4 * 4, w[i]);
	gw_wipe(w, sizeof w);
	memcpy(k->dec[0], k->enc[k->rounds], 16);
	CE_ROLLED for (uint32_t r = 1; r < k->rounds; r++)
		vst1q_u8(k->dec[r], vaesimcq_u8(vld1q_u8(k->enc[k->rounds - r])));
	memcpy(k->dec[k->rounds], k->enc[0], 16);
	return 0;
}

CE void gw_aes_ce_encrypt_block(const gw_aes_ce_key *k, const uint8_t *in, uint8_t *out)
{
	uint8x16_t b = vld1q_u8(in);
	uint32_t r = 0;
	CE_ROLLED for (; r < k->rounds - 1; r++) b = vaesmcq_u8(vaeseq_u8(b, vld1q_u8(k->enc[r])));
	b = vaeseq_u8(b, vld1q_u8(k->enc[r]));
	vst1q_u8(out, veorq_u8(b, vld1q_u8(k->enc[r + 1])));
}

/* ---- ECB ---- */

CE_INLINE void ecb_step(const uint8_t *in, uint8_t *out, const ce_keys *k, int blocks, bool decrypt)
{
	uint8x16_t b[8];
	ce_load(b, blocks, in);
	if (decrypt)
		ce_decrypt(b, blocks, k);
	else
		ce_encrypt(b, blocks, k);
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = veorq_u8(b[i], k->rk[10]);
	ce_store(b, blocks, out);
}

CE_INLINE void ecb_op(const gw_op *op, bool decrypt)
{
	const gw_aes_ce_key *key = op->key;
	const ce_keys k = ce_load_keys(decrypt ? key->dec : key->enc, key->rounds);
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data, *end = in + (op->in[s].len & ~(size_t)15);
		CE_ROLLED for (; end - in >= 128; in += 128, out += 128) ecb_step(in, out, &k, 8, decrypt);
		CE_ROLLED for (; in < end; in += 16, out += 16) ecb_step(in, out, &k, 1, decrypt);
	}
}

CE static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) ecb_op(ops, false);
}

CE static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) ecb_op(ops, true);
}

/* ---- CBC decryption ---- */

CE_INLINE uint8x16_t cbc_step(const uint8_t *in, uint8_t *out, uint8x16_t chain, const ce_keys *k, int blocks)
{
	uint8x16_t b[8], c[8]; /* c: the ciphertext again, as out may be in */
	ce_load(b, blocks, in);
	ce_load(c, blocks, in);
	ce_decrypt(b, blocks, k);
	CE_UNROLL for (int i = 0; i < blocks; i++)
	{
		b[i] = veorq_u8(b[i], veorq_u8(k->rk[10], chain));
		chain = c[i];
	}
	ce_store(b, blocks, out);
	return chain;
}

CE_INLINE void cbc_decrypt_op(const gw_op *op)
{
	const gw_aes_ce_key *key = op->key;
	const ce_keys k = ce_load_keys(key->dec, key->rounds);
	uint8x16_t chain = vld1q_u8(op->iv);
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data, *end = in + (op->in[s].len & ~(size_t)15);
		CE_ROLLED for (; end - in >= 128; in += 128, out += 128) chain = cbc_step(in, out, chain, &k, 8);
		if (end - in >= 64) {
			chain = cbc_step(in, out, chain, &k, 4);
			in += 64, out += 64;
		}
		CE_ROLLED for (; in < end; in += 16, out += 16) chain = cbc_step(in, out, chain, &k, 1);
	}
}

CE static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) cbc_decrypt_op(ops);
}

/* ---- CTR ---- */

/* The counter is kept with its words in native order, so that a vector addition counts. */
CE_INLINE uint32x4_t ctr_step(const uint8_t *in, uint8_t *out, uint32x4_t ctr, const ce_keys *k, int blocks)
{
	const uint32x4_t one = {0, 0, 0, 1};
	uint8x16_t b[8];
	CE_UNROLL for (int i = 0; i < blocks; i++)
	{
		b[i] = vrev32q_u8(vreinterpretq_u8_u32(ctr));
		ctr = vaddq_u32(ctr, one);
	}
	ce_encrypt(b, blocks, k);
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = veorq_u8(b[i], veorq_u8(k->rk[10], vld1q_u8(in + 16 * i)));
	ce_store(b, blocks, out);
	return ctr;
}

/* Whole blocks while the low word of the counter does not wrap. */
CE_INLINE uint32x4_t ctr_run(const uint8_t *in, uint8_t *out, size_t blocks, uint32x4_t ctr, const ce_keys *k)
{
	const uint8_t *end = in + 16 * blocks;
	CE_ROLLED for (; end - in >= 128; in += 128, out += 128) ctr = ctr_step(in, out, ctr, k, 8);
	if (end - in >= 64) {
		ctr = ctr_step(in, out, ctr, k, 4);
		in += 64, out += 64;
	}
	CE_ROLLED for (; in < end; in += 16, out += 16) ctr = ctr_step(in, out, ctr, k, 1);
	return ctr;
}

CE_OUTLINE uint32x4_t ctr_carry(uint32x4_t ctr)
{
	uint8_t block[16];
	vst1q_u8(block, vrev32q_u8(vreinterpretq_u8_u32(ctr)));
	uint64_t hi = gw_load_be64(block), lo = gw_load_be64(block + 8); /* the low word is 0 after its wrap */
	lo += (uint64_t)1 << 32;
	hi += lo >> 32 == 0;
	gw_store_be64(block, hi);
	gw_store_be64(block + 8, lo);
	return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block)));
}

CE_INLINE void ctr_op(const gw_op *op)
{
	const gw_aes_ce_key *key = op->key;
	const ce_keys k = ce_load_keys(key->enc, key->rounds);
	uint32x4_t ctr = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(op->iv)));
	uint64_t before_wrap = ((uint64_t)1 << 32) - gw_load_be32(op->iv + 12);
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t blocks = op->in[s].len / 16, rest = op->in[s].len % 16;
		while (blocks > 0) {
			const size_t run = blocks < before_wrap ? blocks : (size_t)before_wrap;
			ctr = ctr_run(in, out, run, ctr, &k);
			in += 16 * run, out += 16 * run, blocks -= run;
			if ((before_wrap -= run) == 0) {
				ctr = ctr_carry(ctr);
				before_wrap = (uint64_t)1 << 32;
			}
		}
		if (rest > 0) {
			uint8_t stream[16];
			vst1q_u8(stream, vrev32q_u8(vreinterpretq_u8_u32(ctr)));
			gw_aes_ce_encrypt_block(key, stream, stream);
			gw_xor_bytes(out, in, stream, rest);
			out += rest;
		}
	}
}

CE static void ctr_crypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) ctr_op(ops);
}

#define IMPL(mode, enc, dec)                                                                                           \
	const gw_impl gw_impl_##mode##_aes_ce = {                                                                          \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-ce/gwbench",                                                                             \
		.tag = "ce",                                                                                                   \
		.isa = "AArch64 Crypto Extensions",                                                                            \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 400,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES,                                                                     \
		.key_ctx_bytes = sizeof(gw_aes_ce_key),                                                                        \
		.batch_hint = 8,                                                                                               \
		.setkey = gw_aes_ce_setkey,                                                                                    \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, ecb_encrypt, ecb_decrypt);
IMPL(cbc, gw_cbc_ce_encrypt, cbc_decrypt);
IMPL(ctr, ctr_crypt, ctr_crypt);

#endif
