/* SPDX-License-Identifier: MIT
 * AES-GCM (SP 800-38D) with VAES and VPCLMULQDQ on 512-bit registers.
 *
 * A packet is one stream of 16-byte blocks in which two blocks in front are not data: block 0 is nothing, and block
 * 1 has J0 as its counter block, whose encryption masks the tag, while its place in GHASH belongs to the (last) AAD
 * block. The length block follows the last data block. So encryption and GHASH share one grid of four blocks a
 * register, with no special first or last step, and with a 12-byte IV the counter of a block is its number: within
 * 16 blocks it is an XOR of 0..15 into the last byte, and no addition is needed.
 *
 *      counter    0   J0=1   2    3  |  4   ...
 *      data       -    -    P0   P1  |  P2  ...          stream byte i is data byte i - 32
 *      GHASH      0   AAD   C0   C1  |  C2  ...  LEN
 *
 * Groups of 16 blocks are hashed lane by lane with H^16, H^12, H^8, H^4 (one reduction a group, no fold across
 * lanes), one group behind encryption; the last 4 to 19 blocks get the powers of their true positions.
 */
#if defined(__x86_64__)
#include "gcm_source.h"
#include "ghash_x86.h"

#define POWERS 20

typedef struct gcm_key {
	uint8_t rk[15][16];
	uint32_t rounds;
	uint32_t pad[3];
	uint8_t power[POWERS + 4][16]; /* power[i] = H^(20 - i), times x; then zeros that masked lanes may read */
} __attribute__((aligned(64))) gcm_key;

GW_TARGET_VAES static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	k->rounds = gw_aes_x86_expand(k->rk, key, len);
	if (k->rounds == 0) return -EINVAL;
	const __m128i h = gw_ghash_key128(gw_aesni_encrypt1(k->rk, k->rounds, _mm_setzero_si128()));
	__m128i p = h;
	for (int i = POWERS - 1; i >= 0; i--, p = gw_ghash_mul128(p, h)) gw_store128(k->power[i], p);
	memset(k->power[POWERS], 0, 64);
	return 0;
}

/* ---- the pieces ---- */

typedef struct sums { /* unreduced products: LO + MI x^64 + HI x^128, in each lane */
	__m512i lo, mi, hi;
} sums;

GW_INLINE GW_TARGET_VAES sums product(__m512i a, __m512i h)
{
	return (sums){_mm512_clmulepi64_epi128(a, h, 0x00),
				  _mm512_xor_si512(_mm512_clmulepi64_epi128(a, h, 0x01), _mm512_clmulepi64_epi128(a, h, 0x10)),
				  _mm512_clmulepi64_epi128(a, h, 0x11)};
}

GW_INLINE GW_TARGET_VAES sums add_product(sums s, __m512i a, __m512i h)
{
	s.lo = _mm512_xor_si512(s.lo, _mm512_clmulepi64_epi128(a, h, 0x00));
	s.hi = _mm512_xor_si512(s.hi, _mm512_clmulepi64_epi128(a, h, 0x11));
	s.mi = _mm512_ternarylogic_epi64(s.mi, _mm512_clmulepi64_epi128(a, h, 0x01), _mm512_clmulepi64_epi128(a, h, 0x10),
									 0x96);
	return s;
}

GW_INLINE GW_TARGET_VAES __m512i reduce(sums s)
{
	const __m512i poly = _mm512_set1_epi64((long long)GW_GHASH_POLY);
	const __m512i mi = _mm512_ternarylogic_epi64(s.mi, _mm512_shuffle_epi32(s.lo, 0x4e),
												 _mm512_clmulepi64_epi128(s.lo, poly, 0x00), 0x96);
	return _mm512_ternarylogic_epi64(s.hi, _mm512_shuffle_epi32(mi, 0x4e), _mm512_clmulepi64_epi128(mi, poly, 0x00),
									 0x96);
}

