/* SPDX-License-Identifier: MIT
 * intel-ipsec-mb's AES-GCM by its direct functions, which its authors recommend for GCM, and ChaCha20-Poly1305 by jobs.
 * A packet in one span takes one call; otherwise begin, a call a span, end.
 */
#include "ipsec_mb.h"

#if defined(__x86_64__)

#define GCM_KEY_BYTES     1024 /* gcm_key_data: 1008 */
#define GCM_CONTEXT_BYTES 128  /* gcm_context_data: 88 */
#define CHACHA_CONTEXT    256  /* chacha20_poly1305_context_data: 192 */

typedef struct gcm_key {
	uint8_t data[GCM_KEY_BYTES];
	uint32_t size; /* 0, 1, 2 for 128, 192, 256 bits */
} gcm_key;

typedef void (*gcm_pre_fn)(const void *, void *);
typedef void (*gcm_one_fn)(const void *key, void *ctx, uint8_t *out, const uint8_t *in, uint64_t len, const uint8_t *iv,
						   const uint8_t *aad, uint64_t aad_len, uint8_t *tag, uint64_t tag_len);
typedef void (*gcm_init_fn)(const void *key, void *ctx, const uint8_t *iv, const uint8_t *aad, uint64_t aad_len);
typedef void (*gcm_init_iv_fn)(const void *key, void *ctx, const uint8_t *iv, uint64_t iv_len, const uint8_t *aad,
							   uint64_t aad_len);
typedef void (*gcm_update_fn)(const void *key, void *ctx, uint8_t *out, const uint8_t *in, uint64_t len);
typedef void (*gcm_final_fn)(const void *key, void *ctx, uint8_t *tag, uint64_t tag_len);

static int gcm_setkey(void *ctx, const uint8_t *raw, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	imb_mgr *mgr = gw_ipsec_mb();
	if (mgr == NULL || (len != 16 && len != 24 && len != 32)) return -EINVAL;
	k->size = (uint32_t)(len - 16) / 8;
	IMB_FN(mgr, gcm_pre_fn, IMB_GCM_PRE + k->size)(raw, k->data);
	return 0;
}

static void gcm_one(imb_mgr *mgr, const gw_op *op, bool seal, uint8_t tag[16])
{
	const gcm_key *k = (const gcm_key *)op->key;
	_Alignas(64) uint8_t ctx[GCM_CONTEXT_BYTES];
	uint8_t *out = op->out;
	if (op->n_in == 1 && op->iv_len == 12) {
		const gcm_one_fn one = IMB_FN(mgr, gcm_one_fn, (seal ? IMB_GCM_ENC : IMB_GCM_DEC) + k->size);
		one(k->data, ctx, out, op->in[0].data, op->in[0].len, op->iv, op->aad, op->aad_len, tag, 16);
		return;
	}
	const gcm_init_fn init = IMB_FN(mgr, gcm_init_fn, IMB_GCM_INIT + k->size);
	const gcm_init_iv_fn init_iv = IMB_FN(mgr, gcm_init_iv_fn, IMB_GCM_INIT_VAR_IV + k->size);
	const gcm_update_fn update = IMB_FN(mgr, gcm_update_fn, (seal ? IMB_GCM_ENC_UPDATE : IMB_GCM_DEC_UPDATE) + k->size);
	const gcm_final_fn final =
		IMB_FN(mgr, gcm_final_fn, (seal ? IMB_GCM_ENC_FINALIZE : IMB_GCM_DEC_FINALIZE) + k->size);
	if (op->iv_len == 12)
		init(k->data, ctx, op->iv, op->aad, op->aad_len);
	else
		init_iv(k->data, ctx, op->iv, op->iv_len, op->aad, op->aad_len);
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (op->in[s].len > 0) update(k->data, ctx, out, op->in[s].data, op->in[s].len);
		out += op->in[s].len;
	}
	final(k->data, ctx, tag, 16);
}

/* ---- ChaCha20-Poly1305 ---- */

typedef void (*chacha_init_fn)(const void *key, void *ctx, const void *iv, const void *aad, uint64_t aad_len);
typedef void (*chacha_update_fn)(const void *key, void *ctx, void *out, const void *in, uint64_t len);
typedef void (*chacha_final_fn)(void *ctx, void *tag, uint64_t tag_len);

static int chacha_setkey(void *ctx, const uint8_t *raw, size_t len)
{
	if (len != 32) return -EINVAL;
	memcpy(ctx, raw, len);
	return 0;
}

