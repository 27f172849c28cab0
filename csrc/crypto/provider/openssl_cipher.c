/* SPDX-License-Identifier: MIT
 * OpenSSL's AES modes by EVP: one context a key and direction, prepared when the key is set, so that a packet costs one
 * initialisation with its IV and one call a span.
 */
#include "openssl.h"

typedef struct evp_key {
	gw_evp_ctx *ctx[2]; /* decrypt, encrypt */
} evp_key;

static void unsetkey(void *ctx)
{
	evp_key *k = (evp_key *)ctx;
	for (int dir = 0; dir < 2; dir++) {
		if (k->ctx[dir] != NULL) gw_openssl.EVP_CIPHER_CTX_free(k->ctx[dir]); /* wipes the schedule */
		k->ctx[dir] = NULL;
	}
}

static int setkey(void *ctx, const uint8_t *key, const char *name)
{
	evp_key *k = (evp_key *)ctx;
	const gw_evp_cipher *cipher = gw_openssl.EVP_get_cipherbyname(name);
	bool good = cipher != NULL;
	for (int dir = 0; dir < 2 && good; dir++) {
		k->ctx[dir] = gw_openssl.EVP_CIPHER_CTX_new();
		good = k->ctx[dir] != NULL && gw_openssl.EVP_CipherInit_ex(k->ctx[dir], cipher, NULL, key, NULL, dir) == 1 &&
			   gw_openssl.EVP_CIPHER_CTX_set_padding(k->ctx[dir], 0) == 1;
	}
	if (good) return 0;
	unsetkey(k);
	gw_openssl.ERR_clear_error();
	return -EINVAL;
}

static int setkey_mode(void *ctx, const uint8_t *key, size_t len, const char *const names[3])
{
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	return setkey(ctx, key, names[(len - 16) / 8]);
}

#define MODE_SETKEY(mode)                                                                                              \
	static int mode##_setkey(void *ctx, const uint8_t *key, size_t len)                                                \
	{                                                                                                                  \
		static const char *const names[3] = {"AES-128-" #mode, "AES-192-" #mode, "AES-256-" #mode};                    \
		return setkey_mode(ctx, key, len, names);                                                                      \
	}
MODE_SETKEY(ECB)
MODE_SETKEY(CBC)
MODE_SETKEY(CTR)

/* There is no AES-192-XTS, and equal halves are refused. */
static int XTS_setkey(void *ctx, const uint8_t *key, size_t len)
{
	if (len != 32 && len != 64) return -EINVAL;
	return setkey(ctx, key, len == 32 ? "AES-128-XTS" : "AES-256-XTS");
}

static gw_evp_ctx *start(const gw_op *op, int dir, const uint8_t *iv)
{
	gw_evp_ctx *ctx = ((const evp_key *)op->key)->ctx[dir];
	gw_openssl.EVP_CipherInit_ex(ctx, NULL, NULL, NULL, iv, -1);
	return ctx;
}

static void update(gw_evp_ctx *ctx, const gw_op *op)
{
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (op->in[s].len > 0) gw_openssl.EVP_Cipher(ctx, out, op->in[s].data, (unsigned)op->in[s].len);
		out += op->in[s].len;
	}
}

static void ecb(gw_op *ops, size_t n, int dir)
{
	for (size_t i = 0; i < n; i++) update(((const evp_key *)ops[i].key)->ctx[dir], &ops[i]);
}

static void with_iv(gw_op *ops, size_t n, int dir)
{
	for (size_t i = 0; i < n; i++) update(start(&ops[i], dir, ops[i].iv), &ops[i]);
}

/* A zero block under the nonce as IV gives the encrypted nonce, and leaves it as the chaining value. */
static void cbc_encrypt(gw_op *ops, size_t n)
{
	static const uint8_t zero[16];
	for (size_t i = 0; i < n; i++) {
		gw_evp_ctx *ctx = start(&ops[i], 1, ops[i].iv);
		if (ops[i].flags & GW_OP_IV_NONCE) gw_openssl.EVP_Cipher(ctx, ops[i].iv, zero, sizeof zero);
		update(ctx, &ops[i]);
	}
}

/* XTS is whole data units: one call must see all of it, so spans are moved together first. */
static void xts(gw_op *ops, size_t n, int dir)
{
	for (size_t i = 0; i < n; i++) {
		gw_op *op = &ops[i];
		const size_t len = gw_op_len(op);
		gw_evp_ctx *ctx = start(op, dir, op->iv);
		if (op->n_in == 1) {
			gw_openssl.EVP_Cipher(ctx, op->out, op->in[0].data, (unsigned)len);
			continue;
		}
		gw_provider_move(op);
		gw_openssl.EVP_Cipher(ctx, op->out, op->out, (unsigned)len);
	}
}

#define DIRECTION(name, run)                                                                                           \
	static void name##_encrypt(gw_op *ops, size_t n)                                                                   \
	{                                                                                                                  \
		run(ops, n, 1);                                                                                                \
	}                                                                                                                  \
	DECRYPT(name, run)
#define DECRYPT(name, run)                                                                                             \
	static void name##_decrypt(gw_op *ops, size_t n)                                                                   \
	{                                                                                                                  \
		run(ops, n, 0);                                                                                                \
	}
DIRECTION(ecb, ecb)
DECRYPT(cbc, with_iv)
DIRECTION(xts, xts)
/* Counter mode is its own inverse, and CTR contexts of both directions are the same. */
DIRECTION(ctr, with_iv)

#define ROW(mode, MODE)                                                                                                \
	const gw_impl gw_impl_##mode##_aes_openssl = {.alg = #mode "(aes)",                                                \
												  .driver = #mode "-aes-openssl/openssl",                              \
												  .tag = "openssl",                                                    \
												  .isa = gw_openssl_isa,                                               \
												  .kind = GW_KIND_CIPHER,                                              \
												  .priority = 50,                                                      \
												  .constant_time = true,                                               \
												  .by_name_only = true,                                                \
												  .key_ctx_bytes = sizeof(evp_key),                                    \
												  .batch_hint = 1,                                                     \
												  .setkey = MODE##_setkey,                                             \
												  .unsetkey = unsetkey,                                                \
												  .encrypt = mode##_encrypt,                                           \
												  .decrypt = mode##_decrypt};
ROW(ecb, ECB)
ROW(cbc, CBC)
ROW(ctr, CTR)
ROW(xts, XTS)
