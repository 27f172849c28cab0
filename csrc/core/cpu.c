/* SPDX-License-Identifier: MIT
 * CPU detection, once, and the environment's mask over it.
 */
#include "cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../gwdp.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__arm__) || defined(__aarch64__) || defined(__powerpc__)
#include <sys/auxv.h>
#endif

static const struct {
	uint64_t bit;
	const char *name;
} feature_names[] = {
	{GW_CPU_AESNI, "aesni"},     {GW_CPU_PCLMUL, "pclmul"}, {GW_CPU_SSSE3, "ssse3"},
	{GW_CPU_SSE41, "sse41"},     {GW_CPU_AVX, "avx"},       {GW_CPU_AVX2, "avx2"},
	{GW_CPU_BMI2, "bmi2"},       {GW_CPU_SHA_NI, "sha_ni"}, {GW_CPU_VAES, "vaes"},
	{GW_CPU_VPCLMUL, "vpclmul"}, {GW_CPU_AVX512, "avx512"}, {GW_CPU_GFNI, "gfni"},
	{GW_CPU_MOVBE, "movbe"},     {GW_CPU_ADX, "adx"},       {GW_CPU_AVX512IFMA, "avx512ifma"},
	{GW_CPU_NEON, "neon"},       {GW_CPU_ARM_AES, "aes"},   {GW_CPU_ARM_PMULL, "pmull"},
	{GW_CPU_ARM_SHA1, "sha1"},   {GW_CPU_ARM_SHA2, "sha2"}, {GW_CPU_ARM_SHA512, "sha512"},
	{GW_CPU_ARM_SHA3, "sha3"},   {GW_CPU_SPE, "spe"},
};
#define N_FEATURES (sizeof feature_names / sizeof feature_names[0])

#if defined(__x86_64__)
static uint64_t bit_if(uint32_t reg, int n, uint64_t bit)
{
	return (reg >> n) & 1 ? bit : 0;
}

static uint64_t detect(void)
{
	uint32_t a, b, c, d, b7 = 0, c7 = 0, xcr0 = 0;
	uint64_t f = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
	if ((c >> 27) & 1) { /* OSXSAVE: XGETBV may be used */
		uint32_t hi;
		__asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(hi) : "c"(0));
	}
	f |= bit_if(c, 25, GW_CPU_AESNI) | bit_if(c, 1, GW_CPU_PCLMUL) | bit_if(c, 9, GW_CPU_SSSE3);
	f |= bit_if(c, 19, GW_CPU_SSE41) | bit_if(c, 22, GW_CPU_MOVBE);
	const int ymm = (xcr0 & 0x06) == 0x06, zmm = (xcr0 & 0xe6) == 0xe6;
	if (ymm) f |= bit_if(c, 28, GW_CPU_AVX);
	uint32_t d7 = 0;
	if (__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) {
		f |= bit_if(b7, 8, GW_CPU_BMI2) | bit_if(b7, 29, GW_CPU_SHA_NI) | bit_if(b7, 19, GW_CPU_ADX);
		f |= bit_if(c7, 8, GW_CPU_GFNI);
		if (ymm) f |= bit_if(b7, 5, GW_CPU_AVX2) | bit_if(c7, 9, GW_CPU_VAES) | bit_if(c7, 10, GW_CPU_VPCLMUL);
		const uint32_t fdbv = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);
		if (zmm && (b7 & fdbv) == fdbv) f |= GW_CPU_AVX512 | bit_if(b7, 21, GW_CPU_AVX512IFMA);
	}
	return f;
}
#elif defined(__aarch64__)
static uint64_t detect(void)
{
	const unsigned long h = getauxval(AT_HWCAP);
	uint64_t f = 0;
	if (h & (1ul << 1)) f |= GW_CPU_NEON; /* HWCAP_ASIMD */
	if (h & (1ul << 3)) f |= GW_CPU_ARM_AES;
	if (h & (1ul << 4)) f |= GW_CPU_ARM_PMULL;
	if (h & (1ul << 5)) f |= GW_CPU_ARM_SHA1;
	if (h & (1ul << 6)) f |= GW_CPU_ARM_SHA2;
	if (h & (1ul << 17)) f |= GW_CPU_ARM_SHA3;
	if (h & (1ul << 21)) f |= GW_CPU_ARM_SHA512;
	return f;
}
#elif defined(__arm__)
static uint64_t detect(void)
{
	const unsigned long h = getauxval(AT_HWCAP), h2 = getauxval(26 /* AT_HWCAP2 */);
	uint64_t f = 0;
	if (h & (1ul << 12)) f |= GW_CPU_NEON;
	if (h2 & (1ul << 0)) f |= GW_CPU_ARM_AES;
	if (h2 & (1ul << 1)) f |= GW_CPU_ARM_PMULL;
	if (h2 & (1ul << 2)) f |= GW_CPU_ARM_SHA1;
	if (h2 & (1ul << 3)) f |= GW_CPU_ARM_SHA2;
	return f;
}
#elif defined(__powerpc__) && !defined(__powerpc64__)
static uint64_t detect(void)
{
	return getauxval(AT_HWCAP) & 0x00800000ul ? GW_CPU_SPE : 0;
}
#else
static uint64_t detect(void)
{
	return 0;
}
#endif

static uint64_t features;
static char feature_text[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The next name of the mask at *at; NULL at its end. */
static const char *next_name(const char **at, size_t *len)
{
	if (*at == NULL) return NULL;
	const char *name = *at + strspn(*at, ", ");
	*len = strcspn(name, ", ");
	*at = name + *len;
	return *len > 0 ? name : NULL;
}

static uint64_t bit_of(const char *name, size_t len)
{
	for (size_t i = 0; i < N_FEATURES; i++)
		if (strlen(feature_names[i].name) == len && memcmp(feature_names[i].name, name, len) == 0)
			return feature_names[i].bit;
	return 0;
}

const char *gw_cpu_unknown(size_t *len)
{
	const char *at = getenv("GWBENCH_CPU_DISABLE"), *name;
	while ((name = next_name(&at, len)) != NULL)
		if (bit_of(name, *len) == 0) return name;
	return NULL;
}

void gw_cpu_names(char *text, size_t cap)
{
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < N_FEATURES && used + 16 < cap; i++)
		used += (size_t)snprintf(text + used, cap - used, "%s%s", used > 0 ? " " : "", feature_names[i].name);
}

static void detect_once(void)
{
	uint64_t f = detect();
	const char *at_mask = getenv("GWBENCH_CPU_DISABLE"), *name;
	size_t name_len;
	while ((name = next_name(&at_mask, &name_len)) != NULL) f &= ~bit_of(name, name_len);
	features = f;
	size_t at = 0;
	for (size_t i = 0; i < N_FEATURES; i++) {
		if (!(f & feature_names[i].bit)) continue;
		const size_t len = strlen(feature_names[i].name);
		if (at != 0) feature_text[at++] = ' ';
		memcpy(feature_text + at, feature_names[i].name, len + 1);
		at += len;
	}
}

uint64_t gw_cpu(void)
{
	pthread_once(&once, detect_once);
	return features;
}

const char *gw_cpu_features(void)
{
	pthread_once(&once, detect_once);
	return feature_text;
}
