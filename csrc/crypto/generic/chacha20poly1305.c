/* SPDX-License-Identifier: MIT
 * ChaCha20-Poly1305 (RFC 8439; in ESP RFC 7634) in scalar C. Additions, rotations and XOR: constant-time as it is.
 */
#include "../poly1305.h"
#include "../spans.h"

typedef struct chacha_key {
	uint32_t w[8];
} chacha_key;

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	chacha_key *k = (chacha_key *)ctx;
	if (len != 32) return -EINVAL;
	for (int i = 0; i < 8; i++) k->w[i] = gw_load_le32(key + 4 * i);
	return 0;
}

static inline uint32_t rol(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

#define QUARTER(a, b, c, d)                                                                                            \
	do {                                                                                                               \
		a += b, d = rol(d ^ a, 16);                                                                                    \
		c += d, b = rol(b ^ c, 12);                                                                                    \
		a += b, d = rol(d ^ a, 8);                                                                                     \
		c += d, b = rol(b ^ c, 7);                                                                                     \
	} while (0)

static __attribute__((noinline)) void block(const uint32_t in[16], uint8_t out[64])
{
	uint32_t a = in[0], b = in[1], c = in[2], d = in[3], e = in[4], f = in[5], g = in[6], h = in[7];
	uint32_t i = in[8], j = in[9], k = in[10], l = in[11], m = in[12], n = in[13], o = in[14], p = in[15];

	for (int round = 0; round < 10; round++) {
		QUARTER(a, e, i, m);
		QUARTER(b, f, j, n);
		QUARTER(c, g, k, o);
		QUARTER(d, h, l, p);
		QUARTER(a, f, k, p);
		QUARTER(b, g, l, m);
		QUARTER(c, h, i, n);
		QUARTER(d, e, j, o);
	}
	const uint32_t x[16] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};
	for (int w = 0; w < 16; w++) gw_store_le32(out + 4 * w, x[w] + in[w]);
}

static void start(const gw_op *op, uint32_t state[16], gw_poly1305 *poly)
{
	const chacha_key *k = (const chacha_key *)op->key;
	uint8_t first[64];
	state[0] = 0x61707865, state[1] = 0x3320646e, state[2] = 0x79622d32, state[3] = 0x6b206574;
	memcpy(state + 4, k->w, sizeof k->w);
	state[12] = 0;
	for (int i = 0; i < 3; i++) state[13 + i] = gw_load_le32(op->iv + 4 * i);
	block(state, first);
	gw_poly1305_init(poly, first);
	gw_poly1305_padded(poly, op->aad, op->aad_len);
	gw_wipe(first, sizeof first);
}

/* Every span but the last is a multiple of 64 bytes: blocks never straddle two. */
static void crypt_bytes(const gw_op *op, uint32_t state[16])
{
	uint8_t stream[64], *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len; left > 0;) {
			const size_t n = left < 64 ? left : 64;
			state[12]++;
			block(state, stream);
			for (size_t i = 0; i < n; i++) out[i] = in[i] ^ stream[i];
			in += n, out += n, left -= n;
		}
	}
	gw_wipe(stream, sizeof stream);
}

static void finish(const gw_op *op, gw_poly1305 *poly, uint8_t tag[16])
{
	uint8_t lengths[16];
	gw_store_le64(lengths, op->aad_len);
	gw_store_le64(lengths + 8, gw_op_len(op));
	gw_poly1305_padded(poly, lengths, 16);
	gw_poly1305_finish(poly, tag);
}

static void seal(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint32_t state[16];
		gw_poly1305 poly;
		uint8_t tag[16];
		start(ops, state, &poly);
		crypt_bytes(ops, state);
		gw_poly1305_padded(&poly, ops->out, gw_op_len(ops));
		finish(ops, &poly, tag);
		memcpy(ops->tag, tag, ops->tag_len);
		ops->status = 0;
		gw_wipe(state, sizeof state);
	}
}

static void open_(gw_op *ops, size_t n)
{
	for (; n > 0; n--, ops++) {
		uint32_t state[16];
		gw_poly1305 poly;
		uint8_t tag[16];
		start(ops, state, &poly);
		for (uint32_t s = 0; s < ops->n_in; s++) gw_poly1305_padded(&poly, ops->in[s].data, ops->in[s].len);
		finish(ops, &poly, tag);
		ops->status = gw_equal_ct(tag, ops->tag, ops->tag_len) ? 0 : -EBADMSG;
		if (ops->status == 0) crypt_bytes(ops, state);
		gw_wipe(state, sizeof state);
	}
}

const gw_impl gw_impl_chacha20poly1305_generic = {
	.alg = "rfc7539(chacha20,poly1305)",
	.driver = "chacha20poly1305-generic/gwbench",
	.tag = "generic",
	.isa = "C",
	.kind = GW_KIND_AEAD,
	.priority = 100,
	.constant_time = true,
	.key_ctx_bytes = sizeof(chacha_key),
	.batch_hint = 1,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};
