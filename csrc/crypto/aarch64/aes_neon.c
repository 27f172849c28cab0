/* SPDX-License-Identifier: MIT
 * ECB, CBC (both directions) and CTR (SP 800-38A) by table look-up in registers, four blocks abreast; see aes_neon.h.
 */
#if defined(__aarch64__)

#include "aes_neon.h"

#include "../generic/aes_sbox.h"
#include "cbc_lanes.h"

/* ---- tables and keys ---- */

#define BYTE(b) b
#define SIXTEEN(b)                                                                                                     \
	{                                                                                                                  \
		b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b                                                                 \
	}
const gw_aes_neon_table gw_aes_neon_table_of[2] = {
	{{GW_AES_SBOX(BYTE)},
	 {0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11},
	 {5, 10, 15, 0, 9, 14, 3, 4, 13, 2, 7, 8, 1, 6, 11, 12},
	 SIXTEEN(0x40),
	 SIXTEEN(0x1b)},
	{{GW_AES_INV_SBOX(BYTE)},
	 {0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3},
	 {1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12},
	 SIXTEEN(0x40),
	 SIXTEEN(0x1b)},
};

int gw_aes_neon_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_aes_neon_key *k = ctx;
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	aes_neon_tables t;
	uint32_t w[60], rcon = 1;
	aes_neon_load_tables(&t, false);
	k->rounds = nk + 6;
	NEON_ROLLED for (uint32_t i = 0; i < nk; i++) w[i] = gw_load_le32(key + 4 * i);
	NEON_ROLLED for (uint32_t i = nk; i < words; i++)
	{
		uint32_t v = w[i - 1];
		if (i % nk == 0 || (nk == 8 && i % nk == 4)) {
			uint8x16_t s = vreinterpretq_u8_u32(vdupq_n_u32(v));
			aes_neon_sub(&s, 1, &t);
			v = vgetq_lane_u32(vreinterpretq_u32_u8(s), 0);
		}
		if (i % nk == 0) {
			v = (v >> 8 | v << 24) ^ rcon;
			rcon = rcon << 1 ^ (0x11b & (0 - (rcon >> 7)));
		}
		w[i] = w[i - nk] ^ v;
	}
	NEON_ROLLED for (uint32_t i = 0; i < words; i++) gw_store_le32(k->enc[i / 4] + i % 4 * 4, w[i]);
	gw_wipe(w, sizeof w);
	memcpy(k->dec[0], k->enc[k->rounds], 16);
	memcpy(k->dec[k->rounds], k->enc[0], 16);
	const uint8x16_t turn = vld1q_u8(gw_aes_neon_table_of[1].shift_turn);
	NEON_ROLLED for (uint32_t r = 1; r < k->rounds; r++)
	{
		const uint8x16_t a = vld1q_u8(k->enc[k->rounds - r]), u = veorq_u8(a, aes_neon_turn2(a));
		const uint8x16_t m = veorq_u8(a, aes_neon_times2(aes_neon_times2(u)));
		vst1q_u8(k->dec[r], aes_neon_mix(m, vqtbl1q_u8(m, turn)));
	}
	return 0;
}

__attribute__((noinline)) void gw_aes_neon_encrypt_block(const gw_aes_neon_key *k, const uint8_t *in, uint8_t *out)
{
	aes_neon_tables t;
	uint8x16_t b = vld1q_u8(in);
	aes_neon_load_tables(&t, false);
	aes_neon_crypt(&b, 1, k->enc, k->rounds, &t, false);
	vst1q_u8(out, veorq_u8(b, vld1q_u8(k->enc[k->rounds])));
}

__attribute__((noinline)) void gw_aes_neon_decrypt_block(const gw_aes_neon_key *k, const uint8_t *in, uint8_t *out)
{
	aes_neon_tables t;
	uint8x16_t b = vld1q_u8(in);
	aes_neon_load_tables(&t, true);
	aes_neon_crypt(&b, 1, k->dec, k->rounds, &t, true);
	vst1q_u8(out, veorq_u8(b, vld1q_u8(k->dec[k->rounds])));
}

/* ---- ECB ---- */

NEON_INLINE void ecb(gw_op *ops, size_t n, bool decrypt)
{
	const gw_aes_neon_table *table = &gw_aes_neon_table_of[decrypt];
	for (; n > 0; n--, ops++) {
		const gw_aes_neon_key *k = ops->key;
		const uint8_t(*rk)[16] = decrypt ? k->dec : k->enc;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			const size_t groups = ops->in[s].len / 64, left = ops->in[s].len % 64 / 16;
			if (groups > 0) {
				(decrypt ? gw_aes_neon_ecb_decrypt4 : gw_aes_neon_ecb_encrypt4)(out, in, groups, rk, k->rounds, table);
				in += 64 * groups, out += 64 * groups;
			}
			for (size_t i = 0; i < left; i++, in += 16, out += 16)
				(decrypt ? gw_aes_neon_decrypt_block : gw_aes_neon_encrypt_block)(k, in, out);
		}
	}
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, false);
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, true);
}

/* ---- CBC ---- */

