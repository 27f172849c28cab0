/* SPDX-License-Identifier: MIT
 * AES-GCM (SP 800-38D) with VAES and VPCLMULQDQ on 256-bit registers: Zen 3, and Intel's cores without AVX-512.
 *
 * The grid is gcm_vaes.c's: two blocks in front of the data, of which the second has J0 as its counter block and the
 * AAD as its place in GHASH, and the length block behind the data. Two blocks a register; a group is eight registers.
 * Spans but the last are multiples of 64 bytes and the lead is 32, so that no register ever lies in two spans.
 *
 * Groups are hashed lane by lane with H^16, H^14, ... H^2, one reduction a group: sealing hashes the group before,
 * opening the one that is about to be decrypted. The last 2 to 17 blocks get the powers of their true positions.
 */
#if defined(__x86_64__)
#include "aes_vaes256.h"
#include "ghash_x86.h"

#define LEAD   32
#define GROUP  256
#define POWERS 18

typedef struct gcm_key {
	uint8_t rk[15][16];
	uint32_t rounds;
	uint32_t pad[3];
	uint8_t power[POWERS + 2][16]; /* power[i] = H^(18 - i), times x; then zeros that a last lane may read */
} __attribute__((aligned(64))) gcm_key;

GW_TARGET_VAES256 static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	k->rounds = gw_aes_x86_expand(k->rk, key, len);
	if (k->rounds == 0) return -EINVAL;
	const __m128i h = gw_ghash_key128(gw_aesni_encrypt1(k->rk, k->rounds, _mm_setzero_si128()));
	__m128i p = h;
	for (int i = POWERS - 1; i >= 0; i--, p = gw_ghash_mul128(p, h)) gw_store128(k->power[i], p);
	memset(k->power[POWERS], 0, 32);
	return 0;
}

/* ---- the pieces ---- */

typedef struct sums { /* unreduced products: LO + MI x^64 + HI x^128, in each lane */
	__m256i lo, mi, hi;
} sums;

GW_INLINE GW_TARGET_VAES256 sums no_sums(void)
{
	return (sums){_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
}

/* The middle one after Karatsuba, less the other two until reduce(): on Zen 3 a multiplication takes two cycles and is
 * what packets wait for, while additions find a free unit. */
GW_INLINE GW_TARGET_VAES256 sums add_product(sums s, __m256i a, __m256i h)
{
	const __m256i fa = _mm256_xor_si256(a, _mm256_shuffle_epi32(a, 0x4e));
	const __m256i fh = _mm256_xor_si256(h, _mm256_shuffle_epi32(h, 0x4e));
	s.lo = _mm256_xor_si256(s.lo, _mm256_clmulepi64_epi128(a, h, 0x00));
	s.hi = _mm256_xor_si256(s.hi, _mm256_clmulepi64_epi128(a, h, 0x11));
	s.mi = _mm256_xor_si256(s.mi, _mm256_clmulepi64_epi128(fa, fh, 0x00));
	return s;
}

GW_INLINE GW_TARGET_VAES256 __m256i reduce(sums s)
{
	const __m256i poly = _mm256_set1_epi64x((long long)GW_GHASH_POLY);
	s.mi = _mm256_xor_si256(s.mi, _mm256_xor_si256(s.lo, s.hi));
	const __m256i mi = _mm256_xor_si256(
		s.mi, _mm256_xor_si256(_mm256_shuffle_epi32(s.lo, 0x4e), _mm256_clmulepi64_epi128(s.lo, poly, 0x00)));
	return _mm256_xor_si256(s.hi,
							_mm256_xor_si256(_mm256_shuffle_epi32(mi, 0x4e), _mm256_clmulepi64_epi128(mi, poly, 0x00)));
}

GW_INLINE GW_TARGET_VAES256 __m256i reverse(__m256i v)
{
	return _mm256_shuffle_epi8(
		v, _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}

/* Exchanges the last word of each block between native order and network order. */
GW_INLINE GW_TARGET_VAES256 __m256i swap_counter(__m256i v)
{
	return _mm256_shuffle_epi8(
		v, _mm256_broadcastsi128_si256(_mm_set_epi8(12, 13, 14, 15, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)));
}

/* n of the 32 bytes, the others zero; ESP's lengths are multiples of four. */
GW_INLINE GW_TARGET_VAES256 __m256i words_mask(size_t n)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n / 4)), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

