/* SPDX-License-Identifier: MIT
 * Speck (Beaulieu and others, 2013) in XTS mode, for benchmarks only: Speck64/128 and Speck128/256. Words are
 * little-endian, the block is (y, x), as in the NSA's implementation guide and Linux. XTS over 64-bit blocks doubles
 * its tweak modulo x^64 + x^4 + x^3 + x + 1 (0x1b). A last partial block is stolen as in IEEE 1619.
 */
#include "../block.h"
#include "../impl.h"
#include "../spans.h"

#define ROUNDS64  27 /* Speck64/128 */
#define ROUNDS128 34 /* Speck128/256 */

static inline uint32_t ror32(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}
static inline uint64_t ror64(uint64_t v, int n)
{
	return v >> n | v << (64 - n);
}

#define ENC32(x, y, k) (x = (ror32(x, 8) + y) ^ (k), y = ror32(y, 29) ^ x)
#define DEC32(x, y, k) (y = ror32(y ^ x, 3), x = ror32((x ^ (k)) - y, 24))
#define ENC64(x, y, k) (x = (ror64(x, 8) + y) ^ (k), y = ror64(y, 61) ^ x)
#define DEC64(x, y, k) (y = ror64(y ^ x, 3), x = ror64((x ^ (k)) - y, 56))

typedef struct speck64_key {
	uint32_t data[ROUNDS64], tweak[ROUNDS64];
} speck64_key;

typedef struct speck128_key {
	uint64_t data[ROUNDS128], tweak[ROUNDS128];
} speck128_key;

static void expand64(uint32_t *rk, const uint8_t *key)
{
	uint32_t y = gw_load_le32(key), l[3];
	for (int i = 0; i < 3; i++) l[i] = gw_load_le32(key + 4 + 4 * i);
	for (uint32_t i = 0; i < ROUNDS64; i++) {
		rk[i] = y;
		ENC32(l[i % 3], y, i);
	}
}

static void expand128(uint64_t *rk, const uint8_t *key)
{
	uint64_t y = gw_load_le64(key), l[3];
	for (int i = 0; i < 3; i++) l[i] = gw_load_le64(key + 8 + 8 * i);
	for (uint64_t i = 0; i < ROUNDS128; i++) {
		rk[i] = y;
		ENC64(l[i % 3], y, i);
	}
}

static int setkey64(void *ctx, const uint8_t *key, size_t len)
{
	speck64_key *k = (speck64_key *)ctx;
	if (len != 32) return -EINVAL;
	expand64(k->data, key);
	expand64(k->tweak, key + 16);
	return 0;
}

static int setkey128(void *ctx, const uint8_t *key, size_t len)
{
	speck128_key *k = (speck128_key *)ctx;
	if (len != 64) return -EINVAL;
	expand128(k->data, key);
	expand128(k->tweak, key + 32);
	return 0;
}

static void block64(const uint32_t *rk, bool decrypt, const uint8_t *in, uint8_t *out)
{
	uint32_t y = gw_load_le32(in), x = gw_load_le32(in + 4);
	if (decrypt)
		for (int i = ROUNDS64 - 1; i >= 0; i--) DEC32(x, y, rk[i]);
	else
		for (int i = 0; i < ROUNDS64; i++) ENC32(x, y, rk[i]);
	gw_store_le32(out, y);
	gw_store_le32(out + 4, x);
}

static void block128(const uint64_t *rk, bool decrypt, const uint8_t *in, uint8_t *out)
{
	uint64_t y = gw_load_le64(in), x = gw_load_le64(in + 8);
	if (decrypt)
		for (int i = ROUNDS128 - 1; i >= 0; i--) DEC64(x, y, rk[i]);
	else
		for (int i = 0; i < ROUNDS128; i++) ENC64(x, y, rk[i]);
	gw_store_le64(out, y);
	gw_store_le64(out + 8, x);
}

/* One block of either width under a tweak; bytes is 8 or 16. */
static void xts_block(const void *key, size_t bytes, bool decrypt, const uint8_t *tweak, const uint8_t *in,
					  uint8_t *out)
{
	uint8_t t[16];
	gw_xor_bytes(t, in, tweak, bytes);
	if (bytes == 8)
		block64(((const speck64_key *)key)->data, decrypt, t, t);
	else
		block128(((const speck128_key *)key)->data, decrypt, t, t);
	gw_xor_bytes(out, t, tweak, bytes);
}

static void next_tweak(uint8_t *t, size_t bytes)
{
	if (bytes == 16) {
		gw_xts_next(t);
		return;
	}
	const uint64_t v = gw_load_le64(t);
	gw_store_le64(t, v << 1 ^ (0x1b & (0 - (v >> 63))));
}

static void xts(const gw_op *op, size_t bytes, bool decrypt)
{
	const size_t len = gw_op_len(op), tail = len % bytes;
	size_t whole = len / bytes;
	uint8_t tweak[16], last[32], *out = op->out;

	if (len < bytes) return;
	if (tail != 0) gw_op_gather(op, bytes * --whole, last, bytes + tail);
	if (bytes == 8)
		block64(((const speck64_key *)op->key)->tweak, false, op->iv, tweak);
	else
		block128(((const speck128_key *)op->key)->tweak, false, op->iv, tweak);
	for (uint32_t s = 0; s < op->n_in; s++)
		for (size_t i = 0; i + bytes <= op->in[s].len && whole > 0; i += bytes, out += bytes, whole--) {
			xts_block(op->key, bytes, decrypt, tweak, op->in[s].data + i, out);
			next_tweak(tweak, bytes);
		}
	if (tail == 0) return;

	uint8_t other[16], full[16], cut[16];
	memcpy(other, tweak, bytes);
	next_tweak(other, bytes);
	xts_block(op->key, bytes, decrypt, decrypt ? other : tweak, last, full);
	memcpy(cut, last + bytes, tail);
	memcpy(cut + tail, full + tail, bytes - tail);
	xts_block(op->key, bytes, decrypt, decrypt ? tweak : other, cut, out);
	memcpy(out + bytes, full, tail);
}

static void encrypt64(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], 8, false);
}

static void decrypt64(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], 8, true);
}

static void encrypt128(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], 16, false);
}

static void decrypt128(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], 16, true);
}

#define IMPL(bits)                                                                                                     \
	const gw_impl gw_impl_xts_speck##bits##_generic = {                                                                \
		.alg = "xts(speck" #bits ")",                                                                                  \
		.driver = "xts-speck" #bits "-generic/gwbench",                                                                \
		.tag = "generic",                                                                                              \
		.isa = "C",                                                                                                    \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 100,                                                                                               \
		.constant_time = true,                                                                                         \
		.key_ctx_bytes = sizeof(speck##bits##_key),                                                                    \
		.batch_hint = 1,                                                                                               \
		.setkey = setkey##bits,                                                                                        \
		.encrypt = encrypt##bits,                                                                                      \
		.decrypt = decrypt##bits,                                                                                      \
	}

IMPL(64);
IMPL(128);
