/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 (RFC 8439; in ESP RFC 7634) for AArch64: four blocks abreast, a word of each in every vector;
 * single blocks by rows; Poly1305 with two 64-bit limbs and the multiplier's 128-bit products.
 */
#if defined(__aarch64__)

#include "aes_neon.h"

typedef struct chacha_key {
	uint32_t w[8];
} chacha_key;

static int chacha_setkey(void *ctx, const uint8_t *key, size_t len)
{
	chacha_key *k = ctx;
	if (len != 32) return -EINVAL;
	for (int i = 0; i < 8; i++) k->w[i] = gw_load_le32(key + 4 * i);
	return 0;
}

/* ---- Poly1305 ---- */

typedef unsigned __int128 u128;

/* h: below 2^130 plus a little; r: clamped; pad: the second half of the one-time key. */
typedef struct poly {
	uint64_t h[3], r[2], pad[2];
} poly;

static void poly_init(poly *p, const uint8_t key[32])
{
	*p = (poly){.r = {gw_load_le64(key) & 0x0ffffffc0fffffff, gw_load_le64(key + 8) & 0x0ffffffc0ffffffc},
				.pad = {gw_load_le64(key + 16), gw_load_le64(key + 24)}};
}

/* h = (h + block + 2^128) * r modulo 2^130 - 5. r[1] is a multiple of 4: r[1] * 2^128 is r[1] * 5 / 4 * 2^130 / 2^128.
 */
static __attribute__((noinline)) void poly_blocks(poly *p, const uint8_t *m, size_t n)
{
	const uint64_t r0 = p->r[0], r1 = p->r[1], s1 = r1 + (r1 >> 2);
	uint64_t h0 = p->h[0], h1 = p->h[1], h2 = p->h[2];
	NEON_ROLLED for (; n > 0; n--, m += 16)
	{
		u128 t = (u128)h0 + gw_load_le64(m);
		h0 = (uint64_t)t;
		t = (u128)h1 + gw_load_le64(m + 8) + (uint64_t)(t >> 64);
		h1 = (uint64_t)t;
		h2 += (uint64_t)(t >> 64) + 1;

		const u128 d0 = (u128)h0 * r0 + (u128)h1 * s1;
		const u128 d1 = (u128)h0 * r1 + (u128)h1 * r0 + h2 * s1 + (uint64_t)(d0 >> 64);
		h2 = h2 * r0 + (uint64_t)(d1 >> 64);
		t = (u128)(uint64_t)d0 + (h2 >> 2) + (h2 & ~(uint64_t)3); /* what exceeds 2^130, times 5 */
		h0 = (uint64_t)t;
		t = (u128)(uint64_t)d1 + (uint64_t)(t >> 64);
		h1 = (uint64_t)t;
		h2 = (h2 & 3) + (uint64_t)(t >> 64);
	}
	p->h[0] = h0, p->h[1] = h1, p->h[2] = h2;
}

static __attribute__((noinline)) void poly_padded(poly *p, const uint8_t *data, size_t len)
{
	poly_blocks(p, data, len / 16);
	if (len % 16 != 0) {
		uint8_t last[16] = {0};
		memcpy(last, data + (len & ~(size_t)15), len % 16);
		poly_blocks(p, last, 1);
	}
}

static __attribute__((noinline)) void poly_finish(poly *p, uint8_t tag[16])
{
	/* h - (2^130 - 5), taken when it is not negative */
	u128 t = (u128)p->h[0] + 5;
	const uint64_t g0 = (uint64_t)t;
	t = (u128)p->h[1] + (uint64_t)(t >> 64);
	const uint64_t g1 = (uint64_t)t, take = 0 - ((p->h[2] + (uint64_t)(t >> 64)) >> 2);
	t = (u128)((p->h[0] & ~take) | (g0 & take)) + p->pad[0];
	gw_store_le64(tag, (uint64_t)t);
	t = (u128)((p->h[1] & ~take) | (g1 & take)) + p->pad[1] + (uint64_t)(t >> 64);
	gw_store_le64(tag + 8, (uint64_t)t);
	gw_wipe(p, sizeof *p);
}

/* ---- ChaCha20 ---- */

#define ROTATE_LEFT(v, n) vsriq_n_u32(vshlq_n_u32(v, n), v, 32 - (n))

NEON_INLINE uint32x4_t rotate16(uint32x4_t v)
{
	return vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(v)));
}

