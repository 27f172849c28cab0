/* SPDX-License-Identifier: MIT
 * ECB, CBC (both directions), CTR and XTS over bit-sliced AES. CBC encryption takes eight packets at once. What does
 * not fill eight blocks goes by TBL.
 */
#if defined(__aarch64__)

#include "aes_neonbs.h"
#include "cbc_lanes.h"

#define GROUP 128 /* bytes of eight blocks */

typedef struct xts_key {
	gw_aes_neonbs_key data;
	gw_aes_neon_key tweak;
} xts_key;

static void tbl_block(uint8_t *out, const uint8_t *in, const gw_aes_neon_key *k, bool decrypt)
{
	if (decrypt)
		gw_aes_neon_decrypt_block(k, in, out);
	else
		gw_aes_neon_encrypt_block(k, in, out);
}

/* ---- ECB ---- */

static void ecb(gw_op *ops, size_t n, bool decrypt)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_neonbs_key *k = ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len;
			for (; left >= GROUP; left -= GROUP, in += GROUP, out += GROUP)
				(decrypt ? gw_aes_neonbs_decrypt8 : gw_aes_neonbs_encrypt8)(out, in, k);
			if (left >= 64) {
				(decrypt ? gw_aes_neon_ecb_decrypt4 : gw_aes_neon_ecb_encrypt4)(
					out, in, 1, decrypt ? k->tbl.dec : k->tbl.enc, k->tbl.rounds, &gw_aes_neon_table_of[decrypt]);
				left -= 64, in += 64, out += 64;
			}
			for (; left >= 16; left -= 16, in += 16, out += 16) tbl_block(out, in, &k->tbl, decrypt);
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

static void cbc_run8(cbc_lane *l, size_t blocks, const gw_aes_neonbs_key *k)
{
	uint8_t x[8][16];
	for (int i = 0; i < 8; i++) vst1q_u8(x[i], l[i].chain);
	for (size_t at = 0; at < 16 * blocks; at += 16) {
		NEON_UNROLL for (int i = 0; i < 8; i++) vst1q_u8(x[i], veorq_u8(vld1q_u8(x[i]), vld1q_u8(l[i].in + at)));
		gw_aes_neonbs_encrypt8(x[0], x[0], k);
		NEON_UNROLL for (int i = 0; i < 8; i++) vst1q_u8(l[i].out + at, vld1q_u8(x[i]));
	}
	for (int i = 0; i < 8; i++) {
		l[i].chain = vld1q_u8(x[i]);
		l[i].in += 16 * blocks;
		l[i].out += 16 * blocks;
		l[i].blocks -= blocks;
	}
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ops[i].flags & GW_OP_IV_NONCE)
			gw_aes_neon_encrypt_block(&((const gw_aes_neonbs_key *)ops[i].key)->tbl, ops[i].iv, ops[i].iv);
	while (n > 0) {
		const gw_aes_neonbs_key *k = ops->key;
		size_t same = cbc_same_key(ops, n);
		cbc_lane l[8];
		int busy = 0;
		n -= same;
		while ((busy = cbc_fill(l, busy, 8, &ops, &same)) > 0) {
			const size_t least = cbc_least(l, busy);
			if (busy == 8)
				cbc_run8(l, least, k);
			else
				gw_cbc_neon_run(l, busy, least, &k->tbl);
			busy = cbc_drain(l, busy);
		}
	}
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_neonbs_key *k = ops->key;
		uint8_t *out = ops->out, chain[16], plain[GROUP];
		memcpy(chain, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len;
			for (; left >= GROUP; left -= GROUP, in += GROUP, out += GROUP) {
				uint8x16_t b[8];
				gw_aes_neonbs_decrypt8(plain, in, k);
				b[0] = veorq_u8(vld1q_u8(plain), vld1q_u8(chain));
				NEON_UNROLL for (int i = 1; i < 8; i++) b[i] =
					veorq_u8(vld1q_u8(plain + 16 * i), vld1q_u8(in + 16 * i - 16));
				memcpy(chain, in + GROUP - 16, 16);
				neon_store(b, 8, out);
			}
			gw_cbc_neon_decrypt_run(out, in, left / 16, &k->tbl, chain);
			out += left;
		}
	}
}

/* ---- CTR ---- */

