/* SPDX-License-Identifier: MIT
 * ECB, CBC, CTR, XTS with VAES on 256-bit registers: sixteen blocks abreast. What is left of a span goes through a
 * buffer of sixteen blocks: AESENC's latency makes one block cost nearly as much.
 */
#if defined(__x86_64__)
#include "aes_vaes256.h"
#include "cbc_lanes.h"

#define RUN 256

GW_INLINE GW_TARGET_VAES256 gw_eight xor_eight(gw_eight v, gw_eight w)
{
#define F(i) v.r##i = _mm256_xor_si256(v.r##i, w.r##i);
	GW_EACH8(F)
#undef F
	return v;
}

/* The last len < 256 bytes, padded: what lies beyond is never stored, so that its value does not matter. */
GW_INLINE GW_TARGET_VAES256 gw_eight load_rest(const uint8_t *p, size_t len)
{
	uint8_t b[RUN] __attribute__((aligned(32))) = {0};
	memcpy(b, p, len);
	return gw_load_eight(b);
}

GW_INLINE GW_TARGET_VAES256 void store_rest(uint8_t *p, size_t len, gw_eight v)
{
	uint8_t b[RUN] __attribute__((aligned(32)));
	gw_store_eight(b, v);
	memcpy(p, b, len);
}

GW_INLINE GW_TARGET_VAES256 gw_eight crypt(const gw_aes_x86_key *k, bool decrypt, gw_eight v)
{
	return decrypt ? gw_decrypt_eight(k->dec, k->rounds, v) : gw_encrypt_eight(k->enc, k->rounds, v);
}

GW_INLINE GW_TARGET_VAES256 void ecb(gw_op *ops, size_t n, bool decrypt)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len & ~(size_t)15;
			for (; left >= RUN; left -= RUN, in += RUN, out += RUN)
				gw_store_eight(out, crypt(k, decrypt, gw_load_eight(in)));
			if (left > 0) store_rest(out, left, crypt(k, decrypt, load_rest(in, left)));
			out += left;
		}
	}
}

GW_TARGET_VAES256 static void ecb_encrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, false);
}

GW_TARGET_VAES256 static void ecb_decrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, true);
}

#define REGISTERS 8

/* 2 n blocks; in may be out, so that all is read before anything is written. What precedes each block is read again
 * instead of being kept: sixteen registers hold it only by spilling, and a short rest needs no buffer. */
GW_INLINE GW_TARGET_VAES256 __m128i decrypt_blocks(const gw_aes_x86_key *k, __m128i chain, const uint8_t *in,
												   uint8_t *out, const int n)
{
	__m256i v[REGISTERS], key = gw_key256(k->dec[0]);
	GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm256_xor_si256(gw_load256(in + 32 * i), key);
	for (uint32_t r = 1; r < k->rounds; r++) {
		key = gw_key256(k->dec[r]);
		GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm256_aesdec_epi128(v[i], key);
	}
	key = gw_key256(k->dec[k->rounds]);
	GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm256_aesdeclast_epi128(v[i], key);
	v[0] = _mm256_xor_si256(v[0], _mm256_inserti128_si256(_mm256_castsi128_si256(chain), gw_load128(in), 1));
	GW_UNROLL for (int i = 1; i < n; i++) v[i] = _mm256_xor_si256(v[i], gw_load256(in + 32 * i - 16));
	chain = gw_load128(in + 32 * n - 16);
	GW_UNROLL for (int i = 0; i < n; i++) gw_store256(out + 32 * i, v[i]);
	return chain;
}

GW_TARGET_VAES256 static void cbc_decrypt(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		__m128i chain = gw_load128(ops->iv);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len / 16;
			for (; left >= 16; left -= 16, in += 256, out += 256) chain = decrypt_blocks(k, chain, in, out, 8);
			for (; left >= 8; left -= 8, in += 128, out += 128) chain = decrypt_blocks(k, chain, in, out, 4);
			for (; left >= 4; left -= 4, in += 64, out += 64) chain = decrypt_blocks(k, chain, in, out, 2);
			for (; left >= 2; left -= 2, in += 32, out += 32) chain = decrypt_blocks(k, chain, in, out, 1);
			if (left > 0) {
				const __m128i c = gw_load128(in);
				gw_store128(out, _mm_xor_si128(chain, gw_aesni_decrypt1(k->dec, k->rounds, c)));
				chain = c;
				out += 16;
			}
		}
	}
}

