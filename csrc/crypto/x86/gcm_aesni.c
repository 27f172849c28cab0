/* SPDX-License-Identifier: MIT
 * AES-GCM (SP 800-38D) with AES-NI and PCLMULQDQ: eight blocks a step. GHASH runs one step behind encryption, so that
 * the multiplications fill the gaps between AES rounds, and reduces once for eight blocks.
 */
#if defined(__x86_64__)
#include "ghash_x86.h"

#define STEP 8

typedef struct gcm_key {
	uint8_t rk[15][16];
	uint32_t rounds;
	uint32_t pad[3];
	uint8_t power[STEP][16]; /* power[i] = H^(8 - i), times x */
} __attribute__((aligned(64))) gcm_key;

GW_TARGET_AESNI static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	k->rounds = gw_aes_x86_expand(k->rk, key, len);
	if (k->rounds == 0) return -EINVAL;
	const __m128i h = gw_ghash_key128(gw_aesni_encrypt1(k->rk, k->rounds, _mm_setzero_si128()));
	__m128i p = h;
	for (int i = STEP - 1; i >= 0; i--, p = gw_ghash_mul128(p, h)) gw_store128(k->power[i], p);
	return 0;
}

typedef struct sums { /* unreduced products: LO + MI x^64 + HI x^128 */
	__m128i lo, mi, hi;
} sums;

GW_INLINE GW_TARGET_AESNI sums add_product(sums s, __m128i a, __m128i h)
{
	s.lo = _mm_xor_si128(s.lo, _mm_clmulepi64_si128(a, h, 0x00));
	s.hi = _mm_xor_si128(s.hi, _mm_clmulepi64_si128(a, h, 0x11));
	s.mi = _mm_xor_si128(s.mi, _mm_clmulepi64_si128(a, h, 0x01));
	s.mi = _mm_xor_si128(s.mi, _mm_clmulepi64_si128(a, h, 0x10));
	return s;
}

GW_INLINE GW_TARGET_AESNI __m128i reduce(sums s)
{
	return gw_ghash_reduce128(s.lo, s.mi, s.hi);
}

typedef struct packet {
	const gcm_key *k;
	__m128i counter; /* next; last word in native order */
	__m128i y;       /* GHASH, byte-reversed */
} packet;

