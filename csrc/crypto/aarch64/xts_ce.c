/* SPDX-License-Identifier: MIT
 * XTS (IEEE 1619) by the Crypto Extensions, eight blocks abreast, with ciphertext stealing.
 */
#if defined(__aarch64__)

#include "aes_ce.h"

CE static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_xts_ce_key *k = ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_ce_setkey(&k->data, key, len / 2);
	return gw_aes_ce_setkey(&k->tweak, key + len / 2, len / 2);
}

/* The tweak times x. */
CE_INLINE uint8x16_t times_x(uint8x16_t t)
{
	const int64x2_t reduce = {0x87, 1};
	const int64x2_t top = vshrq_n_s64(vreinterpretq_s64_u8(t), 63);
	const int64x2_t carry = vandq_s64(vextq_s64(top, top, 1), reduce);
	const int64x2_t twice = vshlq_n_s64(vreinterpretq_s64_u8(t), 1);
	return vreinterpretq_u8_s64(veorq_s64(twice, carry));
}

/* Times x^8, one byte further: the byte r that leaves at the top stands at the bottom after the rotation, and
 * r * 0x86 added to it is r * 0x87. */
CE_INLINE uint8x16_t times_x8(uint8x16_t t)
{
	const poly8x8_t reduce = vcreate_p8(0x86);
	const uint8x16_t rotated = vextq_u8(t, t, 15);
	const poly16x8_t product = vmull_p8(vreinterpret_p8_u8(vget_low_u8(rotated)), reduce);
	return veorq_u8(rotated, vreinterpretq_u8_p16(product));
}

CE_INLINE void xts_step(const uint8_t *in, uint8_t *out, const uint8x16_t *tweak, const ce_keys *k, int blocks,
						bool decrypt)
{
	uint8x16_t b[8];
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = veorq_u8(vld1q_u8(in + 16 * i), tweak[i]);
	if (decrypt)
		ce_decrypt(b, blocks, k);
	else
		ce_encrypt(b, blocks, k);
	CE_UNROLL for (int i = 0; i < blocks; i++) b[i] = veorq_u8(veorq_u8(b[i], k->rk[10]), tweak[i]);
	ce_store(b, blocks, out);
}

/* Whole blocks of one span; returns the tweak of the next block. */
CE_INLINE uint8x16_t xts_run(const uint8_t *in, uint8_t *out, size_t blocks, uint8x16_t tweak, const ce_keys *k,
							 bool decrypt)
{
	if (blocks >= 8) {
		uint8x16_t t[8] = {tweak};
		CE_UNROLL for (int i = 1; i < 8; i++) t[i] = times_x(t[i - 1]);
		CE_ROLLED for (; blocks >= 8; blocks -= 8, in += 128, out += 128)
		{
			xts_step(in, out, t, k, 8, decrypt);
			CE_UNROLL for (int i = 0; i < 8; i++) t[i] = times_x8(t[i]);
		}
		tweak = t[0];
	}
	CE_ROLLED for (; blocks > 0; blocks--, in += 16, out += 16)
	{
		xts_step(in, out, &tweak, k, 1, decrypt);
		tweak = times_x(tweak);
	}
	return tweak;
}

CE_INLINE void xts_op(const gw_op *op, bool decrypt)
{
	const gw_xts_ce_key *k = op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16; /* blocks that come before ciphertext stealing */
	uint8_t last[32], first_tweak[16], *out = op->out;
	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	gw_aes_ce_encrypt_block(&k->tweak, op->iv, first_tweak);
	uint8x16_t tweak = vld1q_u8(first_tweak);
	const ce_keys keys = ce_load_keys(decrypt ? k->data.dec : k->data.enc, k->data.rounds);
	for (uint32_t s = 0; s < op->n_in && whole > 0; s++) {
		const size_t here = op->in[s].len / 16 < whole ? op->in[s].len / 16 : whole;
		tweak = xts_run(op->in[s].data, out, here, tweak, &keys, decrypt);
		out += 16 * here, whole -= here;
	}
	if (tail == 0) return;

	/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
	const uint8x16_t next = times_x(tweak);
	const uint8x16_t first = decrypt ? next : tweak, second = decrypt ? tweak : next;
	uint8_t full[16], cut[16];
	xts_step(last, full, &first, &keys, 1, decrypt);
	memcpy(cut, full, 16);
	memcpy(cut, last + 16, tail);
	xts_step(cut, out, &second, &keys, 1, decrypt);
	memcpy(out + 16, full, tail);
}

CE static void xts_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) xts_op(ops, false);
}

CE static void xts_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) xts_op(ops, true);
}

const gw_impl gw_impl_xts_aes_ce = {
	.alg = "xts(aes)",
	.driver = "xts-aes-ce/gwbench",
	.tag = "ce",
	.isa = "AArch64 Crypto Extensions",
	.kind = GW_KIND_CIPHER,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES,
	.key_ctx_bytes = sizeof(gw_xts_ce_key),
	.batch_hint = 8,
	.setkey = xts_setkey,
	.encrypt = xts_encrypt,
	.decrypt = xts_decrypt,
};

#endif
