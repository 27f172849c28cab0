/* SPDX-License-Identifier: MIT
 * SHA-512 (FIPS 180-4 6.4) and its HMAC (RFC 4868), eight packets abreast: one word of each in a 512-bit register. A
 * lane takes a block at a time, from its packet, then from the padding, then (HMAC) the outer block, then its next
 * packet. Spans end at multiples of 64 bytes and blocks have 128: one that straddles two is copied together.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "../md.h"

#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512dq")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define LANES 8
#define BLOCK 128

/* ---- eight blocks ---- */

#define XOR3(a, b, c)     _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define CHOOSE(e, f, g)   _mm512_ternarylogic_epi64(e, f, g, 0xca)
#define MAJORITY(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xe8)
#define ADD               _mm512_add_epi64
#define ROR               _mm512_ror_epi64

#define ROUND(a, b, c, d, e, f, g, h, i)                                                                               \
	do {                                                                                                               \
		__m512i t = ADD(h, ADD(w[i], _mm512_set1_epi64((long long)k[i])));                                             \
		t = ADD(t, ADD(CHOOSE(e, f, g), XOR3(ROR(e, 14), ROR(e, 18), ROR(e, 41))));                                    \
		d = ADD(d, t);                                                                                                 \
		h = ADD(ADD(t, MAJORITY(a, b, c)), XOR3(ROR(a, 28), ROR(a, 34), ROR(a, 39)));                                  \
	} while (0)

/* Message words live in memory: with the state and temporaries they would not fit 32 registers. */
#define IN_MEMORY(w) __asm__ volatile("" : "+m"(*(__m512i(*)[16])(w)))

#define SCHEDULE(i)                                                                                                    \
	do {                                                                                                               \
		const __m512i x = w[((i) + 1) & 15], y = w[((i) + 14) & 15];                                                   \
		const __m512i s0 = XOR3(ROR(x, 1), ROR(x, 8), _mm512_srli_epi64(x, 7));                                        \
		const __m512i s1 = XOR3(ROR(y, 19), ROR(y, 61), _mm512_srli_epi64(y, 6));                                      \
		w[i] = ADD(ADD(w[i], w[((i) + 9) & 15]), ADD(s0, s1));                                                         \
		IN_MEMORY(w);                                                                                                  \
	} while (0)
#define NOTHING(i) (void)0

#define EIGHT(i, BEFORE)                                                                                               \
	BEFORE(i);                                                                                                         \
	ROUND(a, b, c, d, e, f, g, h, i);                                                                                  \
	BEFORE(i + 1);                                                                                                     \
	ROUND(h, a, b, c, d, e, f, g, i + 1);                                                                              \
	BEFORE(i + 2);                                                                                                     \
	ROUND(g, h, a, b, c, d, e, f, i + 2);                                                                              \
	BEFORE(i + 3);                                                                                                     \
	ROUND(f, g, h, a, b, c, d, e, i + 3);                                                                              \
	BEFORE(i + 4);                                                                                                     \
	ROUND(e, f, g, h, a, b, c, d, i + 4);                                                                              \
	BEFORE(i + 5);                                                                                                     \
	ROUND(d, e, f, g, h, a, b, c, i + 5);                                                                              \
	BEFORE(i + 6);                                                                                                     \
	ROUND(c, d, e, f, g, h, a, b, i + 6);                                                                              \
	BEFORE(i + 7);                                                                                                     \
	ROUND(b, c, d, e, f, g, h, a, i + 7)

/* Eight words of each of eight lanes: bytes swapped, then an 8 x 8 transposition. */
INLINE void load_words(const uint8_t *const data[LANES], size_t from, __m512i *w)
{
	const __m512i swap = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	__m512i x[8], y[8];
	UNROLL for (int i = 0; i < 8; i++) x[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(data[i] + from), swap);
	UNROLL for (int i = 0; i < 8; i += 2)
	{
		y[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);     /* words 0 2 4 6 of two lanes */
		y[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]); /* words 1 3 5 7 */
	}
	UNROLL for (int i = 0; i < 2; i++)
	{
		const __m512i a = _mm512_shuffle_i64x2(y[i], y[i + 2], 0x88), b = _mm512_shuffle_i64x2(y[i], y[i + 2], 0xdd);
		const __m512i c = _mm512_shuffle_i64x2(y[i + 4], y[i + 6], 0x88);
		const __m512i d = _mm512_shuffle_i64x2(y[i + 4], y[i + 6], 0xdd);
		w[i] = _mm512_shuffle_i64x2(a, c, 0x88);
		w[i + 4] = _mm512_shuffle_i64x2(a, c, 0xdd);
		w[i + 2] = _mm512_shuffle_i64x2(b, d, 0x88);
		w[i + 6] = _mm512_shuffle_i64x2(b, d, 0xdd);
	}
}