NEON_INLINE uint32x4_t rotate8(uint32x4_t v, uint8x16_t by_byte)
{
	return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(v), by_byte));
}

static const uint8_t left_by_byte[16] = {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};

/* n quarter rounds at once, on a[i], b[i], c[i], d[i] */
NEON_INLINE void quarters(uint32x4_t **a, uint32x4_t **b, uint32x4_t **c, uint32x4_t **d, int n, uint8x16_t by_byte)
{
	NEON_UNROLL for (int i = 0; i < n; i++)
	{
		*a[i] = vaddq_u32(*a[i], *b[i]);
		*d[i] = rotate16(veorq_u32(*d[i], *a[i]));
	}
	NEON_UNROLL for (int i = 0; i < n; i++)
	{
		*c[i] = vaddq_u32(*c[i], *d[i]);
		*b[i] = veorq_u32(*b[i], *c[i]);
		*b[i] = ROTATE_LEFT(*b[i], 12);
	}
	NEON_UNROLL for (int i = 0; i < n; i++)
	{
		*a[i] = vaddq_u32(*a[i], *b[i]);
		*d[i] = rotate8(veorq_u32(*d[i], *a[i]), by_byte);
	}
	NEON_UNROLL for (int i = 0; i < n; i++)
	{
		*c[i] = vaddq_u32(*c[i], *d[i]);
		*b[i] = veorq_u32(*b[i], *c[i]);
		*b[i] = ROTATE_LEFT(*b[i], 7);
	}
}

/* The block of counter state[12], by rows; columns become diagonals by turning the rows. */
static __attribute__((noinline)) void one_block(const uint32_t *state, uint8_t *out)
{
	const uint8x16_t by_byte = vld1q_u8(left_by_byte);
	uint32x4_t r[4], *a = &r[0], *b = &r[1], *c = &r[2], *d = &r[3];
	NEON_UNROLL for (int i = 0; i < 4; i++) r[i] = vld1q_u32(state + 4 * i);
	NEON_ROLLED for (int round = 0; round < 10; round++)
	{
		quarters(&a, &b, &c, &d, 1, by_byte);
		r[1] = vextq_u32(r[1], r[1], 1);
		r[2] = vextq_u32(r[2], r[2], 2);
		r[3] = vextq_u32(r[3], r[3], 3);
		quarters(&a, &b, &c, &d, 1, by_byte);
		r[1] = vextq_u32(r[1], r[1], 3);
		r[2] = vextq_u32(r[2], r[2], 2);
		r[3] = vextq_u32(r[3], r[3], 1);
	}
	NEON_UNROLL for (int i = 0; i < 4; i++)
		vst1q_u8(out + 16 * i, vreinterpretq_u8_u32(vaddq_u32(r[i], vld1q_u32(state + 4 * i))));
}

/* 256 bytes under counters state[12] to state[12] + 3. */
NEON_INLINE void four_blocks(const uint32_t *state, const uint8_t *in, uint8_t *out)
{
	static const uint32_t steps[4] = {0, 1, 2, 3};
	const uint8x16_t by_byte = vld1q_u8(left_by_byte);
	uint32x4_t x[16];
	NEON_UNROLL for (int i = 0; i < 16; i++) x[i] = vdupq_n_u32(state[i]);
	x[12] = vaddq_u32(x[12], vld1q_u32(steps));
	NEON_ROLLED for (int round = 0; round < 10; round++)
	{
		uint32x4_t *a[4] = {&x[0], &x[1], &x[2], &x[3]}, *b[4] = {&x[4], &x[5], &x[6], &x[7]};
		uint32x4_t *c[4] = {&x[8], &x[9], &x[10], &x[11]}, *d[4] = {&x[12], &x[13], &x[14], &x[15]};
		quarters(a, b, c, d, 4, by_byte);
		uint32x4_t *f[4] = {&x[5], &x[6], &x[7], &x[4]}, *g[4] = {&x[10], &x[11], &x[8], &x[9]};
		uint32x4_t *h[4] = {&x[15], &x[12], &x[13], &x[14]};
		quarters(a, f, g, h, 4, by_byte);
	}
	NEON_UNROLL for (int i = 0; i < 16; i++) x[i] = vaddq_u32(x[i], vdupq_n_u32(state[i]));
	x[12] = vaddq_u32(x[12], vld1q_u32(steps));
	NEON_UNROLL for (int i = 0; i < 4; i++)
	{
		/* words 4 i to 4 i + 3 of the four blocks */
		const uint32x4_t p = vtrn1q_u32(x[4 * i], x[4 * i + 1]), q = vtrn2q_u32(x[4 * i], x[4 * i + 1]);
		const uint32x4_t s = vtrn1q_u32(x[4 * i + 2], x[4 * i + 3]), t = vtrn2q_u32(x[4 * i + 2], x[4 * i + 3]);
		const uint64x2_t p2 = vreinterpretq_u64_u32(p), q2 = vreinterpretq_u64_u32(q);
		const uint64x2_t s2 = vreinterpretq_u64_u32(s), t2 = vreinterpretq_u64_u32(t);
		const uint64x2_t stream[4] = {vtrn1q_u64(p2, s2), vtrn1q_u64(q2, t2), vtrn2q_u64(p2, s2), vtrn2q_u64(q2, t2)};
		NEON_UNROLL for (int k = 0; k < 4; k++)
		{
			const size_t at = 64 * (size_t)k + 16 * (size_t)i;
			vst1q_u8(out + at, veorq_u8(vld1q_u8(in + at), vreinterpretq_u8_u64(stream[k])));
		}
	}
}

