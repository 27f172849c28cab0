/* SPDX-License-Identifier: MIT
 * ECB, CBC decryption, CTR, XTS with VAES on 512-bit registers: sixteen blocks abreast, the last ones by byte masks.
 * CBC encryption is in cbc_vaes.c, GCM in gcm_vaes.c.
 */
#if defined(__x86_64__)
#include "aes_vaes.h"

GW_TARGET_VAES static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len & ~(size_t)15;
			for (; left >= 256; left -= 256, in += 256, out += 256)
				gw_store256bytes(out, gw_vaes_encrypt4(k->enc, k->rounds, gw_load256bytes(in)));
			if (left == 0) continue;
			const gw_masks m = gw_masks_of(left);
			gw_store_masked(out, m, gw_vaes_encrypt4(k->enc, k->rounds, gw_load_masked(in, m)));
			out += left;
		}
	}
}

GW_TARGET_VAES static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len & ~(size_t)15;
			for (; left >= 256; left -= 256, in += 256, out += 256)
				gw_store256bytes(out, gw_vaes_decrypt4(k->dec, k->rounds, gw_load256bytes(in)));
			if (left == 0) continue;
			const gw_masks m = gw_masks_of(left);
			gw_store_masked(out, m, gw_vaes_decrypt4(k->dec, k->rounds, gw_load_masked(in, m)));
			out += left;
		}
	}
}

/* The ciphertext one block earlier: last block of `before`, first three of `v`. */
GW_INLINE GW_TARGET_VAES __m512i shifted(__m512i before, __m512i v)
{
	return _mm512_alignr_epi64(v, before, 6);
}

GW_INLINE GW_TARGET_VAES gw_four chain_of(__m512i before, gw_four c)
{
	return (gw_four){shifted(before, c.a), shifted(c.a, c.b), shifted(c.b, c.c), shifted(c.c, c.d)};
}

GW_TARGET_VAES static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		__m512i before = _mm512_broadcast_i32x4(gw_load128(ops->iv)); /* only its last block counts */
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len & ~(size_t)15;
			for (; left >= 256; left -= 256, in += 256, out += 256) {
				const gw_four c = gw_load256bytes(in);
				gw_store256bytes(out, gw_xor_four(gw_vaes_decrypt4(k->dec, k->rounds, c), chain_of(before, c)));
				before = c.d;
			}
			if (left == 0) continue;
			const gw_masks m = gw_masks_of(left);
			const gw_four c = gw_load_masked(in, m);
			const __m512i last = _mm512_broadcast_i32x4(gw_load128(in + left - 16));
			gw_store_masked(out, m, gw_xor_four(gw_vaes_decrypt4(k->dec, k->rounds, c), chain_of(before, c)));
			before = last;
			out += left;
		}
	}
}

/* Four counters a register, little-endian halves swapped back before use. A carry out of the low half is rare: the
 * run that has one builds its counters one by one. */
GW_INLINE GW_TARGET_VAES gw_four counters(uint64_t hi, uint64_t lo)
{
	const __m512i swap = _mm512_broadcast_i32x4(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)); /* whole block reversed */
	__m512i v[4];
	if (lo <= UINT64_MAX - 16) {
		const __m512i base = _mm512_broadcast_i32x4(_mm_set_epi64x((long long)hi, (long long)lo));
		const __m512i step = _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0), four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
		v[0] = _mm512_add_epi64(base, step);
		v[1] = _mm512_add_epi64(v[0], four);
		v[2] = _mm512_add_epi64(v[1], four);
		v[3] = _mm512_add_epi64(v[2], four);
	} else {
		uint64_t words[32];
		for (uint64_t i = 0; i < 16; i++) {
			words[2 * i] = lo + i;
			words[2 * i + 1] = hi + (lo + i < lo);
		}
		for (int i = 0; i < 4; i++) v[i] = gw_load512(words + 8 * i);
	}
	return (gw_four){_mm512_shuffle_epi8(v[0], swap), _mm512_shuffle_epi8(v[1], swap), _mm512_shuffle_epi8(v[2], swap),
					 _mm512_shuffle_epi8(v[3], swap)};
}