static void ctr_crypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_neonbs_key *k = ops->key;
		uint64_t counter[2] = {gw_load_be64(ops->iv), gw_load_be64(ops->iv + 8)};
		uint8_t *out = ops->out, stream[GROUP];
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len;
			for (; left >= GROUP; left -= GROUP, in += GROUP, out += GROUP) {
				uint8x16_t b[8];
				NEON_UNROLL for (int i = 0; i < 8; i++)
				{
					gw_store_be64(stream + 16 * i, counter[0]);
					gw_store_be64(stream + 16 * i + 8, counter[1]);
					counter[0] += ++counter[1] == 0;
				}
				gw_aes_neonbs_encrypt8(stream, stream, k);
				NEON_UNROLL for (int i = 0; i < 8; i++) b[i] =
					veorq_u8(vld1q_u8(stream + 16 * i), vld1q_u8(in + 16 * i));
				neon_store(b, 8, out);
			}
			gw_ctr_neon_run(out, in, left, &k->tbl, counter);
			out += left;
		}
	}
}

/* ---- XTS ---- */

static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_neonbs_setkey(&k->data, key, len / 2);
	return gw_aes_neon_setkey(&k->tweak, key + len / 2, len / 2);
}

/* Whole blocks by groups of eight; tweak is kept up to date. Returns how many were done. */
static size_t xts_groups(uint8_t *out, const uint8_t *in, size_t blocks, const gw_aes_neonbs_key *k, uint8_t *tweak,
						 bool decrypt)
{
	uint8_t t[8][16], text[GROUP];
	const size_t done = blocks & ~(size_t)7;
	if (done == 0) return 0;
	memcpy(t[0], tweak, 16);
	for (int i = 1; i < 8; i++) {
		memcpy(t[i], t[i - 1], 16);
		gw_xts_next(t[i]);
	}
	for (size_t left = done; left > 0; left -= 8, in += GROUP, out += GROUP) {
		NEON_UNROLL for (int i = 0; i < 8; i++)
			vst1q_u8(text + 16 * i, veorq_u8(vld1q_u8(in + 16 * i), vld1q_u8(t[i])));
		(decrypt ? gw_aes_neonbs_decrypt8 : gw_aes_neonbs_encrypt8)(text, text, k);
		NEON_UNROLL for (int i = 0; i < 8; i++)
		{
			const uint8x16_t ti = vld1q_u8(t[i]);
			vst1q_u8(out + 16 * i, veorq_u8(vld1q_u8(text + 16 * i), ti));
			vst1q_u8(t[i], neon_times_x8(ti));
		}
	}
	memcpy(tweak, t[0], 16);
	return done;
}

static void xts(const gw_op *op, bool decrypt)
{
	const xts_key *k = op->key;
	gw_xts_neon_stream x = {.data = &k->data.tbl, .decrypt = decrypt};
	uint8_t *out = op->out;
	if (!gw_xts_neon_begin(&x, op, &k->tweak)) return;
	for (uint32_t s = 0; s < op->n_in && x.whole > 0; s++) {
		const size_t here = op->in[s].len / 16 < x.whole ? op->in[s].len / 16 : x.whole;
		const size_t done = xts_groups(out, op->in[s].data, here, &k->data, x.tweak, decrypt);
		gw_xts_neon_run(&x, out + 16 * done, op->in[s].data + 16 * done, here - done);
		x.whole -= here;
		out += 16 * here;
	}
	gw_xts_neon_end(&x, out);
}

static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

#define IMPL(mode, size, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_neonbs = {                                                                      \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-neonbs/gwbench",                                                                         \
		.tag = "neonbs",                                                                                               \
		.isa = "AArch64 NEON, bit-sliced",                                                                             \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 310,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON,                                                                                      \
		.key_ctx_bytes = size,                                                                                         \
		.batch_hint = 8,                                                                                               \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, sizeof(gw_aes_neonbs_key), gw_aes_neonbs_setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, sizeof(gw_aes_neonbs_key), gw_aes_neonbs_setkey, cbc_encrypt, cbc_decrypt);
IMPL(ctr, sizeof(gw_aes_neonbs_key), gw_aes_neonbs_setkey, ctr_crypt, ctr_crypt);
IMPL(xts, sizeof(xts_key), xts_setkey, xts_encrypt, xts_decrypt);

#endif