TARGET static void compress8(uint64_t state[8][LANES], const uint8_t *const data[LANES])
{
	__m512i w[16];
	load_words(data, 0, w);
	load_words(data, 64, w + 8);
	__m512i a = _mm512_load_si512(state[0]), b = _mm512_load_si512(state[1]), c = _mm512_load_si512(state[2]);
	__m512i d = _mm512_load_si512(state[3]), e = _mm512_load_si512(state[4]), f = _mm512_load_si512(state[5]);
	__m512i g = _mm512_load_si512(state[6]), h = _mm512_load_si512(state[7]);
	const uint64_t *k = gw_sha512_k;
	IN_MEMORY(w);
	EIGHT(0, NOTHING);
	EIGHT(8, NOTHING);
	for (k += 16; k < gw_sha512_k + 80; k += 16) {
		EIGHT(0, SCHEDULE);
		EIGHT(8, SCHEDULE);
	}
	_mm512_store_si512(state[0], ADD(a, _mm512_load_si512(state[0])));
	_mm512_store_si512(state[1], ADD(b, _mm512_load_si512(state[1])));
	_mm512_store_si512(state[2], ADD(c, _mm512_load_si512(state[2])));
	_mm512_store_si512(state[3], ADD(d, _mm512_load_si512(state[3])));
	_mm512_store_si512(state[4], ADD(e, _mm512_load_si512(state[4])));
	_mm512_store_si512(state[5], ADD(f, _mm512_load_si512(state[5])));
	_mm512_store_si512(state[6], ADD(g, _mm512_load_si512(state[6])));
	_mm512_store_si512(state[7], ADD(h, _mm512_load_si512(state[7])));
}

/* ---- lanes ---- */

typedef struct lane {
	gw_op *op; /* NULL: idle */
	uint32_t span;
	size_t at;              /* in that span */
	size_t whole;           /* blocks of the message still to come */
	uint32_t last, last_at; /* blocks in buf, and which is next */
	bool outer;             /* buf holds HMAC's outer block */
	uint64_t total;         /* bytes of the message */
	uint8_t buf[2 * BLOCK] __attribute__((aligned(64)));
} lane;

typedef struct lanes {
	uint64_t state[8][LANES] __attribute__((aligned(64)));
	lane lane[LANES];
	bool hmac;
} lanes;

static void take(lane *l, uint8_t *to, size_t n)
{
	while (n > 0) {
		const gw_span *s = &l->op->in[l->span];
		const size_t m = s->len - l->at < n ? s->len - l->at : n;
		if (m > 0) memcpy(to, s->data + l->at, m);
		to += m, n -= m, l->at += m;
		if (l->at == s->len) l->span++, l->at = 0;
	}
}

/* Padding behind `used` bytes of buf (FIPS 180-4 5.1.2); total: the hashed message, key block included. */
static void pad(lane *l, size_t used, uint64_t total)
{
	l->last = used + 17 <= BLOCK ? 1 : 2;
	l->last_at = 0;
	memset(l->buf + used, 0, BLOCK * l->last - used);
	l->buf[used] = 0x80;
	gw_store_be64(l->buf + BLOCK * l->last - 8, total << 3);
	l->buf[BLOCK * l->last - 9] = (uint8_t)(total >> 61);
}

static void set_state(lanes *s, uint32_t i, const uint64_t *words)
{
	for (int j = 0; j < 8; j++) s->state[j][i] = words[j];
}

