/* SPDX-License-Identifier: MIT
 * XTS (IEEE 1619) by the Crypto Extensions of ARMv8 in 32-bit state.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../spans.h"
#include "aes_ce32.h"
#include "xts_tweak.h"

typedef struct xts_key {
	gw_aes_ce32_key data, tweak;
} xts_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = (xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_ce32_setkey(&k->data, key, len / 2);
	return gw_aes_ce32_setkey(&k->tweak, key + len / 2, len / 2);
}

/* Up to eight blocks; the tweak moves on. */
static uint8x16_t few(const gw_aes_ce32_key *k, bool decrypt, uint8_t *out, const uint8_t *in, size_t blocks,
					  uint8x16_t tweak)
{
	uint8_t t[8][16], b[8][16];
	for (size_t i = 0; i < blocks; i++) {
		vst1q_u8(t[i], tweak);
		vst1q_u8(b[i], veorq_u8(vld1q_u8(in + 16 * i), tweak));
		tweak = gw_xts_tweak_next(tweak);
	}
	if (decrypt)
		gw_aes_ce32_decrypt(k->dec, k->rounds, b[0], b[0], blocks);
	else
		gw_aes_ce32_encrypt(k->enc, k->rounds, b[0], b[0], blocks);
	for (size_t i = 0; i < blocks; i++) vst1q_u8(out + 16 * i, veorq_u8(vld1q_u8(b[i]), vld1q_u8(t[i])));
	return tweak;
}

static void xts(const gw_op *op, bool decrypt)
{
	const xts_key *k = (const xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16;
	uint8_t first[16], last[32], full[16], cut[16], *out = op->out;

	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	gw_aes_ce32_encrypt(k->tweak.enc, k->tweak.rounds, first, op->iv, 1);
	uint8x16_t tweak = vld1q_u8(first);
	for (uint32_t j = 0; j < op->n_in; j++) {
		const uint8_t *in = op->in[j].data;
		for (size_t left = op->in[j].len / 16; left > 0 && whole > 0;) {
			size_t m = left < 8 ? left : 8;
			if (m > whole) m = whole;
			tweak = few(&k->data, decrypt, out, in, m, tweak);
			in += 16 * m, out += 16 * m, left -= m, whole -= m;
		}
	}
	if (tail == 0) return;
	/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
	const uint8x16_t other = gw_xts_tweak_next(tweak);
	(void)few(&k->data, decrypt, full, last, 1, decrypt ? other : tweak);
	memcpy(cut, last + 16, tail);
	memcpy(cut + tail, full + tail, 16 - tail);
	(void)few(&k->data, decrypt, out, cut, 1, decrypt ? tweak : other);
	memcpy(out + 16, full, tail);
}

static void encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

static void decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

const gw_impl gw_impl_xts_aes_ce = {
	.alg = "xts(aes)",
	.driver = "xts-aes-ce/gwbench",
	.tag = "ce",
	.isa = "ARMv8 Crypto Extensions, 32-bit",
	.kind = GW_KIND_CIPHER,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_AES,
	.key_ctx_bytes = sizeof(xts_key),
	.batch_hint = 1,
	.setkey = setkey,
	.encrypt = encrypt,
	.decrypt = decrypt,
};

#include "neon_end.h"
#else
typedef int gw_xts_ce32_not_here;
#endif
