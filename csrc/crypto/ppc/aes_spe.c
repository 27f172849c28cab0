/* SPDX-License-Identifier: MIT
 * ECB, CBC, CTR (SP 800-38A) and XTS (IEEE 1619) on SPE: spans and batches around the assembly.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe.h"

#include "../block.h"
#include "../generic/aes_table.h"
#include "../spans.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, "SPE exists on big-endian e500 only");
_Static_assert(offsetof(gw_spe_aes_key, dec) % 8 == 0 && sizeof(gw_spe_aes_key) % 8 == 0, "evldd reads the round keys");
_Static_assert(offsetof(gw_spe_ctr, column0) == 16 && offsetof(gw_spe_ctr, whitening) == 24, "known to the assembly");

typedef struct xts_key {
	gw_spe_aes_key data, tweak;
} xts_key;

int gw_spe_aes_expand(gw_spe_aes_key *k, const uint8_t *key, size_t len)
{
	gw_aes_table_key plain;
	if (gw_aes_table_expand(&plain, key, len) != 0) return -EINVAL;
	const size_t words = 4 * (plain.rounds + 1);
	memset(k, 0, sizeof *k);
	memcpy(k->enc + 60 - words, plain.enc, 4 * words);
	memcpy(k->dec + 60 - words, plain.dec, 4 * words);
	k->rounds = plain.rounds;
	gw_wipe(&plain, sizeof plain);
	return 0;
}

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_spe_aes_expand((gw_spe_aes_key *)ctx, key, len);
}

static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = (xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_spe_aes_expand(&k->data, key, len / 2);
	return gw_spe_aes_expand(&k->tweak, key + len / 2, len / 2);
}

#define PREFETCH_MIN 4096 /* bytes of a batch: below, 256 cache touches cost more than they save */

void gw_spe_warm(const void *table, const gw_op *ops, size_t n)
{
	size_t bytes = 0;
	if (n == 1 && ops->in[0].len < PREFETCH_MIN) return; /* the shortest way for the smallest requests */
	for (size_t i = 0; i < n && bytes < PREFETCH_MIN; i++) bytes += gw_op_len(&ops[i]);
	if (bytes >= PREFETCH_MIN) gw_spe_prefetch(table);
}

/* One request of one short span, as latency tests and small packets bring it: straight into the assembly. */
static inline bool is_single(const gw_op *ops, size_t n)
{
	return n == 1 && ops->n_in == 1 && (ops->flags & GW_OP_IV_NONCE) == 0 && ops->in[0].len >= 16 &&
		   ops->in[0].len < PREFETCH_MIN;
}

typedef void (*ecb_fn)(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *table,
					   uint32_t rounds);

static __attribute__((noinline)) void ecb(const gw_op *op, ecb_fn run, const uint32_t *rk, const void *table,
										  uint32_t rounds)
{
	uint8_t *out = op->out;
	for (const gw_span *s = op->in, *end = s + op->n_in; s < end; s++) {
		const size_t blocks = s->len / 16;
		if (blocks > 0) run(rk, s->data, out, blocks, table, rounds);
		out += 16 * blocks;
	}
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	if (is_single(ops, n)) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		gw_spe_aes_ecb_enc(k->enc, ops->in[0].data, ops->out, ops->in[0].len / 16, gw_spe_aes_te, k->rounds);
		return;
	}
	gw_spe_warm(gw_spe_aes_te, ops, n);
	for (const gw_op *end = ops + n; ops < end; ops++) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		ecb(ops, gw_spe_aes_ecb_enc, k->enc, gw_spe_aes_te, k->rounds);
	}
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	if (is_single(ops, n)) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		gw_spe_aes_ecb_dec(k->dec, ops->in[0].data, ops->out, ops->in[0].len / 16, gw_spe_aes_td, k->rounds);
		return;
	}
	gw_spe_warm(gw_spe_aes_td, ops, n);
	for (const gw_op *end = ops + n; ops < end; ops++) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		ecb(ops, gw_spe_aes_ecb_dec, k->dec, gw_spe_aes_td, k->rounds);
	}
}

