/* SPDX-License-Identifier: MIT
 * ECB, CBC and CTR (SP 800-38A) by the Crypto Extensions of ARMv8 in 32-bit state.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../spans.h"
#include "aes_ce32.h"
#include "copy.h"
#include "ctr_groups.h"

int gw_aes_ce32_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_ce32_key *k = (gw_aes_ce32_key *)ctx;
	uint32_t w[60], rcon = 1;
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	k->rounds = nk + 6;
	for (uint32_t i = 0; i < nk; i++) w[i] = gw_load_le32(key + 4 * i);
	for (uint32_t i = nk; i < words; i++) {
		uint32_t t = w[i - 1];
		if (i % nk == 0) {
			t = gw_aes_ce32_sub_word(t >> 8 | t << 24) ^ rcon;
			rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
		} else if (nk == 8 && i % nk == 4) {
			t = gw_aes_ce32_sub_word(t);
		}
		w[i] = w[i - nk] ^ t;
	}
	memcpy(k->enc, w, 4 * words);
	gw_aes_ce32_inverse_keys(k->dec, k->enc, k->rounds);
	gw_wipe_few(w, sizeof w);
	return 0;
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t j = 0; j < ops->n_in; j++) {
			gw_aes_ce32_encrypt(k->enc, k->rounds, out, ops->in[j].data, ops->in[j].len / 16);
			out += ops->in[j].len;
		}
	}
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t j = 0; j < ops->n_in; j++) {
			gw_aes_ce32_decrypt(k->dec, k->rounds, out, ops->in[j].data, ops->in[j].len / 16);
			out += ops->in[j].len;
		}
	}
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)ops->key;
		uint8_t *out = ops->out, chain[16];
		if (ops->flags & GW_OP_IV_NONCE) gw_aes_ce32_encrypt(k->enc, k->rounds, ops->iv, ops->iv, 1);
		memcpy(chain, ops->iv, 16);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			gw_aes_ce32_cbc_encrypt(k->enc, k->rounds, out, ops->in[j].data, ops->in[j].len / 16, chain);
			out += ops->in[j].len;
		}
	}
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	uint8_t plain[128] __attribute__((aligned(16)));
	for (; n > 0; n--, ops++) {
		const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)ops->key;
		uint8_t *out = ops->out;
		uint8x16_t chain = vld1q_u8(ops->iv);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			const uint8_t *in = ops->in[j].data;
			for (size_t left = ops->in[j].len / 16; left > 0;) {
				const size_t m = left < 8 ? left : 8;
				const uint8x16_t last = vld1q_u8(in + 16 * m - 16);
				gw_aes_ce32_decrypt(k->dec, k->rounds, plain, in, m);
				for (size_t i = m - 1; i > 0; i--) /* backwards, because in may be out */
					vst1q_u8(out + 16 * i, veorq_u8(vld1q_u8(plain + 16 * i), vld1q_u8(in + 16 * i - 16)));
				vst1q_u8(out, veorq_u8(vld1q_u8(plain), chain));
				chain = last;
				in += 16 * m, out += 16 * m, left -= m;
			}
		}
	}
	gw_wipe_few(plain, sizeof plain);
}

static void core_groups(const void *key, uint8_t *out, const uint8_t *in, size_t groups, const uint8_t counter[16])
{
	const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)key;
	uint32_t w[4];
	for (int i = 0; i < 4; i++) w[i] = gw_load_be32(counter + 4 * i);
	gw_aes_ce32_ctr(k->enc, k->rounds, out, in, groups, w);
}

static void core_encrypt8(const void *key, uint8_t blocks[128])
{
	const gw_aes_ce32_key *k = (const gw_aes_ce32_key *)key;
	gw_aes_ce32_encrypt(k->enc, k->rounds, blocks, blocks, 8);
}

void gw_aes_ce32_ctr_bytes(const gw_aes_ce32_key *k, uint8_t *out, const uint8_t *in, size_t len, uint8_t counter[16],
						   bool carry)
{
	static const gw_ctr_core core = {core_groups, core_encrypt8};
	const size_t groups = len / 128, rest = len % 128;
	uint8_t stream[128] __attribute__((aligned(16)));
	gw_ctr_groups(&core, k, out, in, groups, counter, carry);
	if (rest == 0) return;
	out += 128 * groups, in += 128 * groups;
	for (size_t i = 0; i < rest; i += 16) {
		vst1q_u8(stream + i, vld1q_u8(counter));
		gw_ctr_add(counter, 1, carry);
	}
	gw_aes_ce32_encrypt(k->enc, k->rounds, stream, stream, (rest + 15) / 16);
	size_t i = 0;
	for (; i + 16 <= rest; i += 16) vst1q_u8(out + i, veorq_u8(vld1q_u8(in + i), vld1q_u8(stream + i)));
	for (; i < rest; i++) out[i] = in[i] ^ stream[i];
	gw_wipe_few(stream, sizeof stream);
}

static void ctr(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t *out = ops->out, counter[16];
		memcpy(counter, ops->iv, 16);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			gw_aes_ce32_ctr_bytes((const gw_aes_ce32_key *)ops->key, out, ops->in[j].data, ops->in[j].len, counter,
								  true);
			out += ops->in[j].len;
		}
	}
}

#define IMPL(mode, enc_fn, dec_fn)                                                                                     \
	const gw_impl gw_impl_##mode##_aes_ce = {                                                                          \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-ce/gwbench",                                                                             \
		.tag = "ce",                                                                                                   \
		.isa = "ARMv8 Crypto Extensions, 32-bit",                                                                      \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 400,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES,                                                                     \
		.key_ctx_bytes = sizeof(gw_aes_ce32_key),                                                                      \
		.batch_hint = 1,                                                                                               \
		.setkey = gw_aes_ce32_setkey,                                                                                  \
		.encrypt = enc_fn,                                                                                             \
		.decrypt = dec_fn,                                                                                             \
	}

IMPL(ecb, ecb_encrypt, ecb_decrypt);
IMPL(cbc, cbc_encrypt, cbc_decrypt);
IMPL(ctr, ctr, ctr);

#include "neon_end.h"
#else
typedef int gw_aes_ce32_not_here;
#endif