GW_TARGET_VAES static void ctr(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		uint64_t hi = gw_load_be64(ops->iv), lo = gw_load_be64(ops->iv + 8);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			for (size_t left = ops->in[s].len; left > 0;) {
				const gw_four stream = gw_vaes_encrypt4(k->enc, k->rounds, counters(hi, lo));
				const size_t used = left < 256 ? left : 256;
				if (used == 256) {
					gw_store256bytes(out, gw_xor_four(stream, gw_load256bytes(in)));
				} else {
					const gw_masks m = gw_masks_of(used);
					gw_store_masked(out, m, gw_xor_four(stream, gw_load_masked(in, m)));
				}
				const uint64_t blocks = (used + 15) / 16;
				lo += blocks;
				hi += lo < blocks;
				in += used, out += used, left -= used;
			}
		}
	}
}

/* Every tweak times x^16: two bytes up, and the two that fall out times 0x87 come back (IEEE 1619 5.2). */
GW_INLINE GW_TARGET_VAES __m512i tweaks_by_x16(__m512i t)
{
	const __m512i fallen =
		_mm512_clmulepi64_epi128(_mm512_bsrli_epi128(t, 14), _mm512_broadcast_i32x4(_mm_set_epi64x(0, 0x87)), 0x00);
	return _mm512_xor_si512(_mm512_bslli_epi128(t, 2), fallen);
}

GW_INLINE GW_TARGET_VAES gw_four first_tweaks(__m128i t)
{
	__m128i v[16];
	for (int i = 0; i < 16; i++, t = gw_xts_next128(t)) v[i] = t;
	return (gw_four){gw_load512(v), gw_load512(v + 4), gw_load512(v + 8), gw_load512(v + 12)};
}

GW_INLINE GW_TARGET_VAES void xts(const gw_op *op, bool decrypt)
{
	const gw_aes_x86_xts_key *k = (const gw_aes_x86_xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16;
	uint8_t *out = op->out, last[32], tweak[256] __attribute__((aligned(64)));

	if (len < 16) return;
	if (tail != 0) gw_op_gather(op, 16 * --whole, last, 16 + tail);
	gw_four t = first_tweaks(gw_aesni_encrypt1(k->tweak.enc, k->tweak.rounds, gw_load128(op->iv)));
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len / 16 < whole ? op->in[s].len / 16 : whole;
		whole -= left;
		for (; left >= 16; left -= 16, in += 256, out += 256) {
			gw_four v = gw_xor_four(gw_load256bytes(in), t);
			v = decrypt ? gw_vaes_decrypt4(k->data.dec, k->data.rounds, v)
						: gw_vaes_encrypt4(k->data.enc, k->data.rounds, v);
			gw_store256bytes(out, gw_xor_four(v, t));
			t = (gw_four){tweaks_by_x16(t.a), tweaks_by_x16(t.b), tweaks_by_x16(t.c), tweaks_by_x16(t.d)};
		}
		if (left == 0) continue;
		const gw_masks m = gw_masks_of(16 * left);
		gw_four v = gw_xor_four(gw_load_masked(in, m), t);
		v = decrypt ? gw_vaes_decrypt4(k->data.dec, k->data.rounds, v)
					: gw_vaes_encrypt4(k->data.enc, k->data.rounds, v);
		gw_store_masked(out, m, gw_xor_four(v, t));
		out += 16 * left;
		if (whole == 0 && tail == 0) return;
		gw_store256bytes(tweak, t);
		t = first_tweaks(gw_load128(tweak + 16 * left));
	}
	if (tail == 0) return;
	gw_store512(tweak, t.a);
	gw_aes_x86_xts_tail(&k->data, decrypt, tweak, last, tail, out);
}

GW_TARGET_VAES static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

GW_TARGET_VAES static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

#define IMPL(mode, type, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_vaes = {                                                                        \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-vaes/gwbench",                                                                           \
		.tag = "vaes",                                                                                                 \
		.isa = "x86-64 VAES, AVX-512",                                                                                 \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 400,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_NEEDS_VAES | GW_CPU_PCLMUL | GW_CPU_VPCLMUL,                                                   \
		.key_ctx_bytes = sizeof(type),                                                                                 \
		.batch_hint = 16,                                                                                              \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

void gw_cbc_encrypt_vaes(gw_op *ops, size_t n); /* cbc_vaes.c */

IMPL(ecb, gw_aes_x86_key, gw_aes_x86_setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, gw_aes_x86_key, gw_aes_x86_setkey, gw_cbc_encrypt_vaes, cbc_decrypt);
IMPL(ctr, gw_aes_x86_key, gw_aes_x86_setkey, ctr, ctr);
IMPL(xts, gw_aes_x86_xts_key, gw_aes_x86_xts_setkey, xts_encrypt, xts_decrypt);
#endif
