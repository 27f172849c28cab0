/* SPDX-License-Identifier: MIT
 * Every implementation that is compiled in: one X line each, in the block of its architecture. The generic row of
 * an algorithm comes first: the others are compared with it at start.
 */
#include "generic/aes_ct.h"
#include "impl.h"

/* Of no use to ESP: csrc/node/table_esp.c leaves these out of what routers carry. */
#if defined(GW_ESP_ONLY)
#define DISK(name)
#else
#define DISK(name) X(name)
#endif

/* clang-format off */
#define GENERIC                                                                                                        \
	DISK(ecb_aes_generic)                                                                                                 \
	X(cbc_aes_generic)                                                                                                 \
	X(ctr_aes_generic)                                                                                                 \
	DISK(xts_aes_generic)                                                                                                 \
	X(gcm_aes_generic)                                                                                                 \
	X(sha256_generic)                                                                                                  \
	X(hmac_sha256_generic) \
	X(chacha20poly1305_generic) \
	X(sha1_generic) \
	X(hmac_sha1_generic) \
	X(sha512_generic) \
	X(hmac_sha512_generic) \
	DISK(xts_speck64_generic) \
	DISK(xts_speck128_generic)

/* Bit-sliced, constant-time C; aes_ct.h says why not on 32-bit PowerPC. */
#if GW_AES_CT
#define CT \
	DISK(ecb_aes_ct) \
	X(cbc_aes_ct) \
	X(ctr_aes_ct) \
	DISK(xts_aes_ct) \
	X(gcm_aes_ct)
#else
#define CT
#endif

#if defined(__x86_64__)
#define X86 \
    DISK(ecb_aes_aesni) \
    X(cbc_aes_aesni) \
    X(ctr_aes_aesni) \
    DISK(xts_aes_aesni) \
    DISK(ecb_aes_vaes256) \
    X(cbc_aes_vaes256) \
    X(ctr_aes_vaes256) \
    DISK(xts_aes_vaes256) \
    DISK(ecb_aes_vaes) \
    X(cbc_aes_vaes) \
    X(ctr_aes_vaes) \
    DISK(xts_aes_vaes) \
    X(gcm_aes_aesni) \
    X(gcm_aes_vaes256) \
    X(gcm_aes_vaes) \
    X(sha256_shani) \
    X(hmac_sha256_shani) \
    X(sha256_avx512) \
    X(hmac_sha256_avx512) \
    X(chacha20poly1305_avx2) \
    X(chacha20poly1305_avx512) \
    X(sha1_shani) \
    X(hmac_sha1_shani) \
    X(sha512_avx512) \
    X(hmac_sha512_avx512) \
    DISK(xts_speck64_avx2) \
    DISK(xts_speck128_avx2)
#else
#define X86
#endif

/* AArch32 with NEON; see arm/. */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#define ARM                                                                                                            \
	DISK(ecb_aes_neonbs)                                                                                                  \
	X(cbc_aes_neonbs)                                                                                                  \
	X(ctr_aes_neonbs)                                                                                                  \
	DISK(xts_aes_neonbs)                                                                                                  \
	X(gcm_aes_neonbs)                                                                                                  \
	X(chacha20poly1305_neon)                                                                                           \
	X(sha256_neon)                                                                                                     \
	X(hmac_sha256_neon)                                                                                                \
	X(sha256_neon4)                                                                                                    \
	X(hmac_sha256_neon4)                                                                                               \
	X(sha1_neon)                                                                                                       \
	X(hmac_sha1_neon)                                                                                                  \
	X(sha512_neon)                                                                                                     \
	X(hmac_sha512_neon)                                                                                                \
	DISK(xts_speck64_neon)                                                                                                \
	DISK(xts_speck128_neon)                                                                                               \
	DISK(ecb_aes_ce)                                                                                                      \
	X(cbc_aes_ce)                                                                                                      \
	X(ctr_aes_ce)                                                                                                      \
	DISK(xts_aes_ce)                                                                                                      \
	X(gcm_aes_ce)                                                                                                      \
	X(sha256_ce)                                                                                                       \
	X(hmac_sha256_ce)
#else
#define ARM
#endif

#if defined(__aarch64__)
#define AARCH64                                                                                                        \
	DISK(ecb_aes_ce)                                                                                                      \
	X(cbc_aes_ce)                                                                                                      \
	X(ctr_aes_ce)                                                                                                      \
	DISK(xts_aes_ce)                                                                                                      \
	X(gcm_aes_ce)                                                                                                      \
	X(sha256_ce)                                                                                                       \
	X(hmac_sha256_ce)                                                                                                  \
	DISK(ecb_aes_neon)                                                                                                    \
	X(cbc_aes_neon)                                                                                                    \
	X(ctr_aes_neon)                                                                                                    \
	DISK(xts_aes_neon)                                                                                                    \
	X(gcm_aes_neon)                                                                                                    \
	X(sha256_neon)                                                                                                     \
	X(hmac_sha256_neon)                                                                                                \
	DISK(ecb_aes_neonbs)                                                                                                  \
	X(cbc_aes_neonbs)                                                                                                  \
	X(ctr_aes_neonbs)                                                                                                  \
	DISK(xts_aes_neonbs)                                                                                                   \
	DISK(xts_speck64_neon)                                                                                                 \
	DISK(xts_speck128_neon) \
	X(chacha20poly1305_neon)
#else
#define AARCH64
#endif

/* e500 with SPE, 32-bit big-endian; see ppc/. */
#if defined(__powerpc__) && !defined(__powerpc64__)
#define PPC                                                                                                            \
	DISK(ecb_aes_spe)                                                                                                     \
	X(cbc_aes_spe)                                                                                                     \
	X(ctr_aes_spe)                                                                                                     \
	DISK(xts_aes_spe)                                                                                                     \
	X(gcm_aes_spe)                                                                                                     \
	X(sha256_spe)                                                                                                      \
	X(hmac_sha256_spe)                                                                                                 \
	X(authenc_hmac_sha256_cbc_aes_spe)
#else
#define PPC
#endif

/* clang-format on */

#define ALL GENERIC CT X86 ARM AARCH64 PPC

#define X(name) extern const gw_impl gw_impl_##name;
ALL
#undef X

#define X(name) &gw_impl_##name,
	const gw_impl *const gw_impl_table[] = {ALL};
const size_t gw_impl_table_len = sizeof gw_impl_table / sizeof gw_impl_table[0];
