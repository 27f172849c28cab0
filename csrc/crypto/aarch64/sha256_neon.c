/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4 6.2) and its HMAC without Crypto Extensions. One message: rounds in general registers, beside
 * them four words of message schedule at a time in vector registers. Four messages: a word of each in every vector,
 * which takes 0.8 of the estimated cycles of one after the other on a Cortex-A53.
 */
#if defined(__aarch64__)

#include <arm_neon.h>

#include "aes_neon.h"
#include "sha256_lanes.h"

#define LANES        4
#define ROTATE(v, n) vsriq_n_u32(vshlq_n_u32(v, 32 - (n)), v, n)

/* ---- one message ---- */

/* w[16..19] from w[0..3], w[4..7], w[8..11], w[12..15]; the last two of them need the first two. */
NEON_INLINE uint32x4_t schedule(uint32x4_t w0, uint32x4_t w4, uint32x4_t w8, uint32x4_t w12)
{
	const uint32x4_t w1 = vextq_u32(w0, w4, 1), w9 = vextq_u32(w8, w12, 1), zero = vdupq_n_u32(0);
	const uint32x4_t s0 = veorq_u32(veorq_u32(ROTATE(w1, 7), ROTATE(w1, 18)), vshrq_n_u32(w1, 3));
	uint32x4_t r = vaddq_u32(vaddq_u32(w0, w9), s0), t = vextq_u32(w12, zero, 2);
	r = vaddq_u32(r, veorq_u32(veorq_u32(ROTATE(t, 17), ROTATE(t, 19)), vshrq_n_u32(t, 10)));
	t = vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(zero), vreinterpretq_u64_u32(r)));
	return vaddq_u32(r, veorq_u32(veorq_u32(ROTATE(t, 17), ROTATE(t, 19)), vshrq_n_u32(t, 10)));
}

static inline uint32_t ror(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}

/* bc: b ^ c, which is what the round before had as a ^ b. */
#define ROUND(a, b, c, d, e, f, g, h, wk)                                                                              \
	do {                                                                                                               \
		const uint32_t ab = a ^ b;                                                                                     \
		h += wk + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) + (g & ~e));                                        \
		d += h;                                                                                                        \
		h += (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((ab & bc) ^ b);                                                  \
		bc = ab;                                                                                                       \
	} while (0)

#define FOUR(a, b, c, d, e, f, g, h, i, more)                                                                          \
	do {                                                                                                               \
		const uint32_t k0 = wk[4 * i], k1 = wk[4 * i + 1], k2 = wk[4 * i + 2], k3 = wk[4 * i + 3];                     \
		if (more) {                                                                                                    \
			w[i] = schedule(w[i], w[(i + 1) & 3], w[(i + 2) & 3], w[(i + 3) & 3]);                                     \
			vst1q_u32(wk + 4 * i, vaddq_u32(w[i], vld1q_u32(k + 4 * i)));                                              \
		}                                                                                                              \
		ROUND(a, b, c, d, e, f, g, h, k0);                                                                             \
		ROUND(h, a, b, c, d, e, f, g, k1);                                                                             \
		ROUND(g, h, a, b, c, d, e, f, k2);                                                                             \
		ROUND(f, g, h, a, b, c, d, e, k3);                                                                             \
	} while (0)

#define SIXTEEN(more)                                                                                                  \
	do {                                                                                                               \
		FOUR(a, b, c, d, e, f, g, h, 0, more);                                                                         \
		FOUR(e, f, g, h, a, b, c, d, 1, more);                                                                         \
		FOUR(a, b, c, d, e, f, g, h, 2, more);                                                                         \
		FOUR(e, f, g, h, a, b, c, d, 3, more);                                                                         \
	} while (0)

static void run_one(void *state, const uint8_t *data, size_t n_blocks)
{
	uint32_t *s = state;
	NEON_ROLLED for (; n_blocks > 0; n_blocks--, data += 64)
	{
		uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7], bc = b ^ c;
		uint32_t wk[16] __attribute__((aligned(16)));
		const uint32_t *k = gw_sha256_k;
		uint32x4_t w[4];
		NEON_UNROLL for (int i = 0; i < 4; i++)
		{
			w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
			vst1q_u32(wk + 4 * i, vaddq_u32(w[i], vld1q_u32(k + 4 * i)));
		}
		NEON_ROLLED for (k += 16; k < gw_sha256_k + 64; k += 16) SIXTEEN(true);
		SIXTEEN(false);
		s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
	}
}

