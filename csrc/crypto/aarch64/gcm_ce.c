/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) by the Crypto Extensions: eight counter blocks and eight blocks of GHASH in one loop, so that the
 * AES and the PMULL pipes both have work. Sealing hashes the group before, opening the group at hand.
 */
#if defined(__aarch64__)

#include "ghash_ce.h"

typedef struct gcm_key {
	gw_aes_ce_key aes;
	gw_ghash_ce_key ghash;
} gcm_key;

/* ---- keys ---- */

CE static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = ctx;
	uint8_t h[16] = {0};
	if (gw_aes_ce_setkey(&k->aes, key, len) != 0) return -EINVAL;
	gw_aes_ce_encrypt_block(&k->aes, h, h);
	/* times x: a shift of the reflected number, and the polynomial when a bit leaves */
	const uint64_t first = gw_load_be64(h), second = gw_load_be64(h + 8), carry = 0 - (first >> 63);
	uint64_t *power = k->ghash.power[GHASH_CE_POWERS - 1];
	power[0] = (first << 1 | second >> 63) ^ (carry & 0xc200000000000000);
	power[1] = second << 1 ^ (carry & 1);
	k->ghash.mid[GHASH_CE_POWERS - 1] = power[0] ^ power[1];
	for (int i = GHASH_CE_POWERS - 2; i >= 0; i--) {
		ghash_sum s = ghash_zero();
		ghash_add1(&s, vld1q_u64(k->ghash.power[i + 1]), &k->ghash, GHASH_CE_POWERS - 1);
		vst1q_u64(k->ghash.power[i], ghash_reduce(s));
		k->ghash.mid[i] = k->ghash.power[i][0] ^ k->ghash.power[i][1];
	}
	gw_wipe(h, sizeof h);
	return 0;
}

/* ---- GHASH of anything ---- */

CE_OUTLINE uint64x2_t ghash(uint64x2_t y, const uint8_t *data, size_t len, const gw_ghash_ce_key *k)
{
	CE_ROLLED while (len >= 16)
	{
		const size_t blocks = len / 16 < GHASH_CE_POWERS ? len / 16 : GHASH_CE_POWERS;
		y = ghash_few(y, data, (int)blocks, k);
		data += 16 * blocks, len -= 16 * blocks;
	}
	if (len > 0) {
		uint8_t last[16] = {0};
		memcpy(last, data, len);
		y = ghash_few(y, last, 1, k);
	}
	return y;
}

CE_INLINE uint64x2_t ghash_lengths(uint64x2_t y, uint64_t a_bytes, uint64_t c_bytes, const gw_ghash_ce_key *k)
{
	const uint64x2_t bits = vcombine_u64(vcreate_u64(a_bytes * 8), vcreate_u64(c_bytes * 8));
	ghash_sum s = ghash_zero();
	ghash_add1(&s, veorq_u64(y, bits), k, GHASH_CE_POWERS - 1);
	return ghash_reduce(s);
}

/* ---- counter and hash together ---- */

/* One packet in progress; ctr has native words. */
typedef struct stream {
	const gcm_key *k;
	uint32x4_t ctr;
	uint64x2_t y;
} stream;

CE_INLINE void counters(uint8x16_t *b, int blocks, uint32x4_t *ctr)
{
	const uint32x4_t one = {0, 0, 0, 1};
	CE_UNROLL for (int i = 0; i < blocks; i++)
	{
		b[i] = vrev32q_u8(vreinterpretq_u8_u32(*ctr));
		*ctr = vaddq_u32(*ctr, one);
	}
}

/* Eight blocks, while eight others (at hash, if hashing) enter y. */
CE_INLINE void eight(stream *s, const uint8_t *in, uint8_t *out, bool hashing, const uint8_t *hash)
{
	const gw_aes_ce_key *k = &s->k->aes;
	ghash_sum sum = ghash_zero();
	uint8x16_t b[8];
	counters(b, 8, &s->ctr);
	const uint8_t(*rk)[16] = k->enc + (k->rounds - 10); /* the last ten rounds; longer keys have some in front */
	const ce_keys front = {.first = k->enc, .extra = k->rounds - 10};
	ce_extra(b, 8, &front, 0, false);
	CE_UNROLL for (int r = 0; r < 10; r++)
	{
		const uint8x16_t key = vld1q_u8(rk[r]);
		CE_UNROLL for (int i = 0; i < 8; i++) b[i] = r < 9 ? vaesmcq_u8(vaeseq_u8(b[i], key)) : vaeseq_u8(b[i], key);
		if (hashing && r % 2 == 0 && r < 8) {
			uint64x2_t c0 = ghash_block(vld1q_u8(hash + 16 * r)), c1 = ghash_block(vld1q_u8(hash + 16 * r + 16));
			if (r == 0) c0 = veorq_u64(c0, s->y);
			ghash_add2(&sum, c0, c1, &s->k->ghash, r);
		}
	}
	if (hashing) s->y = ghash_reduce(sum);
	const uint8x16_t last = vld1q_u8(rk[10]);
	CE_UNROLL for (int i = 0; i < 8; i++) b[i] = veorq_u8(b[i], veorq_u8(last, vld1q_u8(in + 16 * i)));
	ce_store(b, 8, out);
}