static __attribute__((noinline)) void cbc_encrypt_batch(gw_op *ops, size_t n)
{
	uint8_t chain[16];
	gw_spe_warm(gw_spe_aes_te, ops, n);
	for (const gw_op *end = ops + n; ops < end; ops++) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		const uint8_t *iv = ops->iv;
		uint8_t *out = ops->out;
		if (ops->flags & GW_OP_IV_NONCE) gw_spe_aes_ecb_enc(k->enc, ops->iv, ops->iv, 1, gw_spe_aes_te, k->rounds);
		for (const gw_span *s = ops->in, *last = s + ops->n_in; s < last; s++) {
			const size_t blocks = s->len / 16;
			if (blocks == 0) continue;
			gw_spe_aes_cbc_enc(k->enc, s->data, out, blocks, gw_spe_aes_te, k->rounds, iv, chain);
			iv = chain;
			out += 16 * blocks;
		}
	}
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	if (is_single(ops, n)) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		gw_spe_aes_cbc_enc(k->enc, ops->in[0].data, ops->out, ops->in[0].len / 16, gw_spe_aes_te, k->rounds, ops->iv,
						   NULL);
	} else {
		cbc_encrypt_batch(ops, n);
	}
}

static __attribute__((noinline)) void cbc_decrypt_batch(gw_op *ops, size_t n)
{
	uint8_t chain[16], next[16];
	gw_spe_warm(gw_spe_aes_td, ops, n);
	for (const gw_op *end = ops + n; ops < end; ops++) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		const uint8_t *iv = ops->iv;
		uint8_t *out = ops->out;
		for (const gw_span *s = ops->in, *last = s + ops->n_in; s < last; s++) {
			const size_t blocks = s->len / 16;
			if (blocks == 0) continue;
			if (s + 1 < last) memcpy(next, s->data + 16 * blocks - 16, 16); /* in may be out */
			gw_spe_aes_cbc_dec(k->dec, s->data, out, blocks, gw_spe_aes_td, k->rounds, iv);
			if (s + 1 == last) break;
			memcpy(chain, next, 16);
			iv = chain;
			out += 16 * blocks;
		}
	}
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	if (is_single(ops, n)) {
		const gw_spe_aes_key *k = (const gw_spe_aes_key *)ops->key;
		gw_spe_aes_cbc_dec(k->dec, ops->in[0].data, ops->out, ops->in[0].len / 16, gw_spe_aes_td, k->rounds, ops->iv);
	} else {
		cbc_decrypt_batch(ops, n);
	}
}

/* ---- CTR ---- */

#define T(i, w) gw_spe_aes_te[(w) >> (24 - 8 * (i)) & 255][i]

static void ctr_constants(const gw_spe_aes_key *k, const uint8_t counter[16], gw_spe_ctr *c)
{
	const uint32_t *rk = k->enc + 56 - 4 * k->rounds;
	const uint32_t a = gw_load_be32(counter) ^ rk[0], b = gw_load_be32(counter + 4) ^ rk[1];
	const uint32_t d = gw_load_be32(counter + 8) ^ rk[2], last = gw_load_be32(counter + 12), e = last ^ rk[3];
	const uint32_t s1 = T(0, b) ^ T(1, d) ^ T(2, e) ^ T(3, a) ^ rk[5];
	const uint32_t s2 = T(0, d) ^ T(1, e) ^ T(2, a) ^ T(3, b) ^ rk[6];
	const uint32_t s3 = T(0, e) ^ T(1, a) ^ T(2, b) ^ T(3, d) ^ rk[7];

	c->column0 = T(0, a) ^ T(1, b) ^ T(2, d) ^ rk[4];
	c->columns[0] = T(1, s1) ^ T(2, s2) ^ T(3, s3) ^ rk[8];
	c->columns[1] = T(0, s1) ^ T(1, s2) ^ T(2, s3) ^ rk[9];
	c->columns[2] = T(0, s2) ^ T(1, s3) ^ T(3, s1) ^ rk[10];
	c->columns[3] = T(0, s3) ^ T(2, s1) ^ T(3, s2) ^ rk[11];
	c->counter = last;
	c->whitening = rk[3];
}