GW_INLINE GW_TARGET_VAES __m128i fold(__m512i v)
{
	const __m256i w = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
	return _mm_xor_si128(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}

GW_INLINE GW_TARGET_VAES __m512i reverse(__m512i v)
{
	return _mm512_shuffle_epi8(
		v, _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}

GW_INLINE GW_TARGET_VAES __m512i power4(const gcm_key *k, int exponent)
{
	return gw_key512(k->power[POWERS - exponent]);
}

/* Exchanges the last word of each block between native order and network order. */
GW_INLINE GW_TARGET_VAES __m512i swap_counter(__m512i v)
{
	return _mm512_shuffle_epi8(
		v, _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)));
}

/* 4 i, 4 i + 1, 4 i + 2, 4 i + 3 as last words in native order. */
GW_INLINE GW_TARGET_VAES __m512i numbers(int i)
{
	return _mm512_set_epi32(4 * i + 3, 0, 0, 0, 4 * i + 2, 0, 0, 0, 4 * i + 1, 0, 0, 0, 4 * i, 0, 0, 0);
}

/* ---- a packet ---- */

typedef struct packet {
	const gcm_key *k;
	source in;
	uint8_t *out;    /* less LEAD: by stream byte */
	size_t end;      /* in stream bytes: LEAD + data */
	__m512i counter; /* of the next group's first block, last word in native order, in each lane */
	bool aligned;    /* its last four bits are zero */
	__m512i acc;     /* GHASH so far, in four lanes */
	__m128i aad;     /* block 0 of GHASH, byte-reversed, what came before it added */
	__m128i mask;    /* E(J0) */
	__m128i lengths; /* byte-reversed */
} packet;

/* n registers of counter blocks, XORed with the first round key; moves on by 16 blocks. */
GW_INLINE GW_TARGET_VAES void next_counters(packet *p, __m512i *v, const int n)
{
	const __m512i key = gw_key512(p->k->rk[0]);
	if (__builtin_expect(p->aligned, 1)) {
		const __m512i base = _mm512_xor_si512(swap_counter(p->counter), key);
		GW_UNROLL for (int i = 0; i < n && i < 4; i++) v[i] = _mm512_xor_si512(base, swap_counter(numbers(i)));
	} else {
		GW_UNROLL for (int i = 0; i < n && i < 4; i++) v[i] =
			_mm512_xor_si512(swap_counter(_mm512_add_epi32(p->counter, numbers(i))), key);
	}
	p->counter = _mm512_add_epi32(p->counter, _mm512_maskz_set1_epi32(0x8888, 16));
	if (n > 4) v[4] = _mm512_xor_si512(swap_counter(_mm512_add_epi32(p->counter, numbers(0))), key);
}

GW_INLINE GW_TARGET_VAES void begin(packet *p, const gw_op *op, size_t len)
{
	const gcm_key *k = (const gcm_key *)op->key;
	const __m128i h = gw_key128(k->power[POWERS - 1]);
	__m128i j0;

	p->k = k;
	open_source(&p->in, op);
	p->out = (uint8_t *)((uintptr_t)op->out - LEAD);
	p->end = len + LEAD;
	p->aligned = op->iv_len == 12;
	if (__builtin_expect(p->aligned, 1)) {
		j0 = _mm_maskz_loadu_epi8(0x0fff, op->iv);
	} else {
		j0 = gw_gcm_hashed_iv(h, op->iv, op->iv_len);
		j0 = _mm512_castsi512_si128(swap_counter(_mm512_castsi128_si512(j0)));
		j0 = _mm_sub_epi32(j0, _mm_set_epi32(1, 0, 0, 0)); /* of block 0 */
	}
	p->counter = _mm512_broadcast_i32x4(j0);
	p->lengths = _mm_set_epi64x((long long)(8 * (uint64_t)op->aad_len), (long long)(8 * (uint64_t)len));
	p->acc = _mm512_setzero_si512();

	if (__builtin_expect(op->aad_len <= 16, 1)) {
		p->aad = gw_reverse128(_mm_maskz_loadu_epi8((__mmask16)below(op->aad_len), op->aad));
	} else {
		const size_t before = (op->aad_len - 1) & ~(size_t)15;
		const __m128i y = gw_ghash_bytes128(h, _mm_setzero_si128(), op->aad, before);
		p->aad = _mm_xor_si128(y, gw_reverse128(gw_load_part128(op->aad + before, op->aad_len - before)));
	}
}

