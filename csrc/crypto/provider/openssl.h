/* SPDX-License-Identifier: MIT
 * What is used of libcrypto, 1.1 and 3, as its manual pages declare it. The types are opaque, but for the hash states:
 * their sizes are fixed by the public headers of both.
 */
#ifndef GW_CRYPTO_PROVIDER_OPENSSL_H
#define GW_CRYPTO_PROVIDER_OPENSSL_H

#include "provider.h"

typedef struct gw_evp_ctx gw_evp_ctx;       /* EVP_CIPHER_CTX */
typedef struct gw_evp_cipher gw_evp_cipher; /* EVP_CIPHER */

#define GW_EVP_CTRL_SET_IVLEN 0x9
#define GW_EVP_CTRL_GET_TAG   0x10
#define GW_EVP_CTRL_SET_TAG   0x11

/* SHA_CTX is 96 bytes, SHA256_CTX 112, SHA512_CTX 216. */
typedef struct gw_ossl_sha {
	uint64_t state[28];
} gw_ossl_sha;

/* Every X(type, name, arguments) is looked up as `name`; a provider without one of them is not used. */
#define GW_OPENSSL_FUNCTIONS                                                                                           \
	X(gw_evp_ctx *, EVP_CIPHER_CTX_new, (void))                                                                        \
	X(void, EVP_CIPHER_CTX_free, (gw_evp_ctx *))                                                                       \
	X(int, EVP_CIPHER_CTX_ctrl, (gw_evp_ctx *, int, int, void *))                                                      \
	X(int, EVP_CIPHER_CTX_set_padding, (gw_evp_ctx *, int))                                                            \
	X(int, EVP_CipherInit_ex, (gw_evp_ctx *, const gw_evp_cipher *, void *, const uint8_t *, const uint8_t *, int))    \
	X(int, EVP_CipherUpdate, (gw_evp_ctx *, uint8_t *, int *, const uint8_t *, int))                                   \
	X(int, EVP_CipherFinal_ex, (gw_evp_ctx *, uint8_t *, int *))                                                       \
	X(int, EVP_Cipher, (gw_evp_ctx *, uint8_t *, const uint8_t *, unsigned))                                           \
	X(const gw_evp_cipher *, EVP_get_cipherbyname, (const char *))                                                     \
	X(unsigned long, ERR_get_error, (void))                                                                            \
	X(void, ERR_clear_error, (void))                                                                                   \
	X(int, SHA1_Init, (gw_ossl_sha *))                                                                                 \
	X(int, SHA1_Update, (gw_ossl_sha *, const void *, size_t))                                                         \
	X(int, SHA1_Final, (uint8_t *, gw_ossl_sha *))                                                                     \
	X(int, SHA256_Init, (gw_ossl_sha *))                                                                               \
	X(int, SHA256_Update, (gw_ossl_sha *, const void *, size_t))                                                       \
	X(int, SHA256_Final, (uint8_t *, gw_ossl_sha *))                                                                   \
	X(int, SHA512_Init, (gw_ossl_sha *))                                                                               \
	X(int, SHA512_Update, (gw_ossl_sha *, const void *, size_t))                                                       \
	X(int, SHA512_Final, (uint8_t *, gw_ossl_sha *))                                                                   \
	X(const char *, OpenSSL_version, (int))

#define X(type, name, arguments) type(*name) arguments;
typedef struct gw_openssl_functions {
	GW_OPENSSL_FUNCTIONS
} gw_openssl_functions;
#undef X

extern gw_openssl_functions gw_openssl; /* filled before a row is added */
extern char gw_openssl_isa[48];         /* its version, for people */

extern const gw_impl gw_impl_ecb_aes_openssl, gw_impl_cbc_aes_openssl, gw_impl_ctr_aes_openssl, gw_impl_xts_aes_openssl;
extern const gw_impl gw_impl_gcm_aes_openssl, gw_impl_chacha20poly1305_openssl;
extern const gw_impl gw_impl_sha1_openssl, gw_impl_sha256_openssl, gw_impl_sha512_openssl;
extern const gw_impl gw_impl_hmac_sha1_openssl, gw_impl_hmac_sha256_openssl, gw_impl_hmac_sha512_openssl;

#endif