/* Up to 128 bytes: counter blocks by four or, for a last one, alone; the hash behind (sealing) or before (opening). */
CE_OUTLINE void few(stream *s, const uint8_t *in, uint8_t *out, size_t len, bool seal)
{
	const gw_aes_ce_key *k = &s->k->aes;
	const ce_keys keys = ce_load_keys(k->enc, k->rounds);
	const uint8_t *hash = seal ? out : in;
	const size_t all = len;
	if (!seal) s->y = ghash(s->y, hash, all, &s->k->ghash);
	CE_ROLLED while (len > 0)
	{
		uint8_t pad[64];
		uint8x16_t b[4];
		const size_t n = len < 64 ? len : 64;
		const uint8_t *from = n == 64 ? in : memcpy(pad, in, n);
		uint8_t *to = n == 64 ? out : pad;
		if (n > 16) {
			counters(b, 4, &s->ctr);
			ce_encrypt(b, 4, &keys);
			CE_UNROLL for (int i = 0; i < 4; i++)
				vst1q_u8(to + 16 * i, veorq_u8(b[i], veorq_u8(keys.rk[10], vld1q_u8(from + 16 * i))));
		} else {
			counters(b, 1, &s->ctr);
			ce_encrypt(b, 1, &keys);
			vst1q_u8(to, veorq_u8(b[0], veorq_u8(keys.rk[10], vld1q_u8(from))));
		}
		if (n < 64) memcpy(out, pad, n);
		in += n, out += n, len -= n;
	}
	if (seal) s->y = ghash(s->y, hash, all, &s->k->ghash);
}

CE_INLINE void run(stream *s, const gw_op *op, bool seal)
{
	uint8_t *out = op->out;
	for (uint32_t i = 0; i < op->n_in; i++) {
		const uint8_t *in = op->in[i].data;
		size_t len = op->in[i].len;
		if (len >= 128) {
			if (seal) {
				eight(s, in, out, false, NULL);
				in += 128, out += 128, len -= 128;
			}
			CE_ROLLED for (; len >= 128; in += 128, out += 128, len -= 128)
				eight(s, in, out, true, seal ? out - 128 : in);
			if (seal) s->y = ghash_few(s->y, out - 128, 8, &s->k->ghash);
		}
		if (len > 0) few(s, in, out, len, seal);
		out += len;
	}
}

/* Counter and hash as the text finds them; mask: what the tag is encrypted with. */
CE_OUTLINE void begin(stream *s, const gw_op *op, uint8_t mask[16])
{
	const gcm_key *k = op->key;
	const uint32x4_t one = {0, 0, 0, 1};
	uint8x16_t j0;
	*s = (stream){.k = k, .y = vdupq_n_u64(0)};
	if (op->iv_len == 12) {
		uint8_t block[16] = {[15] = 1};
		memcpy(block, op->iv, 12);
		j0 = vld1q_u8(block);
	} else {
		const uint64x2_t y = ghash(s->y, op->iv, op->iv_len, &k->ghash);
		j0 = vrev64q_u8(vreinterpretq_u8_u64(ghash_lengths(y, 0, op->iv_len, &k->ghash)));
	}
	vst1q_u8(mask, j0);
	gw_aes_ce_encrypt_block(&k->aes, mask, mask);
	s->ctr = vaddq_u32(vreinterpretq_u32_u8(vrev32q_u8(j0)), one);
	s->y = ghash(s->y, op->aad, op->aad_len, &k->ghash);
}

CE_OUTLINE void full_tag(const stream *s, const gw_op *op, const uint8_t mask[16], uint8_t tag[16])
{
	const uint64x2_t y = ghash_lengths(s->y, op->aad_len, gw_op_len(op), &s->k->ghash);
	vst1q_u8(tag, veorq_u8(vrev64q_u8(vreinterpretq_u8_u64(y)), vld1q_u8(mask)));
}

CE static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t mask[16], tag[16];
		stream s;
		begin(&s, ops, mask);
		run(&s, ops, true);
		full_tag(&s, ops, mask, tag);
		memcpy(ops->tag, tag, ops->tag_len);
		ops->status = 0;
	}
}

CE static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t mask[16], tag[16];
		const size_t len = gw_op_len(ops);
		stream s;
		begin(&s, ops, mask);
		run(&s, ops, false);
		full_tag(&s, ops, mask, tag);
		ops->status = gw_equal_ct(tag, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status != 0) gw_wipe(ops->out, len); /* it was decrypted while it was being hashed */
	}
}

const gw_impl gw_impl_gcm_aes_ce = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-ce/gwbench",
	.tag = "ce",
	.isa = "AArch64 Crypto Extensions",
	.kind = GW_KIND_AEAD,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES | GW_CPU_ARM_PMULL,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = gcm_setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#endif