/* ---- AEAD ---- */

static void start(const gw_op *op, uint32_t state[16], poly *p)
{
	const chacha_key *k = op->key;
	uint8_t first[64];
	state[0] = 0x61707865, state[1] = 0x3320646e, state[2] = 0x79622d32, state[3] = 0x6b206574;
	memcpy(state + 4, k->w, sizeof k->w);
	state[12] = 0;
	for (int i = 0; i < 3; i++) state[13 + i] = gw_load_le32(op->iv + 4 * i);
	one_block(state, first);
	state[12] = 1;
	poly_init(p, first);
	poly_padded(p, op->aad, op->aad_len);
	gw_wipe(first, sizeof first);
}

/* Every span but the last is a multiple of 64 bytes: blocks never straddle two. */
static __attribute__((noinline)) void crypt(const gw_op *op, uint32_t state[16])
{
	uint8_t stream[64], *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		size_t left = op->in[s].len;
		NEON_ROLLED for (; left >= 256; left -= 256, in += 256, out += 256, state[12] += 4) four_blocks(state, in, out);
		NEON_ROLLED for (; left >= 64; left -= 64, in += 64, out += 64, state[12]++)
		{
			one_block(state, stream);
			NEON_UNROLL for (int i = 0; i < 64; i += 16)
				vst1q_u8(out + i, veorq_u8(vld1q_u8(in + i), vld1q_u8(stream + i)));
		}
		if (left > 0) {
			one_block(state, stream);
			gw_xor_bytes(out, in, stream, left);
			state[12]++;
			out += left;
		}
	}
	gw_wipe(stream, sizeof stream);
}

static void finish(const gw_op *op, poly *p, uint8_t tag[16])
{
	uint8_t lengths[16];
	gw_store_le64(lengths, op->aad_len);
	gw_store_le64(lengths + 8, gw_op_len(op));
	poly_blocks(p, lengths, 1);
	poly_finish(p, tag);
}

static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint32_t state[16];
		uint8_t tag[16];
		poly p;
		start(ops, state, &p);
		crypt(ops, state);
		poly_padded(&p, ops->out, gw_op_len(ops));
		finish(ops, &p, tag);
		memcpy(ops->tag, tag, ops->tag_len);
		ops->status = 0;
		gw_wipe(state, sizeof state);
	}
}

static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint32_t state[16];
		uint8_t tag[16];
		poly p;
		start(ops, state, &p);
		for (uint32_t s = 0; s < ops->n_in; s++) poly_padded(&p, ops->in[s].data, ops->in[s].len);
		finish(ops, &p, tag);
		ops->status = gw_equal_ct(tag, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt(ops, state);
		gw_wipe(state, sizeof state);
	}
}

const gw_impl gw_impl_chacha20poly1305_neon = {
	.alg = "rfc7539(chacha20,poly1305)",
	.driver = "chacha20poly1305-neon/gwbench",
	.tag = "neon",
	.isa = "AArch64 NEON, 64-bit multiplier",
	.kind = GW_KIND_AEAD,
	.priority = 320,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON,
	.key_ctx_bytes = sizeof(chacha_key),
	.batch_hint = 1,
	.setkey = chacha_setkey,
	.encrypt = seal,
	.decrypt = open_,
};

#endif
