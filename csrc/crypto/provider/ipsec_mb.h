/* SPDX-License-Identifier: MIT
 * What is used of intel-ipsec-mb 1.3, x86-64. Almost all of its interface are function pointers inside its manager, so
 * places in that structure are named here; they were checked against its header, and other versions are refused.
 */
#ifndef GW_CRYPTO_PROVIDER_IPSEC_MB_H
#define GW_CRYPTO_PROVIDER_IPSEC_MB_H

#include "provider.h"

#if defined(__x86_64__)

/* Indices into the manager's function pointers. Where there is one for each AES key length, that of 128 bits. */
enum {
	IMB_GET_NEXT_JOB = 0,
	IMB_SUBMIT_JOB_NOCHECK = 2,
	IMB_GET_COMPLETED_JOB = 3,
	IMB_FLUSH_JOB = 4,
	IMB_KEYEXP = 6,
	IMB_SHA1_ONE_BLOCK = 12,
	IMB_SHA256_ONE_BLOCK = 14,
	IMB_SHA512_ONE_BLOCK = 16,
	IMB_SHA1 = 18,
	IMB_SHA256 = 20,
	IMB_SHA512 = 22,
	IMB_GCM_ENC = 24,
	IMB_GCM_DEC = 27,
	IMB_GCM_INIT = 30,
	IMB_GCM_ENC_UPDATE = 33,
	IMB_GCM_DEC_UPDATE = 36,
	IMB_GCM_ENC_FINALIZE = 39,
	IMB_GCM_DEC_FINALIZE = 42,
	IMB_GCM_PRE = 48,
	IMB_GCM_INIT_VAR_IV = 79,
	IMB_CHACHA_INIT = 107,
	IMB_CHACHA_ENC_UPDATE = 108,
	IMB_CHACHA_DEC_UPDATE = 109,
	IMB_CHACHA_FINALIZE = 110,
	IMB_SUBMIT_CIPHER_BURST_NOCHECK = 116,
	IMB_SUBMIT_HASH_BURST_NOCHECK = 118,
	IMB_FUNCTIONS = 119,
};

typedef struct imb_mgr {
	uint64_t head[8];
	void (*fn[IMB_FUNCTIONS])(void);
} imb_mgr;

enum { IMB_CIPHER_CBC = 1, IMB_CIPHER_CNTR = 2, IMB_CIPHER_NULL = 3, IMB_CIPHER_ECB = 12, IMB_CIPHER_CHACHA_POLY = 19 };
enum { IMB_DIR_ENCRYPT = 1, IMB_DIR_DECRYPT = 2 };
enum { IMB_AUTH_HMAC_SHA1 = 1, IMB_AUTH_HMAC_SHA256 = 3, IMB_AUTH_HMAC_SHA512 = 5, IMB_AUTH_NULL = 8 };
enum { IMB_AUTH_SHA1 = 13, IMB_AUTH_SHA256 = 15, IMB_AUTH_SHA512 = 17, IMB_AUTH_CHACHA_POLY = 29 };
enum { IMB_ORDER_CIPHER_HASH = 1, IMB_ORDER_HASH_CIPHER = 2 };

typedef struct imb_job {
	const void *enc_keys, *dec_keys;
	uint64_t key_len;
	const uint8_t *src;
	uint8_t *dst;
	uint64_t cipher_start, cipher_len;
	uint64_t hash_start; /* of src, also when what is hashed is the output: then a difference of addresses */
	uint64_t hash_len;
	const uint8_t *iv;
	uint64_t iv_len;
	uint8_t *tag;
	uint64_t tag_len;
	const void *auth0; /* HMAC: inner state; AEAD: AAD */
	union {
		const void *outer; /* HMAC: outer state */
		uint64_t aad_len;  /* AEAD */
	} auth1;
	const void *auth2;
	int status, cipher_mode, direction, hash_alg, chain_order, pad0;
	void *user_data[2];
	int (*custom[2])(struct imb_job *);
	int sgl_state, pad1;
	void *next_iv;
} imb_job;

_Static_assert(sizeof(imb_job) == 200 && offsetof(imb_job, status) == 128 && offsetof(imb_job, sgl_state) == 184,
			   "the job of intel-ipsec-mb 1.3");

typedef imb_job *(*imb_job_fn)(imb_mgr *);
typedef uint32_t (*imb_cipher_burst_fn)(imb_mgr *, imb_job *, uint32_t, int cipher, int direction, int key_bytes);
typedef uint32_t (*imb_hash_burst_fn)(imb_mgr *, imb_job *, uint32_t, int hash);

/* Jobs at a time: enough to fill sixteen lanes several times. */
#define IMB_CHUNK 64

/* This thread's manager, freed with the thread; NULL when there is no memory. */
imb_mgr *gw_ipsec_mb(void);
/* Memory of this thread that holds at least `bytes`, for messages that are not in one piece. */
uint8_t *gw_ipsec_mb_scratch(size_t bytes);
#define IMB_FN(mgr, type, index) ((type)(mgr)->fn[index])

typedef struct imb_aes_key {
	uint8_t enc[15 * 16], dec[15 * 16];
	uint32_t bytes;
} imb_aes_key;

typedef struct imb_hmac_key {
	uint8_t inner[64], outer[64];
	uint8_t of_nothing[64]; /* HMAC of the empty message: jobs cannot */
} imb_hmac_key;

int gw_ipsec_mb_aes_setkey(void *ctx, const uint8_t *key, size_t len);
int gw_ipsec_mb_hmac_sha256_setkey(void *ctx, const uint8_t *key, size_t len);
void gw_ipsec_mb_cbc_encrypt(gw_op *ops, size_t n);
void gw_ipsec_mb_cbc_decrypt(gw_op *ops, size_t n);
void gw_ipsec_mb_hmac_sha256(gw_op *ops, size_t n);
/* Encrypts the IV of ops with GW_OP_IV_NONCE, in place; n is at most IMB_CHUNK and all keys have `bytes` bytes. */
void gw_ipsec_mb_encrypt_nonces(imb_mgr *mgr, const gw_op *ops, size_t n, uint32_t bytes);

extern char gw_ipsec_mb_isa[48]; /* its version, for people */
extern const gw_impl gw_impl_ecb_aes_ipsec_mb, gw_impl_cbc_aes_ipsec_mb, gw_impl_ctr_aes_ipsec_mb;
extern const gw_impl gw_impl_gcm_aes_ipsec_mb, gw_impl_chacha20poly1305_ipsec_mb;
extern const gw_impl gw_impl_sha1_ipsec_mb, gw_impl_sha256_ipsec_mb, gw_impl_sha512_ipsec_mb;
extern const gw_impl gw_impl_hmac_sha1_ipsec_mb, gw_impl_hmac_sha256_ipsec_mb, gw_impl_hmac_sha512_ipsec_mb;
extern const gw_impl gw_impl_authenc_hmac_sha256_cbc_aes_ipsec_mb;

#endif
#endif
