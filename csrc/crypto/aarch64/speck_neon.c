/* SPDX-License-Identifier: MIT
 * Speck128/256 and Speck64/128 (Beaulieu and others, 2013) in XTS mode on AArch64 NEON, for benchmarks only: 128 bytes
 * at a time as four pairs of registers. Formats are those of the generic code (generic/speck.c).
 */
#if defined(__aarch64__)

#include "aes_neon.h"

#define ROUNDS64    27
#define ROUNDS128   34
#define GROUP_BYTES 128

#define ROR32(v, n)    ((v) >> (n) | (v) << (32 - (n)))
#define ROR64(v, n)    ((v) >> (n) | (v) << (64 - (n)))
#define ENC32(x, y, k) (x = (ROR32(x, 8) + y) ^ (k), y = ROR32(y, 29) ^ x)
#define DEC32(x, y, k) (y = ROR32(y ^ x, 3), x = ROR32((x ^ (k)) - y, 24))
#define ENC64(x, y, k) (x = (ROR64(x, 8) + y) ^ (k), y = ROR64(y, 61) ^ x)
#define DEC64(x, y, k) (y = ROR64(y ^ x, 3), x = ROR64((x ^ (k)) - y, 56))

/* Round keys of the data key as whole registers, of the tweak key as words. */
typedef struct speck64_key {
	uint32_t data[ROUNDS64][4] __attribute__((aligned(16)));
	uint32_t tweak[ROUNDS64];
} speck64_key;

typedef struct speck128_key {
	uint64_t data[ROUNDS128][2] __attribute__((aligned(16)));
	uint64_t tweak[ROUNDS128];
} speck128_key;

/* Rotation by a byte, [left]: one look-up. */
static const uint8_t turn32[2][16] = {{1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12},
									  {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14}};
static const uint8_t turn64[2][16] = {{1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8},
									  {7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14}};

static int setkey64(void *ctx, const uint8_t *key, size_t len)
{
	speck64_key *k = ctx;
	if (len != 32) return -EINVAL;
	for (int half = 0; half < 2; half++) {
		const uint8_t *from = key + 16 * half;
		uint32_t y = gw_load_le32(from), l[3];
		for (int i = 0; i < 3; i++) l[i] = gw_load_le32(from + 4 + 4 * i);
		NEON_ROLLED for (uint32_t i = 0; i < ROUNDS64; i++)
		{
			if (half)
				k->tweak[i] = y;
			else
				vst1q_u32(k->data[i], vdupq_n_u32(y));
			ENC32(l[i % 3], y, i);
		}
	}
	return 0;
}

static int setkey128(void *ctx, const uint8_t *key, size_t len)
{
	speck128_key *k = ctx;
	if (len != 64) return -EINVAL;
	for (int half = 0; half < 2; half++) {
		const uint8_t *from = key + 32 * half;
		uint64_t y = gw_load_le64(from), l[3];
		for (int i = 0; i < 3; i++) l[i] = gw_load_le64(from + 8 + 8 * i);
		NEON_ROLLED for (uint64_t i = 0; i < ROUNDS128; i++)
		{
			if (half)
				k->tweak[i] = y;
			else
				vst1q_u64(k->data[i], vdupq_n_u64(y));
			ENC64(l[i % 3], y, i);
		}
	}
	return 0;
}

/* ---- one block ---- */

static void block64(const speck64_key *k, bool decrypt, const uint8_t *tweak, const uint8_t *in, uint8_t *out)
{
	const uint32_t ty = gw_load_le32(tweak), tx = gw_load_le32(tweak + 4);
	uint32_t y = gw_load_le32(in) ^ ty, x = gw_load_le32(in + 4) ^ tx;
	if (decrypt)
		NEON_ROLLED for (int i = ROUNDS64 - 1; i >= 0; i--) DEC32(x, y, k->data[i][0]);
	else
		NEON_ROLLED for (int i = 0; i < ROUNDS64; i++) ENC32(x, y, k->data[i][0]);
	gw_store_le32(out, y ^ ty);
	gw_store_le32(out + 4, x ^ tx);
}

