/* SPDX-License-Identifier: MIT
 * Known answers before selection: published vectors first; then, because these are too short to reach the wide paths
 * of an accelerated implementation, a batch of unequal packets compared with the generic one, which passed before.
 */
#include "known_answers.h"

#include <stdio.h>

#include "known_answers_data.h"
#include "spans.h"

#define TEXT_MAX 256

static size_t bytes(const char *counted, uint8_t *out)
{
	if (counted == NULL) return 0;
	const size_t n = (uint8_t)counted[0];
	memcpy(out, counted + 1, n);
	return n;
}

static int fail(const gw_impl *impl, gw_err *err, const char *what)
{
	if (err != NULL)
		snprintf(err->text, sizeof err->text, "%s gives a wrong answer (%s): not used", impl->driver, what);
	return -EBADMSG;
}

static bool has_tag(const gw_impl *impl)
{
	return impl->kind != GW_KIND_CIPHER;
}

#define REFUSED 1

/* 0, REFUSED, or -EBADMSG. */
static int published(const gw_impl *impl, const gw_known_answer *row, bool spoil, gw_err *err)
{
	uint8_t key[TEXT_MAX], iv[TEXT_MAX], aad[TEXT_MAX], in[TEXT_MAX], want[TEXT_MAX], tag[TEXT_MAX];
	uint8_t got[TEXT_MAX], got_tag[64];
	const size_t key_len = bytes(row->key, key), len = bytes(row->in, in), tag_len = bytes(row->tag, tag);
	const size_t iv_len = bytes(row->iv, iv), aad_len = bytes(row->aad, aad);
	int r = 0;

	gw_key *k = gw_key_new(impl, key, key_len, err);
	if (k == NULL) return -EBADMSG;
	const size_t out_len = bytes(row->out, want);
	gw_op op = {.key = gw_key_ctx(k),
				.mac_key = gw_key_ctx(k),
				.in = {{in, len}},
				.n_in = 1,
				.out = got,
				.aad = aad,
				.aad_len = (uint32_t)aad_len,
				.iv = iv,
				.iv_len = (uint32_t)iv_len,
				.tag = got_tag,
				.tag_len = (uint32_t)tag_len};
	impl->encrypt(&op, 1);
	if (impl->by_name_only && op.status == -EOPNOTSUPP) { /* a provider's limit, such as nonces of 12 bytes only */
		gw_key_free(k);
		return REFUSED;
	}
	if (spoil) (has_tag(impl) ? got_tag : got)[0] ^= 1;
	if (memcmp(got, want, out_len) != 0 || memcmp(got_tag, tag, tag_len) != 0) r = fail(impl, err, "known answer");
	if (r == 0 && impl->decrypt != NULL) {
		op.in[0].data = got; /* in place, as packets are opened */
		impl->decrypt(&op, 1);
		if (op.status != 0 || memcmp(got, in, len) != 0) r = fail(impl, err, "known answer, decryption");
	}
	if (r == 0 && impl->kind == GW_KIND_AEAD) {
		memcpy(got, want, out_len);
		got_tag[0] ^= 0x40;
		impl->decrypt(&op, 1);
		if (op.status != -EBADMSG) r = fail(impl, err, "a forged tag was accepted");
	}
	gw_key_free(k);
	return r;
}

/* ---- the batch ---- */

#define WIDE_OPS 19
#define WIDE_MAX 1100

typedef struct wide {
	uint8_t in[WIDE_OPS][WIDE_MAX], out[2][WIDE_OPS][WIDE_MAX], tag[2][WIDE_OPS][64], iv[WIDE_OPS][16], aad[16];
} wide;

static size_t wide_len(const gw_impl *impl, size_t i)
{
	static const uint16_t lens[] = {64,  1088, 16, 0,   300, 127, 1095, 512, 31, 768,
									129, 1041, 65, 256, 400, 17,  1001, 80,  640};
	const size_t len = lens[i % (sizeof lens / sizeof lens[0])];
	const bool blocks = strncmp(impl->alg, "ecb", 3) == 0 || strncmp(impl->alg, "cbc", 3) == 0;
	if (strncmp(impl->alg, "xts", 3) == 0 && len < 16) return 16;
	return blocks ? len & ~(size_t)15 : len;
}

static void wide_ops(const gw_impl *impl, gw_key *const keys[2], wide *w, int side, gw_op *ops)
{
	for (size_t i = 0; i < WIDE_OPS; i++) {
		const size_t len = wide_len(impl, i), first = (len / 2) & ~(size_t)63;
		const void *ctx = keys[i % 3 == 1] == NULL ? NULL : gw_key_ctx(keys[i % 3 == 1]);
		ops[i] = (gw_op){.key = ctx,
						 .mac_key = ctx,
						 .in = {{w->in[i], first}, {w->in[i] + first, len - first}},
						 .n_in = 2,
						 .out = w->out[side][i],
						 .aad = w->aad,
						 .aad_len = i % 2 ? 12 : 8,
						 .iv = w->iv[i],
						 .iv_len = impl->kind == GW_KIND_AEAD ? 12 : 16,
						 .tag = w->tag[side][i],
						 .tag_len = impl->kind == GW_KIND_AEAD ? 16 : 20,
						 .flags = impl->kind == GW_KIND_MAC && i % 2 ? GW_OP_ESN : 0,
						 .esn = {1, 2, 3, 4}};
	}
}

