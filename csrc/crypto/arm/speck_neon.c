/* SPDX-License-Identifier: MIT
 * Speck128/256 and Speck64/128 (Beaulieu and others, 2013) in XTS mode on NEON, for benchmarks only: 128 bytes at a
 * time, as four pairs of registers. Formats are those of the generic code (generic/speck.c).
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "../block.h"
#include "../impl.h"
#include "../spans.h"

#define ROUNDS64    27
#define ROUNDS128   34
#define GROUP_BYTES 128

/* ---- words: one at a time, and in pairs of registers ----------------------------------------------------------- */

#define ROR32(v, n)     ((v) >> (n) | (v) << (32 - (n)))
#define ROR64(v, n)     ((v) >> (n) | (v) << (64 - (n)))
#define ENC32(x, y, k)  (x = (ROR32(x, 8) + y) ^ (k), y = ROR32(y, 29) ^ x)
#define DEC32(x, y, k)  (y = ROR32(y ^ x, 3), x = ROR32((x ^ (k)) - y, 24))
#define ENC64(x, y, k)  (x = (ROR64(x, 8) + y) ^ (k), y = ROR64(y, 61) ^ x)
#define DEC64(x, y, k)  (y = ROR64(y ^ x, 3), x = ROR64((x ^ (k)) - y, 56))
#define VROR32(v, n)    vsliq_n_u32(vshrq_n_u32(v, n), v, 32 - (n))
#define VROR64(v, n)    vsliq_n_u64(vshrq_n_u64(v, n), v, 64 - (n))
#define VENC32(x, y, k) (x = veorq_u32(vaddq_u32(VROR32(x, 8), y), k), y = veorq_u32(VROR32(y, 29), x))
#define VENC64(x, y, k) (x = veorq_u64(vaddq_u64(VROR64(x, 8), y), k), y = veorq_u64(VROR64(y, 61), x))
#define VDEC32(x, y, k) (y = veorq_u32(y, x), y = VROR32(y, 3), x = vsubq_u32(veorq_u32(x, k), y), x = VROR32(x, 24))
#define VDEC64(x, y, k) (y = veorq_u64(y, x), y = VROR64(y, 3), x = vsubq_u64(veorq_u64(x, k), y), x = VROR64(x, 56))

typedef struct speck64_key {
	uint32_t data[ROUNDS64], tweak[ROUNDS64];
} speck64_key;

typedef struct speck128_key {
	uint64_t data[ROUNDS128][2] __attribute__((aligned(16))); /* each twice: a register */
	uint64_t tweak[ROUNDS128];
} speck128_key;

static int setkey64(void *ctx, const uint8_t *key, size_t len)
{
	speck64_key *k = (speck64_key *)ctx;
	if (len != 32) return -EINVAL;
	for (int half = 0; half < 2; half++) {
		uint32_t *rk = half ? k->tweak : k->data, l[3], y;
		memcpy(&y, key + 16 * half, 4);
		memcpy(l, key + 16 * half + 4, 12);
		for (uint32_t i = 0; i < ROUNDS64; i++) {
			rk[i] = y;
			ENC32(l[i % 3], y, i);
		}
	}
	return 0;
}

static int setkey128(void *ctx, const uint8_t *key, size_t len)
{
	speck128_key *k = (speck128_key *)ctx;
	if (len != 64) return -EINVAL;
	for (int half = 0; half < 2; half++) {
		uint64_t l[3], y;
		memcpy(&y, key + 32 * half, 8);
		memcpy(l, key + 32 * half + 8, 24);
		for (uint64_t i = 0; i < ROUNDS128; i++) {
			if (half)
				k->tweak[i] = y;
			else
				k->data[i][0] = k->data[i][1] = y;
			ENC64(l[i % 3], y, i);
		}
	}
	return 0;
}

/* ---- groups: out = E(in ^ tweaks) ^ tweaks, 128 bytes each ----------------------------------------------------- */

/* By bytes: a pointer to words would promise an alignment. */
static inline uint64x2_t load(const uint8_t *p)
{
	return vreinterpretq_u64_u8(vld1q_u8(p));
}
static inline void store(uint8_t *p, uint64x2_t v)
{
	vst1q_u8(p, vreinterpretq_u8_u64(v));
}