/* Two counters a register. A carry out of the low half is rare: the run that has one builds its counters one by one. */
GW_INLINE GW_TARGET_VAES256 gw_eight counters(uint64_t hi, uint64_t lo)
{
	const __m256i swap =
		_mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
	gw_eight v;
	if (lo <= UINT64_MAX - 16) {
		const __m256i base = _mm256_broadcastsi128_si256(_mm_set_epi64x((long long)hi, (long long)lo));
#define F(i) v.r##i = _mm256_add_epi64(base, _mm256_set_epi64x(0, 2 * (i) + 1, 0, 2 * (i)));
		GW_EACH8(F)
#undef F
	} else {
		uint64_t words[32];
		for (uint64_t i = 0; i < 16; i++) {
			words[2 * i] = lo + i;
			words[2 * i + 1] = hi + (lo + i < lo);
		}
		v = gw_load_eight((const uint8_t *)words);
	}
#define F(i) v.r##i = _mm256_shuffle_epi8(v.r##i, swap);
	GW_EACH8(F)
#undef F
	return v;
}

GW_TARGET_VAES256 static void ctr(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const gw_aes_x86_key *k = (const gw_aes_x86_key *)ops->key;
		uint8_t *out = ops->out;
		uint64_t hi = gw_load_be64(ops->iv), lo = gw_load_be64(ops->iv + 8);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			for (size_t left = ops->in[s].len; left > 0;) {
				const gw_eight stream = gw_encrypt_eight(k->enc, k->rounds, counters(hi, lo));
				const size_t used = left < RUN ? left : RUN;
				if (used == RUN)
					gw_store_eight(out, xor_eight(stream, gw_load_eight(in)));
				else
					store_rest(out, used, xor_eight(stream, load_rest(in, used)));
				const uint64_t blocks = (used + 15) / 16;
				lo += blocks;
				hi += lo < blocks;
				in += used, out += used, left -= used;
			}
		}
	}
}

/* Every tweak times x^16: two bytes up, and the two that fall out times 0x87 come back (IEEE 1619 5.2). */
GW_INLINE GW_TARGET_VAES256 __m256i tweaks_by_x16(__m256i t)
{
	const __m256i fallen = _mm256_clmulepi64_epi128(_mm256_bsrli_epi128(t, 14),
													_mm256_broadcastsi128_si256(_mm_set_epi64x(0, 0x87)), 0x00);
	return _mm256_xor_si256(_mm256_bslli_epi128(t, 2), fallen);
}

GW_INLINE GW_TARGET_VAES256 gw_eight first_tweaks(__m128i t)
{
	__m128i v[16];
	for (int i = 0; i < 16; i++, t = gw_xts_next128(t)) v[i] = t;
	return gw_load_eight((const uint8_t *)v);
}

GW_INLINE GW_TARGET_VAES256 void xts(const gw_op *op, bool decrypt)
{
	const gw_aes_x86_xts_key *k = (const gw_aes_x86_xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16;
	uint8_t *out = op->out, last[32], tweak[RUN] __attribute__((aligned(32)));

	if (len < 16) return;
	if (tail != 0) gw_op_gather(op, 16 * --whole, last, 16 + tail);
	gw_eight t = first_tweaks(gw_aesni_encrypt1(k->tweak.enc, k->tweak.rounds, gw_load128(op->iv)));
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len / 16 < whole ? op->in[s].len / 16 : whole;
		whole -= left;
		for (; left >= 16; left -= 16, in += RUN, out += RUN) {
			gw_store_eight(out, xor_eight(crypt(&k->data, decrypt, xor_eight(gw_load_eight(in), t)), t));
#define F(i) t.r##i = tweaks_by_x16(t.r##i);
			GW_EACH8(F)
#undef F
		}
		if (left == 0) continue;
		store_rest(out, 16 * left, xor_eight(crypt(&k->data, decrypt, xor_eight(load_rest(in, 16 * left), t)), t));
		out += 16 * left;
		if (whole == 0 && tail == 0) return;
		gw_store_eight(tweak, t);
		t = first_tweaks(gw_load128(tweak + 16 * left));
	}
	if (tail == 0) return;
	gw_store128(tweak, _mm256_castsi256_si128(t.r0));
	gw_aes_x86_xts_tail(&k->data, decrypt, tweak, last, tail, out);
}