void gw_spe_ctr_bytes(const gw_spe_aes_key *k, uint8_t counter[16], bool wrap32, const uint8_t *in, uint8_t *out,
					  size_t len)
{
	uint8_t stream[16];
	gw_spe_ctr c;

	while (len > 16) {
		const size_t blocks = len / 16, shared = 256u - counter[15], n = blocks < shared ? blocks : shared;
		ctr_constants(k, counter, &c);
		gw_spe_aes_ctr(k->enc, in, out, n, gw_spe_aes_te, k->rounds, &c);
		if (wrap32)
			gw_ctr32_add(counter, (uint32_t)n);
		else
			gw_ctr128_add(counter, n);
		in += 16 * n, out += 16 * n, len -= 16 * n;
	}
	if (len == 0) return;
	/* One block, whole or not, is not worth the constants. */
	gw_spe_aes_ecb_enc(k->enc, counter, stream, 1, gw_spe_aes_te, k->rounds);
	if (len == 16)
		gw_xor16(out, in, stream);
	else
		gw_xor_bytes(out, in, stream, len);
	if (wrap32)
		gw_ctr32_add(counter, 1);
	else
		gw_ctr128_add(counter, 1);
}

static void ctr(gw_op *ops, size_t n)
{
	gw_spe_warm(gw_spe_aes_te, ops, n);
	for (; n > 0; n--, ops++) {
		uint8_t *out = ops->out, counter[16];
		memcpy(counter, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			gw_spe_ctr_bytes((const gw_spe_aes_key *)ops->key, counter, false, ops->in[s].data, out, ops->in[s].len);
			out += ops->in[s].len;
		}
	}
}

/* ---- XTS ---- */

typedef void (*xts_fn)(const uint32_t *rk, const uint8_t *in, uint8_t *out, size_t blocks, const void *table,
					   uint32_t rounds, uint8_t *tweak);

static __attribute__((noinline)) void xts(const gw_op *op, xts_fn run, const uint32_t *rk, const void *table,
										  bool decrypt)
{
	const xts_key *k = (const xts_key *)op->key;
	const uint32_t rounds = k->data.rounds;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16; /* blocks that come before ciphertext stealing */
	uint8_t tweak[16], *out = op->out, last[32];

	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	gw_spe_aes_ecb_enc(k->tweak.enc, op->iv, tweak, 1, gw_spe_aes_te, rounds);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const size_t there = op->in[s].len / 16, n = there < whole ? there : whole;
		if (n > 0) run(rk, op->in[s].data, out, n, table, rounds, tweak);
		out += 16 * n, whole -= n;
	}
	if (tail == 0) return;

	/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. `run` moves the one it uses on. */
	uint8_t after[16], full[16], cut[16];
	memcpy(after, tweak, 16);
	gw_xts_next(after);
	if (decrypt) {
		run(rk, last, full, 1, table, rounds, after);
		memcpy(after, tweak, 16);
	} else {
		run(rk, last, full, 1, table, rounds, tweak);
	}
	memcpy(cut, last + 16, tail);
	memcpy(cut + tail, full + tail, 16 - tail);
	run(rk, cut, out, 1, table, rounds, after);
	memcpy(out + 16, full, tail);
}

static void xts_encrypt(gw_op *ops, size_t n)
{
	gw_spe_warm(gw_spe_aes_te, ops, n);
	for (size_t i = 0; i < n; i++)
		xts(&ops[i], gw_spe_aes_xts_enc, ((const xts_key *)ops[i].key)->data.enc, gw_spe_aes_te, false);
}

static void xts_decrypt(gw_op *ops, size_t n)
{
	gw_spe_warm(gw_spe_aes_td, ops, n);
	for (size_t i = 0; i < n; i++)
		xts(&ops[i], gw_spe_aes_xts_dec, ((const xts_key *)ops[i].key)->data.dec, gw_spe_aes_td, true);
}

#define IMPL(mode, size, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_spe = {                                                                         \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-spe/gwbench",                                                                            \
		.tag = "spe",                                                                                                  \
		.isa = "e500 SPE, tables",                                                                                     \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 300,                                                                                               \
		.cpu_needs = GW_CPU_SPE,                                                                                       \
		.key_ctx_bytes = size,                                                                                         \
		.batch_hint = 1,                                                                                               \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, sizeof(gw_spe_aes_key), setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, sizeof(gw_spe_aes_key), setkey, cbc_encrypt, cbc_decrypt);
IMPL(ctr, sizeof(gw_spe_aes_key), setkey, ctr, ctr);
IMPL(xts, sizeof(xts_key), xts_setkey, xts_encrypt, xts_decrypt);
#else
typedef int gw_aes_spe_is_elsewhere;
#endif