GW_INLINE GW_TARGET_AESNI __m128i swap_counter(__m128i v)
{
	return _mm_shuffle_epi8(v, _mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}

GW_INLINE GW_TARGET_AESNI __m128i next_counter(packet *p)
{
	const __m128i v = swap_counter(p->counter);
	p->counter = _mm_add_epi32(p->counter, _mm_set_epi32(1, 0, 0, 0));
	return v;
}

/* Key stream of eight blocks; meanwhile the eight blocks at `behind` (may be NULL) go through GHASH. */
GW_INLINE GW_TARGET_AESNI void key_stream(packet *p, __m128i v[STEP], const uint8_t *behind)
{
	const gcm_key *k = p->k;
	sums s = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
	GW_UNROLL for (int i = 0; i < STEP; i++) v[i] = _mm_xor_si128(next_counter(p), gw_key128(k->rk[0]));
	GW_UNROLL for (int r = 1; r <= 8; r++)
	{
		const __m128i key = gw_key128(k->rk[r]);
		GW_UNROLL for (int i = 0; i < STEP; i++) v[i] = _mm_aesenc_si128(v[i], key);
		if (behind != NULL) {
			__m128i b = gw_reverse128(gw_load128(behind + 16 * (r - 1)));
			if (r == 1) b = _mm_xor_si128(b, p->y);
			s = add_product(s, b, gw_key128(k->power[r - 1]));
		}
	}
	if (behind != NULL) p->y = reduce(s);
	for (uint32_t r = 9; r < k->rounds; r++) {
		const __m128i key = gw_key128(k->rk[r]);
		GW_UNROLL for (int i = 0; i < STEP; i++) v[i] = _mm_aesenc_si128(v[i], key);
	}
	const __m128i last = gw_key128(k->rk[k->rounds]);
	GW_UNROLL for (int i = 0; i < STEP; i++) v[i] = _mm_aesenclast_si128(v[i], last);
}

/* GHASH over up to eight blocks, the last padded with zeros. */
GW_INLINE GW_TARGET_AESNI void hash_few(packet *p, const uint8_t *data, size_t len)
{
	const size_t blocks = (len + 15) / 16;
	sums s = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
	for (size_t i = 0; i < blocks; i++, len -= 16) {
		__m128i b = gw_reverse128(len < 16 ? gw_load_part128(data + 16 * i, len) : gw_load128(data + 16 * i));
		if (i == 0) b = _mm_xor_si128(b, p->y);
		s = add_product(s, b, gw_key128(p->k->power[STEP - blocks + i]));
	}
	if (blocks > 0) p->y = reduce(s);
}

GW_INLINE GW_TARGET_AESNI void hash_any(packet *p, const uint8_t *data, size_t len)
{
	for (; len > 16 * STEP; data += 16 * STEP, len -= 16 * STEP) hash_few(p, data, 16 * STEP);
	hash_few(p, data, len);
}

/* One span. Seal hashes what was written a step before; open what is about to be read. */
GW_INLINE GW_TARGET_AESNI void run_span(packet *p, const uint8_t *in, uint8_t *out, size_t len, bool seal)
{
	const uint8_t *behind = NULL;
	__m128i v[STEP];
	size_t used = 16 * STEP;

	for (; len >= 16 * STEP; len -= 16 * STEP, in += 16 * STEP, out += 16 * STEP) {
		key_stream(p, v, seal ? behind : in);
		GW_UNROLL for (int i = 0; i < STEP; i++)
			gw_store128(out + 16 * i, _mm_xor_si128(v[i], gw_load128(in + 16 * i)));
		behind = out;
	}
	if (seal && behind != NULL) hash_few(p, behind, used);
	if (len == 0) return;

	uint8_t stream[16 * STEP];
	const __m128i at = p->counter;
	if (!seal) hash_few(p, in, len);
	key_stream(p, v, NULL);
	p->counter = _mm_add_epi32(at, _mm_set_epi32((int)((len + 15) / 16), 0, 0, 0));
	GW_UNROLL for (int i = 0; i < STEP; i++) gw_store128(stream + 16 * i, v[i]);
	for (used = 0; used + 16 <= len; used += 16)
		gw_store128(out + used, _mm_xor_si128(gw_load128(stream + used), gw_load128(in + used)));
	for (size_t i = used; i < len; i++) out[i] = in[i] ^ stream[i];
	if (seal) hash_few(p, out, len);
}

GW_INLINE GW_TARGET_AESNI __m128i run(const gw_op *op, bool seal)
{
	const gcm_key *k = (const gcm_key *)op->key;
	const __m128i h = gw_key128(k->power[STEP - 1]);
	packet p = {.k = k, .y = _mm_setzero_si128()};
	uint8_t *out = op->out;
	__m128i j0;

	if (op->iv_len == 12)
		j0 = _mm_or_si128(gw_load_part128(op->iv, 12), _mm_set_epi32(0x01000000, 0, 0, 0));
	else
		j0 = gw_gcm_hashed_iv(h, op->iv, op->iv_len);
	p.counter = _mm_add_epi32(swap_counter(j0), _mm_set_epi32(1, 0, 0, 0));
	const __m128i mask = gw_aesni_encrypt1(k->rk, k->rounds, j0);

	hash_any(&p, op->aad, op->aad_len);
	for (uint32_t i = 0; i < op->n_in; i++) {
		run_span(&p, op->in[i].data, out, op->in[i].len, seal);
		out += op->in[i].len;
	}
	const __m128i lengths =
		_mm_set_epi64x((long long)(8 * (uint64_t)op->aad_len), (long long)(8 * (uint64_t)gw_op_len(op)));
	return _mm_xor_si128(gw_reverse128(gw_ghash_mul128(_mm_xor_si128(p.y, lengths), h)), mask);
}

GW_TARGET_AESNI static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t tag[16];
		gw_store128(tag, run(ops, true));
		memcpy(ops->tag, tag, ops->tag_len);
		ops->status = 0;
	}
}

GW_TARGET_AESNI static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint8_t tag[16];
		gw_store128(tag, run(ops, false));
		ops->status = gw_equal_ct(tag, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status != 0) gw_wipe(ops->out, gw_op_len(ops));
	}
}

const gw_impl gw_impl_gcm_aes_aesni = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-aesni/gwbench",
	.tag = "aesni",
	.isa = "x86-64 AES-NI, PCLMULQDQ",
	.kind = GW_KIND_AEAD,
	.priority = 300,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_AESNI | GW_CPU_PCLMUL,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = gcm_setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