static int open_wide(const gw_impl *impl, wide *w, gw_op *ops, gw_err *err)
{
	for (size_t i = 0; i < WIDE_OPS; i++) {
		const size_t len = gw_op_len(&ops[i]), first = ops[i].in[0].len;
		ops[i].in[0] = (gw_span){w->out[1][i], first};
		ops[i].in[1] = (gw_span){w->out[1][i] + first, len - first};
	}
	impl->decrypt(ops, WIDE_OPS);
	for (size_t i = 0; i < WIDE_OPS; i++)
		if (ops[i].status != 0 || memcmp(w->out[1][i], w->in[i], gw_op_len(&ops[i])) != 0)
			return fail(impl, err, "a batch, decryption");
	return 0;
}

static int against_generic(const gw_impl *impl, const gw_impl *generic, size_t key_len, gw_err *err)
{
	gw_op ops[WIDE_OPS];
	uint8_t raw[2][64];
	gw_key *keys[2][2] = {{NULL}};
	wide *w = (wide *)gw_alloc(sizeof *w);
	uint32_t x = 12345;
	int r = 0;

	if (w == NULL) return -ENOMEM;
	for (size_t i = 0; i < sizeof *w; i++) ((uint8_t *)w)[i] = (uint8_t)((x = x * 1103515245u + 12345u) >> 16);
	memcpy(raw, w->in, sizeof raw);
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < 2 && impl->setkey != NULL; k++)
			if ((keys[side][k] = gw_key_new(side ? impl : generic, raw[k], key_len, err)) == NULL) r = -EBADMSG;
	for (int side = 0; side < 2 && r == 0; side++) {
		wide_ops(impl, keys[side], w, side, ops);
		(side ? impl : generic)->encrypt(ops, WIDE_OPS);
	}
	for (size_t i = 0; i < WIDE_OPS && r == 0; i++) {
		const size_t len = impl->decrypt == NULL ? 0 : gw_op_len(&ops[i]);
		const size_t tag_len = has_tag(impl) ? ops[i].tag_len : 0;
		if (memcmp(w->out[0][i], w->out[1][i], len) != 0 || memcmp(w->tag[0][i], w->tag[1][i], tag_len) != 0)
			r = fail(impl, err, "a batch");
	}
	if (r == 0 && impl->decrypt != NULL) r = open_wide(impl, w, ops, err);
	for (int i = 0; i < 4; i++) gw_key_free(keys[i / 2][i % 2]);
	gw_free_wipe(w, sizeof *w);
	return r;
}

static bool takes(const gw_impl *impl, size_t key_len)
{
	uint8_t any[64];
	for (size_t i = 0; i < sizeof any; i++) any[i] = (uint8_t)(7 * i); /* XTS may refuse equal halves */
	gw_key *k = gw_key_new(impl, any, key_len, NULL);
	gw_key_free(k);
	return k != NULL;
}

int gw_known_answers(const gw_impl *impl, bool spoil, gw_err *err)
{
	size_t seen = 0;
	if (impl->kind == GW_KIND_AUTHENC) return gw_known_answers_authenc(impl, spoil, err);
	for (size_t i = 0; i < sizeof gw_known_answer_rows / sizeof gw_known_answer_rows[0]; i++) {
		const gw_known_answer *row = &gw_known_answer_rows[i];
		if (strcmp(row->alg, impl->alg) != 0) continue;
		const int r = published(impl, row, spoil, err);
		if (r < 0) return r;
		seen += r != REFUSED;
	}
	const gw_impl *generic = NULL;
	for (size_t i = 0; generic == NULL && i < gw_impl_table_len; i++)
		if (strcmp(gw_impl_table[i]->alg, impl->alg) == 0) generic = gw_impl_table[i];
	if (seen == 0) return fail(impl, err, "no known answer exists");
	if (generic == impl) return 0;
	if (impl->setkey == NULL) return against_generic(impl, generic, 0, err);

	/* Every key length that the generic one takes, 16 to 64; a provider may lack some (OpenSSL has no XTS-AES-192). */
	size_t compared = 0;
	for (size_t len = 16; len <= 64; len += 8) {
		if (!takes(generic, len) || (impl->by_name_only && !takes(impl, len))) continue;
		const int r = against_generic(impl, generic, len, err);
		if (r != 0) return r;
		compared++;
	}
	return compared > 0 ? 0 : fail(impl, err, "every key was refused");
}