static void chacha_spans(imb_mgr *mgr, const gw_op *op, bool seal, uint8_t tag[16])
{
	_Alignas(64) uint8_t ctx[CHACHA_CONTEXT];
	uint8_t *out = op->out;
	IMB_FN(mgr, chacha_init_fn, IMB_CHACHA_INIT)(op->key, ctx, op->iv, op->aad, op->aad_len);
	const chacha_update_fn update = IMB_FN(mgr, chacha_update_fn, seal ? IMB_CHACHA_ENC_UPDATE : IMB_CHACHA_DEC_UPDATE);
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (op->in[s].len > 0) update(op->key, ctx, out, op->in[s].data, op->in[s].len);
		out += op->in[s].len;
	}
	IMB_FN(mgr, chacha_final_fn, IMB_CHACHA_FINALIZE)(ctx, tag, 16);
	gw_wipe(ctx, sizeof ctx);
}

static void chacha_one(imb_mgr *mgr, const gw_op *op, bool seal, uint8_t tag[16])
{
	if (op->n_in != 1) {
		chacha_spans(mgr, op, seal, tag);
		return;
	}
	imb_job *job = IMB_FN(mgr, imb_job_fn, IMB_GET_NEXT_JOB)(mgr);
	*job = (imb_job){.enc_keys = op->key,
					 .dec_keys = op->key,
					 .key_len = 32,
					 .src = op->in[0].data,
					 .dst = op->out,
					 .cipher_len = op->in[0].len,
					 .hash_len = op->in[0].len,
					 .iv = op->iv,
					 .iv_len = 12,
					 .tag = tag,
					 .tag_len = 16,
					 .auth0 = op->aad,
					 .auth1 = {.aad_len = op->aad_len},
					 .cipher_mode = IMB_CIPHER_CHACHA_POLY,
					 .direction = seal ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT,
					 .hash_alg = IMB_AUTH_CHACHA_POLY,
					 .chain_order = seal ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER};
	(void)IMB_FN(mgr, imb_job_fn, IMB_SUBMIT_JOB_NOCHECK)(mgr); /* done when it returns */
	while (IMB_FN(mgr, imb_job_fn, IMB_FLUSH_JOB)(mgr) != NULL) continue;
}

/* ---- both ---- */

typedef void (*one_fn)(imb_mgr *mgr, const gw_op *op, bool seal, uint8_t tag[16]);

static inline void seal_all(gw_op *ops, size_t n, one_fn one)
{
	imb_mgr *mgr = gw_ipsec_mb();
	for (size_t i = 0; i < n; i++) {
		uint8_t tag[16];
		ops[i].status = mgr == NULL ? -ENOMEM : 0;
		if (mgr == NULL) continue;
		one(mgr, &ops[i], true, tag);
		memcpy(ops[i].tag, tag, ops[i].tag_len);
	}
}

static inline void open_all(gw_op *ops, size_t n, one_fn one)
{
	imb_mgr *mgr = gw_ipsec_mb();
	for (size_t i = 0; i < n; i++) {
		uint8_t tag[16];
		ops[i].status = mgr == NULL ? -ENOMEM : 0;
		if (mgr == NULL) continue;
		one(mgr, &ops[i], false, tag);
		if (gw_equal_ct(tag, ops[i].tag, ops[i].tag_len)) continue;
		ops[i].status = -EBADMSG;
		gw_wipe(ops[i].out, gw_op_len(&ops[i]));
	}
}

#define RUN(name)                                                                                                      \
	static void name##_seal(gw_op *ops, size_t n)                                                                      \
	{                                                                                                                  \
		seal_all(ops, n, name##_one);                                                                                  \
	}                                                                                                                  \
	static void name##_open(gw_op *ops, size_t n)                                                                      \
	{                                                                                                                  \
		open_all(ops, n, name##_one);                                                                                  \
	}
RUN(gcm)
RUN(chacha)

const gw_impl gw_impl_gcm_aes_ipsec_mb = {.alg = "gcm(aes)",
										  .driver = "gcm-aes-ipsecmb/ipsec-mb",
										  .tag = "ipsec-mb",
										  .isa = gw_ipsec_mb_isa,
										  .kind = GW_KIND_AEAD,
										  .priority = 60,
										  .constant_time = true,
										  .by_name_only = true,
										  .key_ctx_bytes = sizeof(gcm_key),
										  .batch_hint = 1,
										  .setkey = gcm_setkey,
										  .encrypt = gcm_seal,
										  .decrypt = gcm_open};

const gw_impl gw_impl_chacha20poly1305_ipsec_mb = {.alg = "rfc7539(chacha20,poly1305)",
												   .driver = "chacha20poly1305-ipsecmb/ipsec-mb",
												   .tag = "ipsec-mb",
												   .isa = gw_ipsec_mb_isa,
												   .kind = GW_KIND_AEAD,
												   .priority = 60,
												   .constant_time = true,
												   .by_name_only = true,
												   .key_ctx_bytes = 32,
												   .batch_hint = 1,
												   .setkey = chacha_setkey,
												   .encrypt = chacha_seal,
												   .decrypt = chacha_open};

#endif
