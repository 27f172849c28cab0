/* SPDX-License-Identifier: MIT
 * ECB, CBC decryption, CTR, XTS with AES-NI: eight blocks abreast, since AESENC's latency is several cycles and its
 * throughput one or two a cycle. CBC encryption is in cbc_aesni.c.
 */
#if defined(__x86_64__)
#include "../block.h"
#include "aes_x86.h"

#define EACH8(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

typedef struct eight {
	__m128i b0, b1, b2, b3, b4, b5, b6, b7;
} eight;

GW_INLINE GW_TARGET_AESNI eight load8(const uint8_t *p)
{
	eight v;
#define F(i) v.b##i = gw_load128(p + 16 * (i));
	EACH8(F)
#undef F
	return v;
}

GW_INLINE GW_TARGET_AESNI void store8(uint8_t *p, eight v)
{
#define F(i) gw_store128(p + 16 * (i), v.b##i);
	EACH8(F)
#undef F
}

GW_INLINE GW_TARGET_AESNI eight xor8(eight v, eight w)
{
#define F(i) v.b##i = _mm_xor_si128(v.b##i, w.b##i);
	EACH8(F)
#undef F
	return v;
}

GW_INLINE GW_TARGET_AESNI eight encrypt8(const gw_aes_x86_key *k, eight v)
{
	__m128i key = gw_key128(k->enc[0]);
#define F(i) v.b##i = _mm_xor_si128(v.b##i, key);
	EACH8(F)
#undef F
	for (uint32_t r = 1; r < k->rounds; r++) {
		key = gw_key128(k->enc[r]);
#define F(i) v.b##i = _mm_aesenc_si128(v.b##i, key);
		EACH8(F)
#undef F
	}
	key = gw_key128(k->enc[k->rounds]);
#define F(i) v.b##i = _mm_aesenclast_si128(v.b##i, key);
	EACH8(F)
#undef F
	return v;
}

GW_INLINE GW_TARGET_AESNI eight decrypt8(const gw_aes_x86_key *k, eight v)
{
	__m128i key = gw_key128(k->dec[0]);
#define F(i) v.b##i = _mm_xor_si128(v.b##i, key);
	EACH8(F)
#undef F
	for (uint32_t r = 1; r < k->rounds; r++) {
		key = gw_key128(k->dec[r]);
#define F(i) v.b##i = _mm_aesdec_si128(v.b##i, key);
		EACH8(F)
#undef F
	}
	key = gw_key128(k->dec[k->rounds]);
#define F(i) v.b##i = _mm_aesdeclast_si128(v.b##i, key);
	EACH8(F)
#undef F
	return v;
}

GW_TARGET_AESNI static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len / 16;
			for (; left >= 8; left -= 8, in += 128, out += 128) store8(out, encrypt8(k, load8(in)));
			for (; left > 0; left--, in += 16, out += 16)
				gw_store128(out, gw_aesni_encrypt1(k->enc, k->rounds, gw_load128(in)));
		}
	}
}

GW_TARGET_AESNI static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len / 16;
			for (; left >= 8; left -= 8, in += 128, out += 128) store8(out, decrypt8(k, load8(in)));
			for (; left > 0; left--, in += 16, out += 16)
				gw_store128(out, gw_aesni_decrypt1(k->dec, k->rounds, gw_load128(in)));
		}
	}
}

GW_TARGET_AESNI void gw_cbc_decrypt_aesni(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		__m128i chain = gw_load128(ops->iv);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len / 16;
			for (; left >= 8; left -= 8, in += 128, out += 128) {
				const eight c = load8(in); /* all of it before the first store: in may be out */
				const eight before = {chain, c.b0, c.b1, c.b2, c.b3, c.b4, c.b5, c.b6};
				store8(out, xor8(decrypt8(k, c), before));
				chain = c.b7;
			}
			for (; left > 0; left--, in += 16, out += 16) {
				const __m128i c = gw_load128(in);
				gw_store128(out, _mm_xor_si128(gw_aesni_decrypt1(k->dec, k->rounds, c), chain));
				chain = c;
			}
		}
	}
}

