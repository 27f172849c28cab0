/* SPDX-License-Identifier: MIT
 * ECB, CBC, CTR (SP 800-38A) and XTS (IEEE 1619) over bit-sliced AES. Four blocks of a packet go together where the
 * mode allows it; CBC encryption, serial within a packet, takes four packets instead, each under its own key. A span
 * ends at a multiple of 64 bytes, unless it is the last: four blocks never straddle two.
 */
#include "../block.h"
#include "../spans.h"
#include "aes_ct.h"

#if GW_AES_CT

typedef void (*blocks_fn)(const gw_aes_ct_key *k, uint8_t blocks[64]);

typedef struct xts_key {
	gw_aes_ct_key data, tweak;
} xts_key;

static int xts_setkey(void *ctx, const uint8_t *key, size_t len)
{
	xts_key *k = (xts_key *)ctx;
	if (len != 32 && len != 48 && len != 64) return -EINVAL; /* 48: not in IEEE 1619, but tested by others */
	(void)gw_aes_ct_setkey(&k->data, key, len / 2);
	return gw_aes_ct_setkey(&k->tweak, key + len / 2, len / 2);
}

/* ---- ECB, CTR ---- */

/* One copy for both directions, here and below. */
static __attribute__((noinline)) void ecb(const gw_op *op, blocks_fn crypt)
{
	uint8_t *out = op->out, four[64];
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len & ~(size_t)15; left > 0;) {
			const size_t n = left < 64 ? left : 64;
			memset(four, 0, sizeof four);
			memcpy(four, in, n);
			crypt((const gw_aes_ct_key *)op->key, four);
			memcpy(out, four, n);
			in += n, out += n, left -= n;
		}
	}
	gw_wipe(four, sizeof four);
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) ecb(&ops[i], gw_aes_ct_encrypt4);
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) ecb(&ops[i], gw_aes_ct_decrypt4);
}

static void ctr(gw_op *ops, size_t n)
{
	uint8_t stream[64];
	for (; n > 0; n--, ops++) {
		uint8_t *out = ops->out, counter[16];
		memcpy(counter, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			for (size_t left = ops->in[s].len; left > 0;) {
				const size_t m = left < 64 ? left : 64;
				for (size_t i = 0; i < 4; i++) {
					memcpy(stream + 16 * i, counter, 16);
					gw_ctr128_add(counter, 1);
				}
				gw_aes_ct_encrypt4((const gw_aes_ct_key *)ops->key, stream);
				gw_xor_bytes(out, in, stream, m);
				in += m, out += m, left -= m;
			}
		}
	}
	gw_wipe(stream, sizeof stream);
}

/* ---- CBC ---- */

/* A packet in one of four lanes; what it is encrypted under stands in that lane of the planes. */
typedef struct lane {
	gw_op *op; /* NULL: idle */
	const uint8_t *in;
	uint8_t *out;
	size_t left; /* in this span */
	uint32_t span;
	bool nonce; /* the IV itself is being encrypted */
} lane;

/* Moves on to a span with a block in it; false: none is left. */
static bool more(lane *l)
{
	while (l->left < 16) {
		if (l->span == l->op->n_in) return false;
		l->in = l->op->in[l->span].data;
		l->left = l->op->in[l->span++].len;
	}
	return true;
}

/* False: nothing to do for it. */
static bool begin(lane *l, gw_op *op, uint8_t *chain)
{
	*l = (lane){.op = op, .out = op->out, .nonce = (op->flags & GW_OP_IV_NONCE) != 0};
	memcpy(chain, op->iv, 16);
	if (more(l) || l->nonce) return true;
	l->op = NULL;
	return false;
}

static void cbc_encrypt(gw_op *ops, size_t n)
{
	lane lanes[4] = {{0}};
	const gw_aes_ct_key *in_lane[4] = {0};
	gw_aes_ct_key planes;
	uint8_t chain[64] = {0};
	uint32_t busy = 0;
	gw_op *const end = ops + n;

	for (;;) {
		for (uint32_t i = 0; i < 4; i++) {
			while (lanes[i].op == NULL && ops < end) {
				const gw_aes_ct_key *k = (const gw_aes_ct_key *)ops->key;
				/* Lanes share the number of rounds: another one waits until all are idle. */
				if (busy > 0 && k->rounds != planes.rounds) break;
				if (!begin(&lanes[i], ops++, chain + 16 * i)) continue;
				if (busy++ == 0) {
					planes = *k;
					for (int j = 0; j < 4; j++) in_lane[j] = k;
				} else if (in_lane[i] != k) {
					gw_aes_ct_set_lane(&planes, k, i);
					in_lane[i] = k;
				}
			}
			if (lanes[i].op != NULL && !lanes[i].nonce) gw_xor16(chain + 16 * i, chain + 16 * i, lanes[i].in);
		}
		if (busy == 0) break;
		gw_aes_ct_encrypt4(&planes, chain);
		for (uint32_t i = 0; i < 4; i++) {
			lane *l = &lanes[i];
			if (l->op == NULL) continue;
			if (l->nonce) {
				memcpy(l->op->iv, chain + 16 * i, 16);
				l->nonce = false;
			} else {
				memcpy(l->out, chain + 16 * i, 16);
				l->in += 16, l->out += 16, l->left -= 16;
			}
			if (!more(l)) {
				l->op = NULL;
				busy--;
			}
		}
	}
	if (n > 0) gw_wipe(&planes, sizeof planes);
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	uint8_t four[64], kept[80]; /* kept: the last block of ciphertext, then these four, for in may be out */
	for (; n > 0; n--, ops++) {
		uint8_t *out = ops->out;
		memcpy(kept, ops->iv, 16);
		for (uint32_t s = 0; s < ops->n_in; s++) {
			const uint8_t *in = ops->in[s].data;
			for (size_t left = ops->in[s].len & ~(size_t)15; left > 0;) {
				const size_t m = left < 64 ? left : 64;
				memset(four, 0, sizeof four);
				memcpy(four, in, m);
				memcpy(kept + 16, in, m);
				gw_aes_ct_decrypt4((const gw_aes_ct_key *)ops->key, four);
				for (size_t i = 0; i < m; i += 16) gw_xor16(out + i, four + i, kept + i);
				memmove(kept, kept + m, 16);
				in += m, out += m, left -= m;
			}
		}
	}
	gw_wipe(four, sizeof four);
}