/* ---- four messages ---- */

/* The constants, each four times. */
#define K4(a)                                                                                                          \
	{                                                                                                                  \
		a, a, a, a                                                                                                     \
	}
static const uint32_t k4[64][4] __attribute__((aligned(64))) = {
	K4(0x428a2f98), K4(0x71374491), K4(0xb5c0fbcf), K4(0xe9b5dba5), K4(0x3956c25b), K4(0x59f111f1), K4(0x923f82a4),
	K4(0xab1c5ed5), K4(0xd807aa98), K4(0x12835b01), K4(0x243185be), K4(0x550c7dc3), K4(0x72be5d74), K4(0x80deb1fe),
	K4(0x9bdc06a7), K4(0xc19bf174), K4(0xe49b69c1), K4(0xefbe4786), K4(0x0fc19dc6), K4(0x240ca1cc), K4(0x2de92c6f),
	K4(0x4a7484aa), K4(0x5cb0a9dc), K4(0x76f988da), K4(0x983e5152), K4(0xa831c66d), K4(0xb00327c8), K4(0xbf597fc7),
	K4(0xc6e00bf3), K4(0xd5a79147), K4(0x06ca6351), K4(0x14292967), K4(0x27b70a85), K4(0x2e1b2138), K4(0x4d2c6dfc),
	K4(0x53380d13), K4(0x650a7354), K4(0x766a0abb), K4(0x81c2c92e), K4(0x92722c85), K4(0xa2bfe8a1), K4(0xa81a664b),
	K4(0xc24b8b70), K4(0xc76c51a3), K4(0xd192e819), K4(0xd6990624), K4(0xf40e3585), K4(0x106aa070), K4(0x19a4c116),
	K4(0x1e376c08), K4(0x2748774c), K4(0x34b0bcb5), K4(0x391c0cb3), K4(0x4ed8aa4a), K4(0x5b9cca4f), K4(0x682e6ff3),
	K4(0x748f82ee), K4(0x78a5636f), K4(0x84c87814), K4(0x8cc70208), K4(0x90befffa), K4(0xa4506ceb), K4(0xbef9a3f7),
	K4(0xc67178f2)};

NEON_INLINE void transpose(uint32x4_t *m)
{
	const uint32x4_t a = vtrn1q_u32(m[0], m[1]), b = vtrn2q_u32(m[0], m[1]), c = vtrn1q_u32(m[2], m[3]),
					 d = vtrn2q_u32(m[2], m[3]);
	const uint64x2_t a2 = vreinterpretq_u64_u32(a), b2 = vreinterpretq_u64_u32(b), c2 = vreinterpretq_u64_u32(c),
					 d2 = vreinterpretq_u64_u32(d);
	m[0] = vreinterpretq_u32_u64(vtrn1q_u64(a2, c2));
	m[1] = vreinterpretq_u32_u64(vtrn1q_u64(b2, d2));
	m[2] = vreinterpretq_u32_u64(vtrn2q_u64(a2, c2));
	m[3] = vreinterpretq_u32_u64(vtrn2q_u64(b2, d2));
}

NEON_INLINE uint32x4_t xor3(uint32x4_t a, uint32x4_t b, uint32x4_t c)
{
	return veorq_u32(veorq_u32(a, b), c);
}