static void block128(const speck128_key *k, bool decrypt, const uint8_t *tweak, const uint8_t *in, uint8_t *out)
{
	const uint64_t ty = gw_load_le64(tweak), tx = gw_load_le64(tweak + 8);
	uint64_t y = gw_load_le64(in) ^ ty, x = gw_load_le64(in + 8) ^ tx;
	if (decrypt)
		NEON_ROLLED for (int i = ROUNDS128 - 1; i >= 0; i--) DEC64(x, y, k->data[i][0]);
	else
		NEON_ROLLED for (int i = 0; i < ROUNDS128; i++) ENC64(x, y, k->data[i][0]);
	gw_store_le64(out, y ^ ty);
	gw_store_le64(out + 8, x ^ tx);
}

/* ---- 128 bytes ---- */

typedef uint32x4_t T32;
typedef uint64x2_t T64;

#define HELPERS(bits)                                                                                                  \
	NEON_INLINE T##bits turn_bytes##bits(T##bits v, uint8x16_t by)                                                     \
	{                                                                                                                  \
		return vreinterpretq_u##bits##_u8(vqtbl1q_u8(vreinterpretq_u8_u##bits(v), by));                                \
	}                                                                                                                  \
	/* first words of the blocks to y, second ones to x */                                                             \
	NEON_INLINE void split##bits(const uint8x16_t *b, T##bits *x, T##bits *y)                                          \
	{                                                                                                                  \
		NEON_UNROLL for (int i = 0; i < 4; i++)                                                                        \
		{                                                                                                              \
			const T##bits p = vreinterpretq_u##bits##_u8(b[2 * i]), q = vreinterpretq_u##bits##_u8(b[2 * i + 1]);      \
			y[i] = vuzp1q_u##bits(p, q);                                                                               \
			x[i] = vuzp2q_u##bits(p, q);                                                                               \
		}                                                                                                              \
	}                                                                                                                  \
	NEON_INLINE void join##bits(uint8x16_t *b, const T##bits *x, const T##bits *y)                                     \
	{                                                                                                                  \
		NEON_UNROLL for (int i = 0; i < 4; i++)                                                                        \
		{                                                                                                              \
			b[2 * i] = vreinterpretq_u8_u##bits(vzip1q_u##bits(y[i], x[i]));                                           \
			b[2 * i + 1] = vreinterpretq_u8_u##bits(vzip2q_u##bits(y[i], x[i]));                                       \
		}                                                                                                              \
	}

HELPERS(32)
HELPERS(64)

/* The cipher over four pairs of registers. */
#define GROUP(bits, rounds, turn, unroll)                                                                              \
	NEON_INLINE void group##bits(uint8x16_t *b, const void *keys, bool decrypt)                                        \
	{                                                                                                                  \
		typedef uint##bits##_t word;                                                                                   \
		const word(*k)[128 / bits] = keys;                                                                             \
		const uint8x16_t by_byte = vld1q_u8(turn[decrypt]);                                                            \
		T##bits x[4], y[4];                                                                                            \
		split##bits(b, x, y);                                                                                          \
		_Pragma(unroll) for (int r = 0; r < rounds; r++)                                                               \
		{                                                                                                              \
			const T##bits key = vld1q_u##bits(k[decrypt ? rounds - 1 - r : r]);                                        \
			NEON_UNROLL for (int i = 0; i < 4; i++)                                                                    \
			{                                                                                                          \
				if (decrypt) {                                                                                         \
					y[i] = veorq_u##bits(y[i], x[i]);                                                                  \
					y[i] = vsliq_n_u##bits(vshrq_n_u##bits(y[i], 3), y[i], bits - 3);                                  \
					x[i] = vsubq_u##bits(veorq_u##bits(x[i], key), y[i]);                                              \
					x[i] = turn_bytes##bits(x[i], by_byte);                                                            \
				} else {                                                                                               \
					x[i] = vaddq_u##bits(turn_bytes##bits(x[i], by_byte), y[i]);                                       \
					x[i] = veorq_u##bits(x[i], key);                                                                   \
					y[i] = vsriq_n_u##bits(vshlq_n_u##bits(y[i], 3), y[i], bits - 3);                                  \
					y[i] = veorq_u##bits(y[i], x[i]);                                                                  \
				}                                                                                                      \
			}                                                                                                          \
		}                                                                                                              \
		join##bits(b, x, y);                                                                                           \
	}