static void begin(lanes *s, uint32_t i, gw_op *op)
{
	lane *l = &s->lane[i];
	const gw_hmac_ctx *key = (const gw_hmac_ctx *)op->mac_key;
	l->op = op;
	l->span = 0, l->at = 0;
	l->last = 0;
	l->outer = false;
	l->total = 0;
	for (uint32_t j = 0; j < op->n_in; j++) l->total += op->in[j].len;
	l->whole = l->total / BLOCK;
	set_state(s, i, s->hmac ? key->inner.w64 : (const uint64_t *)gw_sha512_md.iv);
}

static const uint8_t *next_block(lanes *s, uint32_t i)
{
	lane *l = &s->lane[i];
	if (l->whole > 0) {
		l->whole--;
		while (l->at == l->op->in[l->span].len) l->span++, l->at = 0;
		const gw_span *in = &l->op->in[l->span];
		if (in->len - l->at >= BLOCK) {
			const uint8_t *p = in->data + l->at;
			l->at += BLOCK;
			return p;
		}
		take(l, l->buf, BLOCK);
		return l->buf;
	}
	if (l->last == 0) {
		size_t used = l->total % BLOCK;
		uint64_t total = l->total + (s->hmac ? BLOCK : 0);
		take(l, l->buf, used);
		if (l->op->flags & GW_OP_ESN) {
			memcpy(l->buf + used, l->op->esn, 4);
			used += 4, total += 4;
		}
		pad(l, used, total);
	}
	return l->buf + BLOCK * l->last_at++;
}

/* After a block. True: the op is done. */
static bool ended(lanes *s, uint32_t i)
{
	lane *l = &s->lane[i];
	if (l->last == 0 || l->last_at < l->last) return false;
	if (s->hmac && !l->outer) {
		for (int j = 0; j < 8; j++) gw_store_be64(l->buf + 8 * j, s->state[j][i]);
		set_state(s, i, ((const gw_hmac_ctx *)l->op->mac_key)->outer.w64);
		pad(l, 64, BLOCK + 64);
		l->outer = true;
		return false;
	}
	uint8_t digest[64];
	for (int j = 0; j < 8; j++) gw_store_be64(digest + 8 * j, s->state[j][i]);
	memcpy(l->op->tag, digest, l->op->tag_len);
	return true;
}

static void run(gw_op *ops, size_t n, bool hmac)
{
	static const uint8_t nothing[BLOCK]; /* what idle lanes hash */
	lanes s;
	const uint8_t *data[LANES];
	gw_op *const end = ops + n;
	uint32_t busy = 0;

	s.hmac = hmac;
	memset(s.state, 0, sizeof s.state);
	for (uint32_t i = 0; i < LANES; i++) {
		s.lane[i].op = NULL;
		if (ops < end) begin(&s, i, ops++), busy++;
	}
	while (busy > 0) {
		for (uint32_t i = 0; i < LANES; i++) data[i] = s.lane[i].op != NULL ? next_block(&s, i) : nothing;
		compress8(s.state, data);
		for (uint32_t i = 0; i < LANES; i++) {
			if (s.lane[i].op == NULL || !ended(&s, i)) continue;
			s.lane[i].op = NULL;
			if (ops < end)
				begin(&s, i, ops++);
			else
				busy--;
		}
	}
}

/* ---- rows ---- */

/* One packet alone is faster by scalar code. */
static void hash(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hash(&gw_sha512_md, ops, n);
	else
		run(ops, n, false);
}
static void hmac(gw_op *ops, size_t n)
{
	if (n == 1)
		gw_md_hmac(&gw_sha512_md, ops, n);
	else
		run(ops, n, true);
}
static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_md_hmac_setkey(&gw_sha512_md, (gw_hmac_ctx *)ctx, key, len);
}

const gw_impl gw_impl_sha512_avx512 = {
	.alg = "sha512",
	.driver = "sha512-avx512/gwbench",
	.tag = "avx512",
	.isa = "x86-64 AVX-512, 8 packets abreast",
	.kind = GW_KIND_HASH,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_AVX2 | GW_CPU_AVX512,
	.batch_hint = LANES,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha512_avx512 = {
	.alg = "hmac(sha512)",
	.driver = "hmac-sha512-avx512/gwbench",
	.tag = "avx512",
	.isa = "x86-64 AVX-512, 8 packets abreast",
	.kind = GW_KIND_MAC,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_AVX2 | GW_CPU_AVX512,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = LANES,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};
#endif