/* ---- XTS ---- */

static __attribute__((noinline)) void xts_block(const gw_aes_ct_key *k, blocks_fn crypt, const uint8_t *tweak,
												const uint8_t *in, uint8_t *out)
{
	uint8_t four[64] = {0};
	gw_xor16(four, in, tweak);
	crypt(k, four);
	gw_xor16(out, four, tweak);
	gw_wipe(four, sizeof four);
}

static __attribute__((noinline)) void xts(const gw_op *op, blocks_fn crypt, bool decrypt)
{
	const xts_key *k = (const xts_key *)op->key;
	const size_t len = gw_op_len(op), tail = len % 16;
	size_t whole = len / 16; /* blocks that come before ciphertext stealing */
	uint8_t tweak[64] = {0}, four[64], tweaks[64], *out = op->out, last[32];

	if (len < 16) return;
	if (tail != 0) {
		whole--;
		gw_op_gather(op, 16 * whole, last, 16 + tail); /* before an in-place run could change it */
	}
	memcpy(tweak, op->iv, 16);
	gw_aes_ct_encrypt4(&k->tweak, tweak);
	for (uint32_t s = 0; s < op->n_in; s++) {
		const uint8_t *in = op->in[s].data;
		for (size_t left = op->in[s].len / 16; left > 0 && whole > 0;) {
			size_t m = left < 4 ? left : 4;
			if (m > whole) m = whole;
			memset(four, 0, sizeof four);
			for (size_t i = 0; i < m; i++) {
				memcpy(tweaks + 16 * i, tweak, 16);
				gw_xor16(four + 16 * i, in + 16 * i, tweak);
				gw_xts_next(tweak);
			}
			crypt(&k->data, four);
			for (size_t i = 0; i < m; i++) gw_xor16(out + 16 * i, four + 16 * i, tweaks + 16 * i);
			in += 16 * m, out += 16 * m, left -= m, whole -= m;
		}
	}
	if (tail != 0) {
		/* IEEE 1619 5.3.2, 5.4.2: the last two tweaks change places when decrypting. */
		uint8_t other[16], full[16], cut[16];
		memcpy(other, tweak, 16);
		gw_xts_next(other);
		xts_block(&k->data, crypt, decrypt ? other : tweak, last, full);
		memcpy(cut, last + 16, tail);
		memcpy(cut + tail, full + tail, 16 - tail);
		xts_block(&k->data, crypt, decrypt ? tweak : other, cut, out);
		memcpy(out + 16, full, tail);
	}
	gw_wipe(tweaks, sizeof tweaks);
}

static void xts_encrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], gw_aes_ct_encrypt4, false);
}

static void xts_decrypt(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) xts(&ops[i], gw_aes_ct_decrypt4, true);
}

#define IMPL(mode, size, set, enc, dec)                                                                                \
	const gw_impl gw_impl_##mode##_aes_ct = {                                                                          \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-ct/gwbench",                                                                             \
		.tag = "ct",                                                                                                   \
		.isa = "C, bit-sliced",                                                                                        \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 150,                                                                                               \
		.constant_time = true,                                                                                         \
		.key_ctx_bytes = size,                                                                                         \
		.batch_hint = 4,                                                                                               \
		.setkey = set,                                                                                                 \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, sizeof(gw_aes_ct_key), gw_aes_ct_setkey, ecb_encrypt, ecb_decrypt);
IMPL(cbc, sizeof(gw_aes_ct_key), gw_aes_ct_setkey, cbc_encrypt, cbc_decrypt);
IMPL(ctr, sizeof(gw_aes_ct_key), gw_aes_ct_setkey, ctr, ctr);
IMPL(xts, sizeof(xts_key), xts_setkey, xts_encrypt, xts_decrypt);
#endif