GW_INLINE GW_TARGET_VAES256 __m256i load_part(const uint8_t *p, size_t n)
{
	if (__builtin_expect(n % 4 == 0, 1)) return _mm256_maskload_epi32((const int *)(const void *)p, words_mask(n));
	uint8_t b[32] = {0};
	memcpy(b, p, n);
	return gw_load256(b);
}

/* Stores n of the 32 bytes. VPMASKMOVD's store is microcode on the cores that run this. */
GW_INLINE GW_TARGET_VAES256 void store_part(uint8_t *p, size_t n, __m256i v)
{
	__m128i w = _mm256_castsi256_si128(v);
	if (n & 16) {
		gw_store128(p, w);
		w = _mm256_extracti128_si256(v, 1);
		p += 16;
	}
	if (n & 8) {
		_mm_storel_epi64((__m128i *)(void *)p, w);
		w = _mm_srli_si128(w, 8);
		p += 8;
	}
	if (n & 4) {
		const int word = _mm_cvtsi128_si32(w);
		memcpy(p, &word, 4);
		w = _mm_srli_si128(w, 4);
		p += 4;
	}
	const uint32_t last = (uint32_t)_mm_cvtsi128_si32(w);
	for (size_t i = 0; i < (n & 3); i++) p[i] = (uint8_t)(last >> 8 * i);
}