/* Blocks of 16 bytes are (y, x): halves of two blocks make a register of y and one of x. */
#define PAIR128(i)                                                                                                     \
	const uint64x2_t a##i = veorq_u64(load(in + 32 * i), t[2 * i]);                                                    \
	const uint64x2_t b##i = veorq_u64(load(in + 32 * i + 16), t[2 * i + 1]);                                           \
	uint64x2_t y##i = vcombine_u64(vget_low_u64(a##i), vget_low_u64(b##i));                                            \
	uint64x2_t x##i = vcombine_u64(vget_high_u64(a##i), vget_high_u64(b##i))
#define UNPAIR128(i)                                                                                                   \
	store(out + 32 * i, veorq_u64(vcombine_u64(vget_low_u64(y##i), vget_low_u64(x##i)), t[2 * i]));                    \
	store(out + 32 * i + 16, veorq_u64(vcombine_u64(vget_high_u64(y##i), vget_high_u64(x##i)), t[2 * i + 1]))
#define ALL(f)                                                                                                         \
	f(0);                                                                                                              \
	f(1);                                                                                                              \
	f(2);                                                                                                              \
	f(3)

static __attribute__((noinline)) void encrypt128(const uint64_t (*rk)[2], const uint64x2_t t[8], uint8_t *out,
												 const uint8_t *in)
{
	ALL(PAIR128);
	for (int i = 0; i < ROUNDS128; i++, rk++) {
		const uint64x2_t k = vld1q_u64(*rk);
#define ROUND(j) VENC64(x##j, y##j, k)
		ALL(ROUND);
#undef ROUND
	}
	ALL(UNPAIR128);
}

static __attribute__((noinline)) void decrypt128(const uint64_t (*rk)[2], const uint64x2_t t[8], uint8_t *out,
												 const uint8_t *in)
{
	ALL(PAIR128);
	rk += ROUNDS128;
	for (int i = 0; i < ROUNDS128; i++) {
		const uint64x2_t k = vld1q_u64(*--rk);
#define ROUND(j) VDEC64(x##j, y##j, k)
		ALL(ROUND);
#undef ROUND
	}
	ALL(UNPAIR128);
}

/* Blocks of 8 bytes are (y, x): every second word. */
#define WORDS(p)    vreinterpretq_u32_u64(load(p))
#define TWEAK(i)    vreinterpretq_u32_u64(t[i])
#define STORE(p, v) store(p, vreinterpretq_u64_u32(v))
#define PAIR64(i)                                                                                                      \
	const uint32x4x2_t u##i =                                                                                          \
		vuzpq_u32(veorq_u32(WORDS(in + 32 * i), TWEAK(2 * i)), veorq_u32(WORDS(in + 32 * i + 16), TWEAK(2 * i + 1)));  \
	uint32x4_t y##i = u##i.val[0], x##i = u##i.val[1]
#define UNPAIR64(i)                                                                                                    \
	do {                                                                                                               \
		const uint32x4x2_t z = vzipq_u32(y##i, x##i);                                                                  \
		STORE(out + 32 * i, veorq_u32(z.val[0], TWEAK(2 * i)));                                                        \
		STORE(out + 32 * i + 16, veorq_u32(z.val[1], TWEAK(2 * i + 1)));                                               \
	} while (0)

static __attribute__((noinline)) void encrypt64(const uint32_t *rk, const uint64x2_t t[8], uint8_t *out,
												const uint8_t *in)
{
	ALL(PAIR64);
	for (int i = 0; i < ROUNDS64; i++, rk++) {
		const uint32x4_t k = vld1q_dup_u32(rk);
#define ROUND(j) VENC32(x##j, y##j, k)
		ALL(ROUND);
#undef ROUND
	}
	ALL(UNPAIR64);
}

static __attribute__((noinline)) void decrypt64(const uint32_t *rk, const uint64x2_t t[8], uint8_t *out,
												const uint8_t *in)
{
	ALL(PAIR64);
	rk += ROUNDS64;
	for (int i = 0; i < ROUNDS64; i++) {
		const uint32x4_t k = vld1q_dup_u32(--rk);
#define ROUND(j) VDEC32(x##j, y##j, k)
		ALL(ROUND);
#undef ROUND
	}
	ALL(UNPAIR64);
}

/* ---- tweaks ---------------------------------------------------------------------------------------------------- */

/* The tweaks of eight blocks, and the next into tweak. */
static void tweaks128(uint64x2_t t[8], uint64x2_t *tweak)
{
	const uint64x2_t poly = vcombine_u64(vcreate_u64(1), vcreate_u64(0x87));
	uint64x2_t v = *tweak;
	for (int i = 0; i < 8; i++) {
		t[i] = v;
		const uint64x2_t carry = vreinterpretq_u64_s64(vshrq_n_s64(vreinterpretq_s64_u64(v), 63));
		const uint64x2_t back = vandq_u64(carry, poly);
		v = veorq_u64(vaddq_u64(v, v), vextq_u64(back, back, 1));
	}
	*tweak = v;
}

/* The tweaks of sixteen blocks of 8 bytes (modulo x^64 + x^4 + x^3 + x + 1), and the next into tweak's low half. Two
 * lie in a register; both double twice a step, and the two bits that leave are multiplied by 0x1b by look-up. */
static void tweaks64(uint64x2_t t[8], uint64x2_t *tweak)
{
	const uint8x8_t times_1b = vcreate_u8(0x2d361b00);
	const uint64x1_t first = vget_low_u64(*tweak);
	const uint64x1_t carry = vshr_n_u64(first, 63);
	const uint64x1_t once = vreinterpret_u64_u8(vtbl1_u8(times_1b, vreinterpret_u8_u64(carry)));
	uint64x2_t v = vcombine_u64(first, veor_u64(vshl_n_u64(first, 1), once));
	for (int i = 0; i < 8; i++) {
		t[i] = v;
		const uint8x16_t top = vreinterpretq_u8_u64(vshrq_n_u64(v, 62));
		const uint8x16_t back =
			vcombine_u8(vtbl1_u8(times_1b, vget_low_u8(top)), vtbl1_u8(times_1b, vget_high_u8(top)));
		v = veorq_u64(vshlq_n_u64(v, 2), vreinterpretq_u64_u8(back));
	}
	*tweak = v;
}

/* ---- XTS over either width ------------------------------------------------------------------------------------- */

typedef struct request {
	const void *key;
	size_t bytes; /* of a block: 8 or 16 */
	bool decrypt;
	uint64x2_t tweak; /* of the next block; of 8 bytes: the low half */
} request;

static void group(request *r, uint8_t *out, const uint8_t *in)
{
	uint64x2_t t[8];
	if (r->bytes == 16) {
		const speck128_key *k = (const speck128_key *)r->key;
		tweaks128(t, &r->tweak);
		(r->decrypt ? decrypt128 : encrypt128)(k->data, t, out, in);
	} else {
		const speck64_key *k = (const speck64_key *)r->key;
		tweaks64(t, &r->tweak);
		(r->decrypt ? decrypt64 : encrypt64)(k->data, t, out, in);
	}
}

/* A few blocks, fewer than a group. */
static void few(request *r, uint8_t *out, const uint8_t *in, size_t len)
{
	for (; len > 0; in += r->bytes, out += r->bytes, len -= r->bytes) {
		uint64_t t[2], y, x;
		vst1q_u64(t, r->tweak);
		if (r->bytes == 16) {
			const speck128_key *k = (const speck128_key *)r->key;
			uint64_t b[2];
			memcpy(b, in, 16);
			y = b[0] ^ t[0], x = b[1] ^ t[1];
			if (r->decrypt)
				for (int i = ROUNDS128 - 1; i >= 0; i--) DEC64(x, y, k->data[i][0]);
			else
				for (int i = 0; i < ROUNDS128; i++) ENC64(x, y, k->data[i][0]);
			b[0] = y ^ t[0], b[1] = x ^ t[1];
			memcpy(out, b, 16);
			gw_xts_next((uint8_t *)t);
		} else {
			const speck64_key *k = (const speck64_key *)r->key;
			uint32_t b[2], v, w;
			memcpy(b, in, 8);
			v = b[0] ^ (uint32_t)t[0], w = b[1] ^ (uint32_t)(t[0] >> 32);
			if (r->decrypt)
				for (int i = ROUNDS64 - 1; i >= 0; i--) DEC32(w, v, k->data[i]);
			else
				for (int i = 0; i < ROUNDS64; i++) ENC32(w, v, k->data[i]);
			b[0] = v ^ (uint32_t)t[0], b[1] = w ^ (uint32_t)(t[0] >> 32);
			memcpy(out, b, 8);
			t[0] = t[0] << 1 ^ (0x1b & (0 - (t[0] >> 63)));
		}
		r->tweak = vld1q_u64(t);
	}
}

static void start(request *r, const gw_op *op)
{
	uint64_t t[2] = {0};
	memcpy(t, op->iv, r->bytes);
	if (r->bytes == 16) {
		const uint64_t *rk = ((const speck128_key *)r->key)->tweak;
		for (int i = 0; i < ROUNDS128; i++) ENC64(t[1], t[0], rk[i]);
	} else {
		const uint32_t *rk = ((const speck64_key *)r->key)->tweak;
		uint32_t y = (uint32_t)t[0], x = (uint32_t)(t[0] >> 32);
		for (int i = 0; i < ROUNDS64; i++) ENC32(x, y, rk[i]);
		t[0] = (uint64_t)x << 32 | y;
	}
	r->tweak = vld1q_u64(t);
}

/* The last whole block and the part after it: ciphertext stealing (IEEE 1619, 5.3.2 and 5.4.2). */
static void steal(request *r, uint8_t *out, const uint8_t *last, size_t tail)
{
	uint8_t full[16], cut[16], none[16] = {0};
	const uint64x2_t this = r->tweak;
	few(r, cut, none, r->bytes); /* moves the tweak on */
	const uint64x2_t other = r->tweak;
	r->tweak = r->decrypt ? other : this;
	few(r, full, last, r->bytes);
	memcpy(cut, last + r->bytes, tail);
	memcpy(cut + tail, full + tail, r->bytes - tail);
	r->tweak = r->decrypt ? this : other;
	few(r, out, cut, r->bytes);
	memcpy(out + r->bytes, full, tail);
}

static void xts(gw_op *ops, size_t n, size_t bytes, bool decrypt)
{
	for (; n > 0; n--, ops++) {
		request r = {.key = ops->key, .bytes = bytes, .decrypt = decrypt};
		const size_t len = gw_op_len(ops), tail = len % bytes;
		size_t whole = len - tail;
		uint8_t last[32], *out = ops->out;
		if (len < bytes) continue;
		if (tail != 0) {
			whole -= bytes;
			gw_op_gather(ops, whole, last, bytes + tail); /* before an in-place run could change it */
		}
		start(&r, ops);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			size_t left = ops->in[s].len - ops->in[s].len % bytes;
			if (left > whole) left = whole;
			whole -= left;
			for (; left >= GROUP_BYTES; in += GROUP_BYTES, out += GROUP_BYTES, left -= GROUP_BYTES) group(&r, out, in);
			few(&r, out, in, left);
			out += left;
		}
		if (tail != 0) steal(&r, out, last, tail);
	}
}

#define IMPL(bits, size)                                                                                               \
	static void xts_encrypt##bits(gw_op *ops, size_t n)                                                                \
	{                                                                                                                  \
		xts(ops, n, size, false);                                                                                      \
	}                                                                                                                  \
	static void xts_decrypt##bits(gw_op *ops, size_t n)                                                                \
	{                                                                                                                  \
		xts(ops, n, size, true);                                                                                       \
	}                                                                                                                  \
	const gw_impl gw_impl_xts_speck##bits##_neon = {                                                                   \
		.alg = "xts(speck" #bits ")",                                                                                  \
		.driver = "xts-speck" #bits "-neon/gwbench",                                                                   \
		.tag = "neon",                                                                                                 \
		.isa = "ARMv7 NEON",                                                                                           \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 300,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON,                                                                                      \
		.key_ctx_bytes = sizeof(speck##bits##_key),                                                                    \
		.batch_hint = 1,                                                                                               \
		.setkey = setkey##bits,                                                                                        \
		.encrypt = xts_encrypt##bits,                                                                                  \
		.decrypt = xts_decrypt##bits,                                                                                  \
	}

IMPL(64, 8);
IMPL(128, 16);

#include "neon_end.h"
#else
typedef int gw_speck_neon_not_here;
#endif
