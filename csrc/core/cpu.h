/* SPDX-License-Identifier: MIT
 * What this CPU can run: by CPUID on x86 (each flag by itself, and the OS's XCR0), by AT_HWCAP elsewhere.
 */
#ifndef GW_CORE_CPU_H
#define GW_CORE_CPU_H

#include <stddef.h>
#include <stdint.h>

#define GW_CPU_AESNI      (1ull << 0)
#define GW_CPU_PCLMUL     (1ull << 1)
#define GW_CPU_SSSE3      (1ull << 2)
#define GW_CPU_SSE41      (1ull << 3)
#define GW_CPU_AVX        (1ull << 4)
#define GW_CPU_AVX2       (1ull << 5)
#define GW_CPU_BMI2       (1ull << 6)
#define GW_CPU_SHA_NI     (1ull << 7)
#define GW_CPU_VAES       (1ull << 8)
#define GW_CPU_VPCLMUL    (1ull << 9)
#define GW_CPU_AVX512     (1ull << 10) /* F + BW + VL + DQ, and zmm state enabled by the OS */
#define GW_CPU_GFNI       (1ull << 11)
#define GW_CPU_MOVBE      (1ull << 12)
#define GW_CPU_ADX        (1ull << 13)
#define GW_CPU_AVX512IFMA (1ull << 14)

#define GW_CPU_NEON       (1ull << 32)
#define GW_CPU_ARM_AES    (1ull << 33)
#define GW_CPU_ARM_PMULL  (1ull << 34)
#define GW_CPU_ARM_SHA1   (1ull << 35)
#define GW_CPU_ARM_SHA2   (1ull << 36)
#define GW_CPU_ARM_SHA512 (1ull << 37)
#define GW_CPU_ARM_SHA3   (1ull << 38) /* EOR3 */

#define GW_CPU_SPE (1ull << 48)

/* Features of this CPU less those named in GWBENCH_CPU_DISABLE (comma list of gw_cpu_features' names). */
uint64_t gw_cpu(void);

/* The first name in GWBENCH_CPU_DISABLE that no feature has, with its length; NULL when all are known. */
const char *gw_cpu_unknown(size_t *len);
/* Every name that there is, separated by spaces, in order. */
void gw_cpu_names(char *text, size_t cap);

#endif
