/* SPDX-License-Identifier: MIT
 * XTS (IEEE 1619) by table look-up in registers, four blocks abreast, with ciphertext stealing.
 */
#if defined(__aarch64__)

#include "aes_neon.h"

static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gw_xts_neon_key *k = ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_neon_setkey(&k->data, key, len / 2);
	return gw_aes_neon_setkey(&k->tweak, key + len / 2, len / 2);
}

static void one_block(const gw_xts_neon_stream *x, uint8_t *out, const uint8_t *in, const uint8_t *tweak)
{
	uint8_t b[16];
	gw_xor16(b, in, tweak);
	if (x->decrypt)
		gw_aes_neon_decrypt_block(x->data, b, b);
	else
		gw_aes_neon_encrypt_block(x->data, b, b);
	gw_xor16(out, b, tweak);
}

bool gw_xts_neon_begin(gw_xts_neon_stream *x, const gw_op *op, const gw_aes_neon_key *tweak_key)
{
	const size_t len = gw_op_len(op);
	x->whole = len / 16;
	x->tail = len % 16;
	if (len < 16) return false;
	if (x->tail != 0) {
		x->whole--;
		gw_op_gather(op, 16 * x->whole, x->last, 16 + x->tail); /* before an in-place run could change it */
	}
	gw_aes_neon_encrypt_block(tweak_key, op->iv, x->tweak);
	return true;
}

void gw_xts_neon_run(gw_xts_neon_stream *x, uint8_t *out, const uint8_t *in, size_t blocks)
{
	const gw_aes_neon_key *k = x->data;
	if (blocks >= 4) {
		const size_t groups = blocks / 4;
		if (x->decrypt)
			gw_aes_neon_xts_decrypt4(out, in, groups, k->dec, k->rounds, &gw_aes_neon_table_of[1], x->tweak);
		else
			gw_aes_neon_xts_encrypt4(out, in, groups, k->enc, k->rounds, &gw_aes_neon_table_of[0], x->tweak);
		in += 64 * groups, out += 64 * groups, blocks %= 4;
	}
	for (; blocks > 0; blocks--, in += 16, out += 16) {
		one_block(x, out, in, x->tweak);
		gw_xts_next(x->tweak);
	}
}

/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
void gw_xts_neon_end(const gw_xts_neon_stream *x, uint8_t *out)
{
	uint8_t next[16], full[16], cut[16];
	if (x->tail == 0) return;
	memcpy(next, x->tweak, 16);
	gw_xts_next(next);
	one_block(x, full, x->last, x->decrypt ? next : x->tweak);
	memcpy(cut, full, 16);
	memcpy(cut, x->last + 16, x->tail);
	one_block(x, out, cut, x->decrypt ? x->tweak : next);
	memcpy(out + 16, full, x->tail);
}

static void xts(const gw_op *op, bool decrypt)
{
	const gw_xts_neon_key *k = op->key;
	gw_xts_neon_stream x = {.data = &k->data, .decrypt = decrypt};
	uint8_t *out = op->out;
	if (!gw_xts_neon_begin(&x, op, &k->tweak)) return;
	for (uint32_t s = 0; s < op->n_in && x.whole > 0; s++) {
		const size_t here = op->in[s].len / 16 < x.whole ? op->in[s].len / 16 : x.whole;
		gw_xts_neon_run(&x, out, op->in[s].data, here);
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
	.setkey = xts_setkey,
	.encrypt = xts_encrypt,
	.decrypt = xts_decrypt,
};

#endif