GW_INLINE GW_TARGET_VAES __m512i with_aad(const packet *p, __m512i reversed)
{
	return _mm512_mask_broadcast_i64x2(_mm512_maskz_mov_epi64(0xf0, reversed), 0x0c, p->aad);
}

/* Sixteen whole blocks. pending: the group before, byte-reversed, hashed meanwhile. */
GW_INLINE GW_TARGET_VAES gw_four group(packet *p, size_t at, bool seal, bool first, gw_four pending)
{
	const gcm_key *k = p->k;
	__m512i c[4];
	sums s;

	next_counters(p, c, 4);
	gw_four v = {c[0], c[1], c[2], c[3]};
	const gw_four x = load_group(&p->in, at, first);
#define ROUND(r) GW_VAES_ROUND(_mm512_aesenc_epi128, v, gw_key512(k->rk[r]))
	ROUND(1);
	if (!first) s = product(_mm512_xor_si512(p->acc, pending.a), power4(k, 16));
	ROUND(2);
	ROUND(3);
	if (!first) s = add_product(s, pending.b, power4(k, 12));
	ROUND(4);
	ROUND(5);
	if (!first) s = add_product(s, pending.c, power4(k, 8));
	ROUND(6);
	ROUND(7);
	if (!first) s = add_product(s, pending.d, power4(k, 4));
	ROUND(8);
	ROUND(9);
	if (!first) p->acc = reduce(s);
	if (k->rounds > 10) {
		ROUND(10);
		ROUND(11);
	}
	if (k->rounds > 12) {
		ROUND(12);
		ROUND(13);
	}
	GW_VAES_ROUND(_mm512_aesenclast_epi128, v, gw_key512(k->rk[k->rounds]));
	if (first) p->mask = _mm512_extracti32x4_epi32(v.a, 1);
	v = gw_xor_four(v, x);
	if (first) {
		_mm512_mask_storeu_epi8(p->out, ~(__mmask64)LEAD_MASK, v.a);
		gw_store512(p->out + 64, v.b);
		gw_store512(p->out + 128, v.c);
		gw_store512(p->out + 192, v.d);
	} else {
		gw_store256bytes(p->out + at, v);
	}
	const gw_four h = seal ? v : x;
	return (gw_four){first ? with_aad(p, reverse(h.a)) : reverse(h.a), reverse(h.b), reverse(h.c), reverse(h.d)};
}

/* The last blocks of the stream, the length block included, in n registers. Returns GHASH's result, byte-reversed. */
GW_INLINE GW_TARGET_VAES __m128i tail(packet *p, size_t at, uint32_t blocks, bool seal, bool first, const int n)
{
	const gcm_key *k = p->k;
	const uint8_t *power = k->power[POWERS - blocks];
	__m512i v[5], x[5];
	__mmask64 m[5];
	sums s;

	next_counters(p, v, n);
	GW_UNROLL for (int i = 0; i < n; i++) m[i] = below((ptrdiff_t)(p->end - at) - 64 * i); /* all ones up to n - 3 */
	if (first) m[0] &= ~(__mmask64)LEAD_MASK;
	seek(&p->in, first ? LEAD : at);
	if (p->in.end >= p->end) {
		GW_UNROLL for (int i = 0; i < n; i++) x[i] = _mm512_maskz_loadu_epi8(m[i], p->in.base + at + 64 * (size_t)i);
	} else if (p->in.end2 >= p->end) {
		GW_UNROLL for (int i = 0; i < n; i++) x[i] =
			load_two(&p->in, at + 64 * (size_t)i, i == 0 && first ? LEAD_MASK : 0);
	} else {
		uint8_t copy[320] __attribute__((aligned(64)));
		gather(p->in.op, at, copy, sizeof copy);
		GW_UNROLL for (int i = 0; i < n; i++) x[i] = gw_load512(copy + 64 * i);
	}
#define TAIL_ROUND(r)                                                                                                  \
	do {                                                                                                               \
		const __m512i key = gw_key512(k->rk[r]);                                                                       \
		GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm512_aesenc_epi128(v[i], key);                                  \
	} while (0)
	GW_AES_ROUNDS(k->rounds, TAIL_ROUND);
	GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm512_aesenclast_epi128(v[i], gw_key512(k->rk[k->rounds]));
	if (first) p->mask = _mm512_extracti32x4_epi32(v[0], 1);
	GW_UNROLL for (int i = 0; i < n; i++)
	{
		v[i] = _mm512_xor_si512(v[i], x[i]);
		_mm512_mask_storeu_epi8(p->out + at + 64 * (size_t)i, m[i], v[i]);
		x[i] = reverse(seal ? _mm512_maskz_mov_epi8(m[i], v[i]) : x[i]);
	}
	if (first) x[0] = with_aad(p, x[0]);
	x[n - 1] = _mm512_mask_broadcast_i64x2(x[n - 1], (__mmask8)(3u << 2 * ((blocks - 1) & 3)), p->lengths);
	s = product(first ? x[0] : _mm512_xor_si512(p->acc, x[0]), gw_load512(power));
	GW_UNROLL for (int i = 1; i < n; i++) s = add_product(s, x[i], gw_load512(power + 64 * i));
	return fold(reduce(s));
}