GW_INLINE GW_TARGET_VAES256 __m256i first_bytes(__m256i v, size_t n)
{
	const __m256i at = _mm256_set_epi8(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
									   11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
	return _mm256_and_si256(v, _mm256_cmpgt_epi8(_mm256_set1_epi8((char)n), at));
}

/* ---- a packet ---- */

typedef struct packet {
	const gcm_key *k;
	const gw_op *op;
	const uint8_t *base; /* of the current span, less its first stream byte */
	size_t span_end;     /* its end, in stream bytes */
	uint32_t next;       /* span after it */
	bool aligned;        /* the first counter's last four bits are zero */
	uint8_t *out;        /* less LEAD: by stream byte */
	size_t end;          /* in stream bytes: LEAD + data */
	__m256i counter;     /* of the next group's first block, last word in native order, in each lane */
	__m256i head;        /* GHASH's first two blocks: nothing, and the AAD with what came before it; byte-reversed */
	__m256i acc;         /* GHASH so far, in two lanes */
	__m128i mask;        /* E(J0) */
	__m128i lengths;     /* byte-reversed */
} packet;

/* Where the register at stream byte `at` is read. */
GW_INLINE const uint8_t *input(packet *p, size_t at)
{
	while (__builtin_expect(at >= p->span_end && p->next < p->op->n_in, 0)) {
		const gw_span *s = &p->op->in[p->next++];
		p->base = (const uint8_t *)((uintptr_t)s->data - p->span_end);
		p->span_end += s->len;
	}
	return (const uint8_t *)((uintptr_t)p->base + at);
}

/* A group's 256 bytes: where they are, or copied when they lie in several spans. skip: registers in front, no data. */
GW_INLINE GW_TARGET_VAES256 const uint8_t *group_input(packet *p, size_t at, size_t skip, uint8_t copy[GROUP])
{
	const uint8_t *in = (const uint8_t *)((uintptr_t)input(p, at + 32 * skip) - 32 * skip);
	if (__builtin_expect(at + GROUP <= p->span_end, 1)) return in;
	for (size_t i = skip; i < 8; i++) gw_store256(copy + 32 * i, gw_load256(input(p, at + 32 * i)));
	return copy;
}

/* Block 2 i and 2 i + 1 of a group: their number as last word in native order. */
GW_INLINE GW_TARGET_VAES256 __m256i numbers(int i)
{
	return _mm256_set_epi32(2 * i + 1, 0, 0, 0, 2 * i, 0, 0, 0);
}

GW_INLINE GW_TARGET_VAES256 __m256i advance(__m256i counter, int blocks)
{
	return _mm256_add_epi32(counter, _mm256_set_epi32(blocks, 0, 0, 0, blocks, 0, 0, 0));
}

GW_INLINE GW_TARGET_VAES256 void begin(packet *p, const gw_op *op, size_t len)
{
	const gcm_key *k = (const gcm_key *)op->key;
	const __m128i h = gw_key128(k->power[POWERS - 1]);
	__m128i j0, aad;

	p->k = k;
	p->op = op;
	p->base = (const uint8_t *)((uintptr_t)op->in[0].data - LEAD);
	p->span_end = LEAD + (op->n_in > 0 ? op->in[0].len : 0);
	p->next = 1;
	p->out = (uint8_t *)((uintptr_t)op->out - LEAD);
	p->end = len + LEAD;
	p->aligned = op->iv_len == 12;
	if (__builtin_expect(p->aligned, 1)) {
		int last;
		memcpy(&last, op->iv + 8, 4);
		j0 = _mm_insert_epi32(_mm_loadl_epi64((const __m128i *)(const void *)op->iv), last, 2);
	} else {
		j0 = gw_gcm_hashed_iv(h, op->iv, op->iv_len);
		j0 = _mm256_castsi256_si128(swap_counter(_mm256_castsi128_si256(j0)));
		j0 = _mm_sub_epi32(j0, _mm_set_epi32(1, 0, 0, 0)); /* of block 0 */
	}
	p->counter = _mm256_broadcastsi128_si256(j0);
	p->lengths = _mm_set_epi64x((long long)(8 * (uint64_t)op->aad_len), (long long)(8 * (uint64_t)len));
	p->acc = _mm256_setzero_si256();
	p->mask = _mm_setzero_si128(); /* until the first register; compilers cannot see that there is one */

	if (__builtin_expect(op->aad_len == 8, 1)) { /* SPI and sequence number */
		aad = gw_reverse128(_mm_loadl_epi64((const __m128i *)(const void *)op->aad));
	} else {
		const size_t before = op->aad_len == 0 ? 0 : (op->aad_len - 1) & ~(size_t)15;
		aad = gw_ghash_bytes128(h, _mm_setzero_si128(), op->aad, before);
		aad = _mm_xor_si128(aad, gw_reverse128(gw_load_part128(op->aad + before, op->aad_len - before)));
	}
	p->head = _mm256_inserti128_si256(_mm256_setzero_si256(), aad, 1);
}

/* Register i of the group behind (or, when opening, of this one) into GHASH. */
#define HASH(i)                                                                                                        \
	do {                                                                                                               \
		const __m256i b_ = (i) == 0 && hashes_head ? p->head : reverse(gw_load256(hashed + 32 * (i)));                 \
		s = add_product(s, (i) == 0 ? _mm256_xor_si256(b_, p->acc) : b_, gw_key256(k->power[POWERS - 16 + 2 * (i)]));  \
	} while (0)
#define ROUND(r)                                                                                                       \
	do {                                                                                                               \
		const __m256i key_ = gw_key256(k->rk[r]);                                                                      \
		GW_UNROLL for (int j = 0; j < 8; j++) v[j] = _mm256_aesenc_epi128(v[j], key_);                                 \
	} while (0)

/* Sixteen whole blocks. hashed: the group that goes through GHASH meanwhile, if `hashes`. */
GW_INLINE GW_TARGET_VAES256 void group(packet *p, size_t at, const uint8_t *in, bool first, bool hashes,
									   bool hashes_head, const uint8_t *hashed)
{
	const gcm_key *k = p->k;
	const __m256i key = gw_key256(k->rk[0]);
	__m256i v[8];
	sums s = no_sums();

	if (__builtin_expect(p->aligned, 1)) { /* within 16 blocks the counter is an XOR */
		const __m256i base = _mm256_xor_si256(swap_counter(p->counter), key);
		GW_UNROLL for (int i = 0; i < 8; i++) v[i] = _mm256_xor_si256(base, swap_counter(numbers(i)));
	} else {
		GW_UNROLL for (int i = 0; i < 8; i++) v[i] =
			_mm256_xor_si256(swap_counter(_mm256_add_epi32(p->counter, numbers(i))), key);
	}
	p->counter = advance(p->counter, 16);
	GW_UNROLL for (int r = 1; r <= 8; r++)
	{
		ROUND(r);
		if (hashes) HASH(r - 1);
	}
	ROUND(9);
	if (hashes) p->acc = reduce(s);
	if (k->rounds > 10) {
		ROUND(10);
		ROUND(11);
	}
	if (k->rounds > 12) {
		ROUND(12);
		ROUND(13);
	}
	const __m256i last = gw_key256(k->rk[k->rounds]);
	uint8_t *out = (uint8_t *)((uintptr_t)p->out + at);
	GW_UNROLL for (int i = 0; i < 8; i++)
	{
		v[i] = _mm256_aesenclast_epi128(v[i], last);
		if (first && i == 0)
			p->mask = _mm256_extracti128_si256(v[0], 1);
		else
			gw_store256(out + 32 * i, _mm256_xor_si256(v[i], gw_load256(in + 32 * i)));
	}
}

GW_INLINE GW_TARGET_VAES256 void hash_group(packet *p, bool hashes_head, const uint8_t *hashed)
{
	const gcm_key *k = p->k;
	sums s = no_sums();
	GW_UNROLL for (int i = 0; i < 8; i++) HASH(i);
	p->acc = reduce(s);
}

/* n registers of the last blocks; position: of their first block, from the end, as a power. */
GW_INLINE GW_TARGET_VAES256 sums tail_part(packet *p, sums s, size_t at, uint32_t position, bool seal, bool first,
										   const int n)
{
	const gcm_key *k = p->k;
	const uint8_t *power = k->power[POWERS - position];
	const __m256i key = gw_key256(k->rk[0]);
	__m256i v[4];

	GW_UNROLL for (int i = 0; i < n; i++) v[i] =
		_mm256_xor_si256(swap_counter(_mm256_add_epi32(p->counter, numbers(i))), key);
	p->counter = advance(p->counter, 2 * n);
	for (uint32_t r = 1; r < k->rounds; r++) {
		const __m256i rk = gw_key256(k->rk[r]);
		GW_UNROLL for (int i = 0; i < n; i++) v[i] = _mm256_aesenc_epi128(v[i], rk);
	}
	GW_UNROLL for (int i = 0; i < n; i++)
	{
		__m256i hashed = _mm256_setzero_si256();
		v[i] = _mm256_aesenclast_epi128(v[i], gw_key256(k->rk[k->rounds]));
		const size_t here = at + 32 * (size_t)i;
		if (i == 0 && first) {
			p->mask = _mm256_extracti128_si256(v[0], 1);
			hashed = p->head;
		} else if (here + 32 <= p->end) {
			const __m256i x = gw_load256(input(p, here)), y = _mm256_xor_si256(v[i], x);
			gw_store256((uint8_t *)((uintptr_t)p->out + here), y);
			hashed = reverse(seal ? y : x);
		} else if (here < p->end) {
			const size_t left = p->end - here;
			const __m256i x = load_part(input(p, here), left), y = _mm256_xor_si256(v[i], x);
			store_part((uint8_t *)((uintptr_t)p->out + here), left, y);
			hashed = reverse(seal ? first_bytes(y, left) : x);
		}
		if (i == 0) hashed = _mm256_xor_si256(hashed, p->acc);
		const uint32_t from_end =
			position - 2 * (uint32_t)i; /* of this register's first block; 1 is the length block */
		if (from_end == 1)
			hashed = _mm256_xor_si256(hashed, _mm256_inserti128_si256(_mm256_setzero_si256(), p->lengths, 0));
		if (from_end == 2)
			hashed = _mm256_xor_si256(hashed, _mm256_inserti128_si256(_mm256_setzero_si256(), p->lengths, 1));
		s = add_product(s, hashed, gw_load256(power + 32 * i));
	}
	p->acc = _mm256_setzero_si256();
	return s;
}

/* The last blocks of the stream, the length block included. Returns GHASH's result, byte-reversed. Each number of
 * registers is compiled once, `first` or not: twice was 40 KB of code. */
GW_INLINE GW_TARGET_VAES256 __m128i tail(packet *p, size_t at, int32_t blocks, bool seal, bool first)
{
	sums s = no_sums();
	for (; blocks > 6; blocks -= 8, at += 128, first = false) s = tail_part(p, s, at, (uint32_t)blocks, seal, first, 4);
	switch ((blocks + 1) / 2) {
	case 1: s = tail_part(p, s, at, (uint32_t)blocks, seal, first, 1); break;
	case 2: s = tail_part(p, s, at, (uint32_t)blocks, seal, first, 2); break;
	case 3: s = tail_part(p, s, at, (uint32_t)blocks, seal, first, 3); break;
	default: break;
	}
	const __m256i y = reduce(s);
	return _mm_xor_si128(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
}

/* Encrypts or decrypts all of it; returns the tag. */
GW_INLINE GW_TARGET_VAES256 __m128i run(const gw_op *op, size_t len, bool seal)
{
	size_t at = 0, blocks = (len + 15) / 16 + LEAD / 16 + 1;
	uint8_t copy[GROUP] __attribute__((aligned(32)));
	packet p;

	begin(&p, op, len);
	if (blocks >= POWERS) {
		const uint8_t *in = group_input(&p, 0, 1, copy);
		group(&p, 0, in, true, !seal, true, in);
		for (at = GROUP, blocks -= 16; blocks >= POWERS; at += GROUP, blocks -= 16) {
			in = group_input(&p, at, 0, copy);
			const uint8_t *behind = (const uint8_t *)((uintptr_t)p.out + at - GROUP);
			if (!seal)
				group(&p, at, in, false, true, false, in);
			else if (at == GROUP)
				group(&p, at, in, false, true, true, behind);
			else
				group(&p, at, in, false, true, false, behind);
		}
		if (seal) hash_group(&p, at == GROUP, (const uint8_t *)((uintptr_t)p.out + at - GROUP));
	}
	const __m128i y = tail(&p, at, (int32_t)blocks, seal, at == 0);
	return _mm_xor_si128(gw_reverse128(y), p.mask);
}

GW_TARGET_VAES256 static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const __m128i y = run(ops, gw_op_len(ops), true);
		if (__builtin_expect(ops->tag_len == 16, 1)) {
			gw_store128(ops->tag, y);
		} else {
			uint8_t tag[16];
			gw_store128(tag, y);
			memcpy(ops->tag, tag, ops->tag_len);
		}
		ops->status = 0;
	}
}

GW_TARGET_VAES256 static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		const size_t len = gw_op_len(ops);
		const __m128i y = run(ops, len, false);
		bool equal;
		if (__builtin_expect(ops->tag_len == 16, 1)) {
			equal = _mm_movemask_epi8(_mm_cmpeq_epi8(y, gw_load128(ops->tag))) == 0xffff;
		} else {
			uint8_t tag[16];
			gw_store128(tag, y);
			equal = gw_equal_ct(tag, ops->tag, ops->tag_len);
		}
		ops->status = equal ? 0 : -EBADMSG;
		if (ops->status != 0) gw_wipe(ops->out, len);
	}
}

const gw_impl gw_impl_gcm_aes_vaes256 = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-vaes256/gwbench",
	.tag = "vaes256",
	.isa = "x86-64 VAES, VPCLMULQDQ, AVX2",
	.kind = GW_KIND_AEAD,
	.priority = 350,
	.constant_time = true,
	.cpu_needs = GW_NEEDS_VAES256 | GW_CPU_PCLMUL | GW_CPU_VPCLMUL,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = gcm_setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#endif
