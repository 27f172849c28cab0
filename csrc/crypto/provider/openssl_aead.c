/* SPDX-License-Identifier: MIT
 * OpenSSL's AES-GCM and ChaCha20-Poly1305 by EVP, one context a key and direction: per packet an initialisation with
 * the nonce, AAD, spans, and the tag.
 */
#include "openssl.h"

typedef struct aead_key {
	gw_evp_ctx *ctx[2]; /* open, seal */
	uint32_t iv_len[2]; /* that each context is set to */
} aead_key;

static void unsetkey(void *ctx)
{
	aead_key *k = (aead_key *)ctx;
	for (int dir = 0; dir < 2; dir++) {
		if (k->ctx[dir] != NULL) gw_openssl.EVP_CIPHER_CTX_free(k->ctx[dir]);
		k->ctx[dir] = NULL;
	}
}

static int setkey(void *ctx, const uint8_t *key, const char *name)
{
	aead_key *k = (aead_key *)ctx;
	const gw_evp_cipher *cipher = gw_openssl.EVP_get_cipherbyname(name);
	bool good = cipher != NULL;
	for (int dir = 0; dir < 2 && good; dir++) {
		k->ctx[dir] = gw_openssl.EVP_CIPHER_CTX_new();
		k->iv_len[dir] = 12;
		good = k->ctx[dir] != NULL && gw_openssl.EVP_CipherInit_ex(k->ctx[dir], cipher, NULL, key, NULL, dir) == 1;
	}
	if (good) return 0;
	unsetkey(k);
	gw_openssl.ERR_clear_error();
	return -EINVAL;
}

static int gcm_setkey(void *ctx, const uint8_t *key, size_t len)
{
	static const char *const names[3] = {"id-aes128-GCM", "id-aes192-GCM", "id-aes256-GCM"};
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	return setkey(ctx, key, names[(len - 16) / 8]);
}

static int chacha_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return len == 32 ? setkey(ctx, key, "ChaCha20-Poly1305") : -EINVAL;
}

/* AAD and text; false when the library refuses. */
static bool run(gw_op *op, int dir, gw_evp_ctx **used)
{
	aead_key *k = (aead_key *)(uintptr_t)op->key; /* the context is the op's to use, though ops call their key const */
	gw_evp_ctx *ctx = *used = k->ctx[dir];
	uint8_t *out = op->out;
	int n;
	if (k->iv_len[dir] != op->iv_len) {
		if (gw_openssl.EVP_CIPHER_CTX_ctrl(ctx, GW_EVP_CTRL_SET_IVLEN, (int)op->iv_len, NULL) != 1) return false;
		k->iv_len[dir] = op->iv_len;
	}
	if (gw_openssl.EVP_CipherInit_ex(ctx, NULL, NULL, NULL, op->iv, -1) != 1) return false;
	if (op->aad_len > 0 && gw_openssl.EVP_CipherUpdate(ctx, NULL, &n, op->aad, (int)op->aad_len) != 1) return false;
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (op->in[s].len > 0 && gw_openssl.EVP_CipherUpdate(ctx, out, &n, op->in[s].data, (int)op->in[s].len) != 1)
			return false;
		out += op->in[s].len;
	}
	return true;
}

static void seal(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		gw_evp_ctx *ctx;
		uint8_t none[16];
		int len;
		const bool good =
			run(&ops[i], 1, &ctx) && gw_openssl.EVP_CipherFinal_ex(ctx, none, &len) == 1 &&
			gw_openssl.EVP_CIPHER_CTX_ctrl(ctx, GW_EVP_CTRL_GET_TAG, (int)ops[i].tag_len, ops[i].tag) == 1;
		ops[i].status = good ? 0 : -EBADMSG;
	}
}

static void open_packets(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		gw_evp_ctx *ctx;
		uint8_t none[16];
		int len;
		const bool good =
			run(&ops[i], 0, &ctx) &&
			gw_openssl.EVP_CIPHER_CTX_ctrl(ctx, GW_EVP_CTRL_SET_TAG, (int)ops[i].tag_len, ops[i].tag) == 1 &&
			gw_openssl.EVP_CipherFinal_ex(ctx, none, &len) == 1;
		ops[i].status = good ? 0 : -EBADMSG;
		if (good) continue;
		gw_wipe(ops[i].out, gw_op_len(&ops[i]));
		gw_openssl.ERR_clear_error();
	}
}

const gw_impl gw_impl_gcm_aes_openssl = {.alg = "gcm(aes)",
										 .driver = "gcm-aes-openssl/openssl",
										 .tag = "openssl",
										 .isa = gw_openssl_isa,
										 .kind = GW_KIND_AEAD,
										 .priority = 50,
										 .constant_time = true,
										 .by_name_only = true,
										 .key_ctx_bytes = sizeof(aead_key),
										 .batch_hint = 1,
										 .setkey = gcm_setkey,
										 .unsetkey = unsetkey,
										 .encrypt = seal,
										 .decrypt = open_packets};

const gw_impl gw_impl_chacha20poly1305_openssl = {.alg = "rfc7539(chacha20,poly1305)",
												  .driver = "chacha20poly1305-openssl/openssl",
												  .tag = "openssl",
												  .isa = gw_openssl_isa,
												  .kind = GW_KIND_AEAD,
												  .priority = 50,
												  .constant_time = true,
												  .by_name_only = true,
												  .key_ctx_bytes = sizeof(aead_key),
												  .batch_hint = 1,
												  .setkey = chacha_setkey,
												  .unsetkey = unsetkey,
												  .encrypt = seal,
												  .decrypt = open_packets};
