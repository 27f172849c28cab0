/* SPDX-License-Identifier: MIT
 * XTS (IEEE 1619) by table look-up in registers, four blocks abreast, with ciphertext stealing.
 */
#if defined(__aarch64__)

#include "aes_neon.h"

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_xts_neon_key *k = ctx;
	if (len != 32 && len != 64) return -EINVAL; /* IEEE 1619 knows no AES-192 */
	(void)gw_aes_neon_setkey(&k->data, key, len / 2);
	return gw_aes_neon_setkey(&k->tweak, key + len / 2, len / 2);
}

static void one_block(uint8_t *out, const uint8_t *in, const uint8_t *tweak, const gw_aes_neon_key *k, bool decrypt)
{
	const uint8_t(*rk)[16] = decrypt ? k->dec : k->enc;
	const uint8x16_t t = vld1q_u8(tweak);
	uint8x16_t b = veorq_u8(vld1q_u8(in), t);
	aes_neon_tables tables;
	aes_neon_load_tables(&tables, decrypt);
	if (decrypt)
		aes_neon_crypt(&b, 1, rk, k->rounds, &tables, true);
	else
		aes_neon_crypt(&b, 1, rk, k->rounds, &tables, false);
	vst1q_u8(out, veorq_u8(veorq_u8(b, vld1q_u8(rk[k->rounds])), t));
}

static void xts(const gw_op *op, bool decrypt)
{
	const gw_xts_neon_key *k = op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16; /* blocks that come before ciphertext stealing */
	uint8_t tweak[16], last[32], *out = op->out;
	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	gw_aes_neon_encrypt_block(&k->tweak, op->iv, tweak);
	for (uint32_t s = 0; s < op->n_in && whole > 0; s++) {
		size_t here = op->in[s].len / 16 < whole ? op->in[s].len / 16 : whole;
		const uint8_t *in = op->in[s].data;
		whole -= here;
		if (here >= 4) {
			const size_t bytes = here / 4 * 64;
			if (decrypt)
				gw_aes_neon_xts_decrypt4(out, in, here / 4, k->data.dec, k->data.rounds, &gw_aes_neon_table_of[1],
										 tweak);
			else
				gw_aes_neon_xts_encrypt4(out, in, here / 4, k->data.enc, k->data.rounds, &gw_aes_neon_table_of[0],
										 tweak);
			in += bytes, out += bytes, here %= 4;
		}
		for (; here > 0; here--, in += 16, out += 16) {
			one_block(out, in, tweak, &k->data, decrypt);
			gw_xts_next(tweak);
		}
	}
	if (tail == 0) return;

	/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
	uint8_t other[16], full[16], cut[16];
	memcpy(other, tweak, 16);
	gw_xts_next(other);
	one_block(full, last, decrypt ? other : tweak, &k->data, decrypt);
	memcpy(cut, full, 16);
	memcpy(cut, last + 16, tail);
	one_block(out, cut, decrypt ? tweak : other, &k->data, decrypt);
	memcpy(out + 16, full, tail);
}

static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

const gw_impl gw_impl_xts_aes_neon = {
	.alg = "xts(aes)",
	.driver = "xts-aes-neon/gwbench",
	.tag = "neon",
	.isa = "AArch64 NEON, TBL",
	.kind = GW_KIND_CIPHER,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_xts_neon_key),
	.batch_hint = 4,
	.setkey = setkey,
	.encrypt = xts_encrypt,
	.decrypt = xts_decrypt,
};

#endif