static void cbc_run4(cbc_lane *l, size_t blocks, const gw_aes_neon_key *k)
{
	const uint8_t *in[4];
	uint8_t *out[4], chain[4][16];
	for (int i = 0; i < 4; i++) {
		in[i] = l[i].in;
		out[i] = l[i].out;
		vst1q_u8(chain[i], l[i].chain);
	}
	gw_aes_neon_cbc_encrypt4(out, in, blocks, k->enc, k->rounds, &gw_aes_neon_table_of[0], chain);
	for (int i = 0; i < 4; i++) {
		l[i].in = in[i];
		l[i].out = out[i];
		l[i].chain = vld1q_u8(chain[i]);
		l[i].blocks -= blocks;
	}
}

static void cbc_run1(cbc_lane *l, size_t blocks, const gw_aes_neon_key *k)
{
	const uint8x16_t last = vld1q_u8(k->enc[k->rounds]);
	uint8x16_t x = l->chain;
	aes_neon_tables t;
	aes_neon_load_tables(&t, false);
	l->blocks -= blocks;
	NEON_ROLLED for (; blocks > 0; blocks--, l->in += 16, l->out += 16)
	{
		x = veorq_u8(x, vld1q_u8(l->in));
		aes_neon_crypt(&x, 1, k->enc, k->rounds, &t, false);
		x = veorq_u8(x, last);
		vst1q_u8(l->out, x);
	}
	l->chain = x;
}

void gw_cbc_neon_run(cbc_lane *l, int lanes, size_t blocks, const gw_aes_neon_key *k)
{
	for (; lanes >= 4; lanes -= 4, l += 4) cbc_run4(l, blocks, k);
	for (; lanes > 0; lanes--, l++) cbc_run1(l, blocks, k);
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].flags & GW_OP_IV_NONCE) gw_aes_neon_encrypt_block(ops[i].key, ops[i].iv, ops[i].iv);
	while (n > 0) {
		const gw_aes_neon_key *k = ops->key;
		size_t same = cbc_same_key(ops, n);
		cbc_lane l[4];
		int busy = 0;
		n -= same;
		while ((busy = cbc_fill(l, busy, 4, &ops, &same)) > 0) {
			gw_cbc_neon_run(l, busy, cbc_least(l, busy), k);
			busy = cbc_drain(l, busy);
		}
	}
}

void gw_cbc_neon_decrypt_run(uint8_t *out, const uint8_t *in, size_t blocks, const gw_aes_neon_key *k, uint8_t *chain)
{
	const size_t groups = blocks / 4, left = blocks % 4;
	if (groups > 0) {
		gw_aes_neon_cbc_decrypt4(out, in, groups, k->dec, k->rounds, &gw_aes_neon_table_of[1], chain);
		in += 64 * groups, out += 64 * groups;
	}
	for (size_t i = 0; i < left; i++, in += 16, out += 16) {
		uint8_t cipher[16];
		memcpy(cipher, in, 16);
		gw_aes_neon_decrypt_block(k, in, out);
		gw_xor16(out, out, chain);
		memcpy(chain, cipher, 16);
	}
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t *out = ops->out, chain[16];
		memcpy(chain, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			gw_cbc_neon_decrypt_run(out, ops->in[s].data, ops->in[s].len / 16, ops->key, chain);
			out += ops->in[s].len;
		}
	}
}

/* ---- CTR ---- */

void gw_aes_neon_ctr_one(uint8_t *out, const uint8_t *in, size_t len, const gw_aes_neon_key *k, const uint64_t *counter)
{
	uint8_t block[16];
	gw_store_be64(block, counter[0]);
	gw_store_be64(block + 8, counter[1]);
	gw_aes_neon_encrypt_block(k, block, block);
	gw_xor_bytes(out, in, block, len);
}

void gw_ctr_neon_run(uint8_t *out, const uint8_t *in, size_t len, const gw_aes_neon_key *k, uint64_t *counter)
{
	while (len > 0) {
		const uint64_t before_wrap = 0 - counter[1]; /* 0: all 2^64 */
		size_t groups = len / 64, done;
		if (before_wrap != 0 && before_wrap / 4 < groups) groups = (size_t)(before_wrap / 4);
		if (groups > 0) {
			done = 64 * groups;
			gw_aes_neon_ctr4(out, in, groups, k->enc, k->rounds, &gw_aes_neon_table_of[0], counter);
			counter[0] += counter[1] == 0;
		} else {
			done = len < 16 ? len : 16;
			gw_aes_neon_ctr_one(out, in, done, k, counter);
			counter[0] += ++counter[1] == 0;
		}
		in += done, out += done, len -= done;
	}
}

static void ctr_crypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint64_t counter[2] = {gw_load_be64(ops->iv), gw_load_be64(ops->iv + 8)};
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			gw_ctr_neon_run(out, ops->in[s].data, ops->in[s].len, ops->key, counter);
			out += ops->in[s].len;
		}
	}
}

#define IMPL(mode, enc, dec)                                                                                           \
	const gw_impl gw_impl_##mode##_aes_neon = {                                                                        \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-neon/gwbench",                                                                           \
		.tag = "neon",                                                                                                 \
		.isa = "AArch64 NEON, TBL",                                                                                    \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 320,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON,                                                                                      \
		.key_ctx_bytes = sizeof(gw_aes_neon_key),                                                                      \
		.batch_hint = 4,                                                                                               \
		.setkey = gw_aes_neon_setkey,                                                                                  \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, ecb_encrypt, ecb_decrypt);
IMPL(cbc, cbc_encrypt, cbc_decrypt);
IMPL(ctr, ctr_crypt, ctr_crypt);

#endif