GW_TARGET_VAES256 static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], false);
}

GW_TARGET_VAES256 static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], true);
}

/* ---- CBC encryption: sixteen packets abreast, two a register, as in cbc_vaes.c ---- */

typedef struct lane_keys {
	__m256i k[15][8];
} lane_keys;

GW_INLINE GW_TARGET_VAES256 __m256i two(const uint8_t *a, const uint8_t *b)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(gw_load128(a)), gw_load128(b), 1);
}

GW_TARGET_VAES256 static void run16(gw_cbc_lanes *l, size_t blocks)
{
	const uint32_t rounds = l->key[0]->rounds;
	uint32_t same_rounds = 1, same_key = 1;
	lane_keys lk;

	for (int i = 1; i < 16; i++) {
		same_rounds &= l->key[i]->rounds == rounds;
		same_key &= l->key[i] == l->key[0];
	}
	if (!same_rounds) { /* AES-128 beside AES-256: rare, lane by lane */
		gw_cbc_run_each(l, 16, blocks);
		return;
	}
	if (!same_key)
		for (uint32_t r = 0; r <= rounds; r++)
			for (int i = 0; i < 8; i++) lk.k[r][i] = two(l->key[2 * i]->enc[r], l->key[2 * i + 1]->enc[r]);

	gw_eight v = gw_load_eight(l->chain[0]);
	const uint8_t(*rk)[16] = l->key[0]->enc;
	const size_t bytes = 16 * blocks;
	for (size_t at = 0; at < bytes; at += 16) {
#define F(i) v.r##i = _mm256_xor_si256(v.r##i, two(l->in[2 * (i)] + at, l->in[2 * (i) + 1] + at));
		GW_EACH8(F)
#undef F
		if (same_key) {
			v = gw_encrypt_eight(rk, rounds, v);
		} else {
#define F(i) v.r##i = _mm256_xor_si256(v.r##i, lk.k[0][i]);
			GW_EACH8(F)
#undef F
			for (uint32_t r = 1; r < rounds; r++) {
#define F(i) v.r##i = _mm256_aesenc_epi128(v.r##i, lk.k[r][i]);
				GW_EACH8(F)
#undef F
			}
#define F(i) v.r##i = _mm256_aesenclast_epi128(v.r##i, lk.k[rounds][i]);
			GW_EACH8(F)
#undef F
		}
#define F(i)                                                                                                           \
	gw_store128(l->out[2 * (i)] + at, _mm256_castsi256_si128(v.r##i));                                                 \
	gw_store128(l->out[2 * (i) + 1] + at, _mm256_extracti128_si256(v.r##i, 1));
		GW_EACH8(F)
#undef F
	}
	gw_store_eight(l->chain[0], v);
	for (int i = 0; i < 16; i++) {
		l->in[i] += bytes;
		l->out[i] += bytes;
	}
	if (!same_key) gw_wipe(&lk, sizeof lk.k[0] * (rounds + 1));
}

void gw_cbc_encrypt_aesni(gw_op *ops, size_t n); /* cbc_aesni.c */

/* Up to that many packets eight lanes are enough. */
#define FEW 8

GW_TARGET_VAES256 static void cbc_encrypt(gw_op *ops, size_t n)
{
	if (n <= FEW)
		gw_cbc_encrypt_aesni(ops, n);
	else
		gw_cbc_schedule(ops, n, 16, run16);
}

#define IMPL(mode, type, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_vaes256 = {                                                                     \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-vaes256/gwbench",                                                                        \
		.tag = "vaes256",                                                                                              \
		.isa = "x86-64 VAES, AVX2",                                                                                    \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 350,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_NEEDS_VAES256 | GW_CPU_PCLMUL | GW_CPU_VPCLMUL,                                                \
		.key_ctx_bytes = sizeof(type),                                                                                 \
		.batch_hint = 16,                                                                                              \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, gw_aes_x86_key, gw_aes_x86_setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, gw_aes_x86_key, gw_aes_x86_setkey, cbc_encrypt, cbc_decrypt);
IMPL(ctr, gw_aes_x86_key, gw_aes_x86_setkey, ctr, ctr);
IMPL(xts, gw_aes_x86_xts_key, gw_aes_x86_xts_setkey, xts_encrypt, xts_decrypt);
#endif