GROUP(32, ROUNDS64, turn32, "GCC unroll 3")
GROUP(64, ROUNDS128, turn64, "GCC unroll 2")

/* ---- XTS ---- */

/* Tweaks of the next 128 bytes, and those of the 128 bytes after. */
NEON_INLINE void first_tweaks128(uint8x16_t *t, const uint8_t *tweak)
{
	uint8_t next[16];
	memcpy(next, tweak, 16);
	NEON_ROLLED for (int i = 0; i < 8; i++)
	{
		t[i] = vld1q_u8(next);
		gw_xts_next(next);
	}
}

NEON_INLINE void next_tweaks128(uint8x16_t *t)
{
	NEON_UNROLL for (int i = 0; i < 8; i++) t[i] = neon_times_x8(t[i]);
}

static void next_tweak64(uint8_t *t)
{
	const uint64_t v = gw_load_le64(t);
	gw_store_le64(t, v << 1 ^ (0x1b & (0 - (v >> 63))));
}

/* Two blocks a register: the next two are times x^2. */
NEON_INLINE uint8x16_t times_x2(uint8x16_t t)
{
	const uint64x2_t v = vreinterpretq_u64_u8(t);
	const poly8x16_t over = vreinterpretq_p8_u64(vshrq_n_u64(v, 62)), poly = vreinterpretq_p8_u64(vdupq_n_u64(0x1b));
	return vreinterpretq_u8_u64(veorq_u64(vshlq_n_u64(v, 2), vreinterpretq_u64_p8(vmulq_p8(over, poly))));
}

NEON_INLINE void first_tweaks64(uint8x16_t *t, const uint8_t *tweak)
{
	uint8_t pair[16];
	memcpy(pair, tweak, 8);
	memcpy(pair + 8, tweak, 8);
	next_tweak64(pair + 8);
	t[0] = vld1q_u8(pair);
	for (int i = 1; i < 8; i++) t[i] = times_x2(t[i - 1]);
}

NEON_INLINE void next_tweaks64(uint8x16_t *t)
{
	t[0] = times_x2(t[7]);
	NEON_UNROLL for (int i = 1; i < 8; i++) t[i] = times_x2(t[i - 1]);
}