GW_INLINE GW_TARGET_VAES __m128i any_tail(packet *p, size_t at, uint32_t blocks, bool seal, bool first)
{
	switch ((blocks + 3) / 4) {
	case 1: return tail(p, at, blocks, seal, first, 1);
	case 2: return tail(p, at, blocks, seal, first, 2);
	case 3: return tail(p, at, blocks, seal, first, 3);
	case 4: return tail(p, at, blocks, seal, first, 4);
	default: return tail(p, at, blocks, seal, first, 5);
	}
}

/* Encrypts or decrypts all of it; returns the tag. */
GW_INLINE GW_TARGET_VAES __m128i run(const gw_op *op, size_t len, bool seal)
{
	const gcm_key *k = (const gcm_key *)op->key;
	size_t at = 0, blocks = (len + 15) / 16 + LEAD / 16 + 1;
	__m128i y;
	packet p;

	begin(&p, op, len);
	if (blocks < POWERS) {
		y = any_tail(&p, 0, (uint32_t)blocks, seal, true);
	} else {
		gw_four pending = {p.acc, p.acc, p.acc, p.acc};
		pending = group(&p, 0, seal, true, pending);
		for (at = 256, blocks -= 16; blocks >= POWERS; at += 256, blocks -= 16)
			pending = group(&p, at, seal, false, pending);
		sums s = product(_mm512_xor_si512(p.acc, pending.a), power4(k, 16));
		s = add_product(s, pending.b, power4(k, 12));
		s = add_product(s, pending.c, power4(k, 8));
		s = add_product(s, pending.d, power4(k, 4));
		p.acc = reduce(s);
		y = any_tail(&p, at, (uint32_t)blocks, seal, false);
	}
	return _mm_xor_si128(gw_reverse128(y), p.mask);
}

/* gw_op_len without a loop: a short packet feels one. */
GW_INLINE size_t length_of(const gw_op *op)
{
	size_t len = op->n_in > 0 ? op->in[0].len : 0;
	len += op->n_in > 1 ? op->in[1].len : 0;
	return len + (op->n_in > 2 ? op->in[2].len : 0);
}

GW_TARGET_VAES static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const __m128i tag = run(ops, length_of(ops), true);
		_mm_mask_storeu_epi8(ops->tag, (__mmask16)below(ops->tag_len), tag);
		ops->status = 0;
	}
}

GW_TARGET_VAES static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const size_t len = length_of(ops);
		const __mmask16 bytes = (__mmask16)below(ops->tag_len);
		const __m128i tag = run(ops, len, false), want = _mm_maskz_loadu_epi8(bytes, ops->tag);
		const bool good = _mm_mask_cmpneq_epi8_mask(bytes, tag, want) == 0;
		ops->status = good ? 0 : -EBADMSG;
		if (!good) gw_wipe(ops->out, len);
	}
}

const gw_impl gw_impl_gcm_aes_vaes = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-vaes/gwbench",
	.tag = "vaes",
	.isa = "x86-64 VAES, VPCLMULQDQ, AVX-512",
	.kind = GW_KIND_AEAD,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_VAES | GW_CPU_PCLMUL | GW_CPU_VPCLMUL,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 4,
	.setkey = gcm_setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