/* 16 rounds; s: a to h, in order again at the end. */
NEON_INLINE void sixteen_by_four(uint32x4_t *s, uint32x4_t *w, const uint32_t (*k)[4], bool more)
{
	NEON_UNROLL for (int i = 0; i < 16; i++)
	{
		uint32x4_t *a = &s[(16 - i) & 7], *b = &s[(17 - i) & 7], *c = &s[(18 - i) & 7], *d = &s[(19 - i) & 7];
		uint32x4_t *e = &s[(20 - i) & 7], *f = &s[(21 - i) & 7], *g = &s[(22 - i) & 7], *h = &s[(23 - i) & 7];
		uint32x4_t t = vaddq_u32(vaddq_u32(*h, w[i]), vld1q_u32(k[i]));
		t = vaddq_u32(t, xor3(ROTATE(*e, 6), ROTATE(*e, 11), ROTATE(*e, 25)));
		t = vaddq_u32(t, vbslq_u32(*e, *f, *g));
		*d = vaddq_u32(*d, t);
		t = vaddq_u32(t, xor3(ROTATE(*a, 2), ROTATE(*a, 13), ROTATE(*a, 22)));
		*h = vaddq_u32(t, vbslq_u32(veorq_u32(*a, *b), *c, *b));
		if (more) {
			const uint32x4_t w1 = w[(i + 1) & 15], w14 = w[(i + 14) & 15];
			const uint32x4_t s0 = xor3(ROTATE(w1, 7), ROTATE(w1, 18), vshrq_n_u32(w1, 3));
			const uint32x4_t s1 = xor3(ROTATE(w14, 17), ROTATE(w14, 19), vshrq_n_u32(w14, 10));
			w[i] = vaddq_u32(vaddq_u32(w[i], w[(i + 9) & 15]), vaddq_u32(s0, s1));
		}
	}
}

static void run_four(sha256_lane *l, size_t n_blocks)
{
	uint32x4_t state[8];
	NEON_UNROLL for (int i = 0; i < 4; i++)
	{
		state[i] = vld1q_u32(l[i].state);
		state[4 + i] = vld1q_u32(l[i].state + 4);
	}
	transpose(state);
	transpose(state + 4);
	NEON_ROLLED for (size_t at = 0; at < 64 * n_blocks; at += 64)
	{
		uint32x4_t s[8], w[16];
		NEON_UNROLL for (int j = 0; j < 4; j++)
		{
			NEON_UNROLL for (int i = 0; i < 4; i++) w[4 * j + i] =
				vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(l[i].data + at + 16 * j)));
			transpose(w + 4 * j);
		}
		NEON_UNROLL for (int i = 0; i < 8; i++) s[i] = state[i];
		NEON_ROLLED for (int r = 0; r < 48; r += 16) sixteen_by_four(s, w, k4 + r, true);
		sixteen_by_four(s, w, k4 + 48, false);
		NEON_UNROLL for (int i = 0; i < 8; i++) state[i] = vaddq_u32(state[i], s[i]);
	}
	transpose(state);
	transpose(state + 4);
	NEON_UNROLL for (int i = 0; i < 4; i++)
	{
		vst1q_u32(l[i].state, state[i]);
		vst1q_u32(l[i].state + 4, state[4 + i]);
	}
}

/* ---- implementations ---- */

static void run(sha256_lane *l, size_t busy, size_t n_blocks)
{
	if (busy == LANES)
		run_four(l, n_blocks);
	else
		for (size_t i = 0; i < busy; i++) run_one(l[i].state, l[i].data, n_blocks);
	for (size_t i = 0; i < busy; i++) {
		l[i].data += 64 * n_blocks;
		l[i].blocks -= n_blocks;
	}
}

static __attribute__((noinline)) void schedule_lanes(gw_op *ops, size_t n, bool hmac)
{
	sha256_schedule(ops, n, hmac, LANES, run);
}

static void hash(gw_op *ops, size_t n)
{
	schedule_lanes(ops, n, false);
}

static void hmac(gw_op *ops, size_t n)
{
	schedule_lanes(ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	static const gw_md md = {
		.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = run_one};
	return gw_md_hmac_setkey(&md, ctx, key, len);
}

const gw_impl gw_impl_sha256_neon = {
	.alg = "sha256",
	.driver = "sha256-neon/gwbench",
	.tag = "neon",
	.isa = "AArch64 NEON",
	.kind = GW_KIND_HASH,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.batch_hint = LANES,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_neon = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-neon/gwbench",
	.tag = "neon",
	.isa = "AArch64 NEON",
	.kind = GW_KIND_MAC,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = LANES,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};

#endif