GW_INLINE GW_TARGET_AESNI __m128i counter128(uint64_t *hi, uint64_t *lo)
{
	const __m128i v = _mm_set_epi64x((long long)gw_swap64(*lo), (long long)gw_swap64(*hi));
	if (++*lo == 0) ++*hi;
	return v;
}

GW_TARGET_AESNI static void ctr(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		uint64_t hi = gw_load_be64(ops->iv), lo = gw_load_be64(ops->iv + 8);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len;
			for (; left >= 128; left -= 128, in += 128, out += 128) {
				eight v;
#define F(i) v.b##i = counter128(&hi, &lo);
				EACH8(F)
#undef F
				store8(out, xor8(encrypt8(k, v), load8(in)));
			}
			if (left == 0) continue;
			eight v;
			uint8_t stream[128];
#define F(i) v.b##i = counter128(&hi, &lo);
			EACH8(F)
#undef F
			/* Counters beyond this span were taken in vain; the last span ends the op, others are whole blocks. */
			const uint64_t unused = 8 - (left + 15) / 16, old = lo;
			lo -= unused;
			if (lo > old) hi--;
			store8(stream, encrypt8(k, v));
			size_t i = 0;
			for (; i + 16 <= left; i += 16) gw_xor16(out + i, in + i, stream + i);
			gw_xor_bytes(out + i, in + i, stream + i, left - i);
			out += left;
		}
	}
}

GW_INLINE GW_TARGET_AESNI void xts(const gw_op *op, bool decrypt)
{
	const gw_aes_x86_xts_key *k = (const gw_aes_x86_xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16;
	uint8_t *out = op->out, last[32];

	if (len < 16) return;
	if (tail != 0) gw_op_gather(op, 16 * --whole, last, 16 + tail);
	__m128i t = gw_aesni_encrypt1(k->tweak.enc, k->tweak.rounds, gw_load128(op->iv));
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len / 16 < whole ? op->in[s].len / 16 : whole;
		whole -= left;
		for (; left >= 8; left -= 8, in += 128, out += 128) {
			eight w;
#define F(i)                                                                                                           \
	w.b##i = t;                                                                                                        \
	t = gw_xts_next128(t);
			EACH8(F)
#undef F
			const eight v = xor8(load8(in), w);
			store8(out, xor8(decrypt ? decrypt8(&k->data, v) : encrypt8(&k->data, v), w));
		}
		for (; left > 0; left--, in += 16, out += 16) {
			const __m128i v = _mm_xor_si128(gw_load128(in), t);
			gw_store128(out, _mm_xor_si128(t, decrypt ? gw_aesni_decrypt1(k->data.dec, k->data.rounds, v)
													  : gw_aesni_encrypt1(k->data.enc, k->data.rounds, v)));
			t = gw_xts_next128(t);
		}
	}
	if (tail != 0) {
		uint8_t tweak[16];
		gw_store128(tweak, t);
		gw_aes_x86_xts_tail(&k->data, decrypt, tweak, last, tail, out);
	}
}

GW_TARGET_AESNI static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

GW_TARGET_AESNI static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

#define IMPL(mode, type, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_aesni = {                                                                       \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-aesni/gwbench",                                                                          \
		.tag = "aesni",                                                                                                \
		.isa = "x86-64 AES-NI",                                                                                        \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 300,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_NEEDS_AESNI,                                                                                   \
		.key_ctx_bytes = sizeof(type),                                                                                 \
		.batch_hint = 8,                                                                                               \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

void gw_cbc_encrypt_aesni(gw_op *ops, size_t n); /* cbc_aesni.c */

IMPL(ecb, gw_aes_x86_key, gw_aes_x86_setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, gw_aes_x86_key, gw_aes_x86_setkey, gw_cbc_encrypt_aesni, gw_cbc_decrypt_aesni);
IMPL(ctr, gw_aes_x86_key, gw_aes_x86_setkey, ctr, ctr);
IMPL(xts, gw_aes_x86_xts_key, gw_aes_x86_xts_setkey, xts_encrypt, xts_decrypt);
#endif