#define XTS(width, word, block_bytes, next)                                                                            \
	NEON_INLINE void groups##width(const speck##width##_key *k, bool decrypt, uint8_t *tweak, const uint8_t *in,       \
								   uint8_t *out, size_t n)                                                             \
	{                                                                                                                  \
		uint8x16_t t[8], b[8];                                                                                         \
		if (n == 0) return;                                                                                            \
		first_tweaks##width(t, tweak);                                                                                 \
		NEON_ROLLED for (; n > 0; n--, in += GROUP_BYTES, out += GROUP_BYTES)                                          \
		{                                                                                                              \
			NEON_UNROLL for (int i = 0; i < 8; i++) b[i] = veorq_u8(vld1q_u8(in + 16 * i), t[i]);                      \
			group##word(b, k->data, decrypt);                                                                          \
			NEON_UNROLL for (int i = 0; i < 8; i++) vst1q_u8(out + 16 * i, veorq_u8(b[i], t[i]));                      \
			next_tweaks##width(t);                                                                                     \
		}                                                                                                              \
		uint8_t left[16];                                                                                              \
		vst1q_u8(left, t[0]);                                                                                          \
		memcpy(tweak, left, block_bytes);                                                                              \
	}                                                                                                                  \
	static __attribute__((noinline)) void xts##width(const gw_op *op, bool decrypt)                                    \
	{                                                                                                                  \
		const speck##width##_key *k = op->key;                                                                         \
		const size_t len = gw_op_len(op), tail = len % block_bytes;                                                    \
		size_t whole = len / block_bytes; /* blocks before ciphertext stealing */                                      \
		uint8_t tweak[16], other[16], last[32], full[16], cut[16], *out = op->out;                                     \
		if (len < block_bytes) return;                                                                                 \
		if (tail != 0) gw_op_gather(op, block_bytes * --whole, last, block_bytes + tail);                              \
		first_tweak##width(k, op->iv, tweak);                                                                          \
		for (uint32_t s = 0; s < op->n_in && whole > 0; s++) {                                                         \
			const uint8_t *in = op->in[s].data;                                                                        \
			size_t here = op->in[s].len / block_bytes < whole ? op->in[s].len / block_bytes : whole;                   \
			const size_t n = here * block_bytes / GROUP_BYTES;                                                         \
			whole -= here;                                                                                             \
			if (decrypt)                                                                                               \
				groups##width(k, true, tweak, in, out, n);                                                             \
			else                                                                                                       \
				groups##width(k, false, tweak, in, out, n);                                                            \
			in += n * GROUP_BYTES, out += n * GROUP_BYTES, here -= n * (GROUP_BYTES / block_bytes);                    \
			NEON_ROLLED for (; here > 0; here--, in += block_bytes, out += block_bytes)                                \
			{                                                                                                          \
				block##width(k, decrypt, tweak, in, out);                                                              \
				next(tweak);                                                                                           \
			}                                                                                                          \
		}                                                                                                              \
		if (tail == 0) return;                                                                                         \
		memcpy(other, tweak, block_bytes);                                                                             \
		next(other);                                                                                                   \
		block##width(k, decrypt, decrypt ? other : tweak, last, full);                                                 \
		memcpy(cut, full, block_bytes);                                                                                \
		memcpy(cut, last + block_bytes, tail);                                                                         \
		block##width(k, decrypt, decrypt ? tweak : other, cut, out);                                                   \
		memcpy(out + block_bytes, full, tail);                                                                         \
	}                                                                                                                  \
	static void encrypt##width(gw_op *ops, size_t n)                                                                   \
	{                                                                                                                  \
		for (size_t i = 0; i < n; i++) xts##width(&ops[i], false);                                                     \
	}                                                                                                                  \
	static void decrypt##width(gw_op *ops, size_t n)                                                                   \
	{                                                                                                                  \
		for (size_t i = 0; i < n; i++) xts##width(&ops[i], true);                                                      \
	}                                                                                                                  \
	const gw_impl gw_impl_xts_speck##width##_neon = {                                                                  \
		.alg = "xts(speck" #width ")",                                                                                 \
		.driver = "xts-speck" #width "-neon/gwbench",                                                                  \
		.tag = "neon",                                                                                                 \
		.isa = "AArch64 NEON",                                                                                         \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 320,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON,                                                                                      \
		.key_ctx_bytes = sizeof(speck##width##_key),                                                                   \
		.batch_hint = 1,                                                                                               \
		.setkey = setkey##width,                                                                                       \
		.encrypt = encrypt##width,                                                                                     \
		.decrypt = decrypt##width,                                                                                     \
	}

static void first_tweak64(const speck64_key *k, const uint8_t *iv, uint8_t *tweak)
{
	uint32_t y = gw_load_le32(iv), x = gw_load_le32(iv + 4);
	NEON_ROLLED for (int i = 0; i < ROUNDS64; i++) ENC32(x, y, k->tweak[i]);
	gw_store_le32(tweak, y);
	gw_store_le32(tweak + 4, x);
}

static void first_tweak128(const speck128_key *k, const uint8_t *iv, uint8_t *tweak)
{
	uint64_t y = gw_load_le64(iv), x = gw_load_le64(iv + 8);
	NEON_ROLLED for (int i = 0; i < ROUNDS128; i++) ENC64(x, y, k->tweak[i]);
	gw_store_le64(tweak, y);
	gw_store_le64(tweak + 8, x);
}

XTS(64, 32, 8, next_tweak64);
XTS(128, 64, 16, gw_xts_next);

#endif
