/* SPDX-License-Identifier: MIT
 * The Internet checksum (RFC 1071), 64 bits at a time or with vectors.
 *
 * A one's complement sum does not care about byte order (RFC 1071, 2 B): words are summed as the machine loads them,
 * and the folded result is stored as it stands in memory. Sums of 32-bit words in 64-bit lanes cannot overflow below
 * 2^32 words, so no carry is chased inside the loops.
 */
#include <string.h>

#include "../core/cpu.h"
#include "../core/mem.h"
#include "io.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

uint16_t gw_csum_fold(uint64_t sum)
{
	sum = (sum & 0xffffffffu) + (sum >> 32);
	sum = (sum & 0xffffffffu) + (sum >> 32);
	uint32_t s = (uint32_t)sum;
	s = (s & 0xffffu) + (s >> 16);
	s = (s & 0xffffu) + (s >> 16);
	return (uint16_t)s;
}

/* Adds with end-around carry: 2^64 is 1 modulo 2^16 - 1. */
static inline uint64_t add_carry(uint64_t a, uint64_t b)
{
	a += b;
	return a + (a < b);
}

/* The last 0..7 bytes as the start of a zero-padded word: right in either byte order. */
static inline uint64_t tail(const uint8_t *p, size_t len, uint64_t sum)
{
	if (!len) return sum;
	uint64_t last = 0;
	memcpy(&last, p, len);
	return add_carry(sum, last);
}

static uint64_t add_scalar(const uint8_t *p, size_t len, uint64_t sum)
{
	for (; len >= 32; len -= 32, p += 32) {
		uint64_t w[4];
		memcpy(w, p, 32);
		sum = add_carry(sum, w[0]);
		sum = add_carry(sum, w[1]);
		sum = add_carry(sum, w[2]);
		sum = add_carry(sum, w[3]);
	}
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t w;
		memcpy(&w, p, 8);
		sum = add_carry(sum, w);
	}
	return tail(p, len, sum);
}

#if defined(__x86_64__)
static uint64_t add_sse2(const uint8_t *p, size_t len, uint64_t sum)
{
	const __m128i low = _mm_set1_epi64x(0xffffffff);
	__m128i a = _mm_setzero_si128(), b = a;
	for (; len >= 32; len -= 32, p += 32) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i w = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
		a = _mm_add_epi64(a, _mm_add_epi64(_mm_and_si128(v, low), _mm_srli_epi64(v, 32)));
		b = _mm_add_epi64(b, _mm_add_epi64(_mm_and_si128(w, low), _mm_srli_epi64(w, 32)));
	}
	uint64_t lanes[2];
	_mm_storeu_si128((__m128i *)(void *)lanes, _mm_add_epi64(a, b));
	sum = add_carry(add_carry(sum, lanes[0]), lanes[1]);
	return add_scalar(p, len, sum);
}

__attribute__((target("avx2"))) static uint64_t add_avx2(const uint8_t *p, size_t len, uint64_t sum)
{
	const __m256i low = _mm256_set1_epi64x(0xffffffff);
	__m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
	for (; len >= 128; len -= 128, p += 128) {
		__m256i s = _mm256_loadu_si256((const __m256i *)(const void *)p);
		__m256i t = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
		__m256i u = _mm256_loadu_si256((const __m256i *)(const void *)(p + 64));
		__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + 96));
		a = _mm256_add_epi64(a, _mm256_add_epi64(_mm256_and_si256(s, low), _mm256_srli_epi64(s, 32)));
		b = _mm256_add_epi64(b, _mm256_add_epi64(_mm256_and_si256(t, low), _mm256_srli_epi64(t, 32)));
		c = _mm256_add_epi64(c, _mm256_add_epi64(_mm256_and_si256(u, low), _mm256_srli_epi64(u, 32)));
		d = _mm256_add_epi64(d, _mm256_add_epi64(_mm256_and_si256(v, low), _mm256_srli_epi64(v, 32)));
	}
	for (; len >= 32; len -= 32, p += 32) {
		__m256i s = _mm256_loadu_si256((const __m256i *)(const void *)p);
		a = _mm256_add_epi64(a, _mm256_add_epi64(_mm256_and_si256(s, low), _mm256_srli_epi64(s, 32)));
	}
	uint64_t lanes[4];
	a = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
	_mm256_storeu_si256((__m256i *)(void *)lanes, a);
	for (int i = 0; i < 4; i++) sum = add_carry(sum, lanes[i]);
	return add_scalar(p, len, sum);
}
#endif

typedef uint64_t (*add_fn)(const uint8_t *, size_t, uint64_t);

static add_fn choose(void)
{
#if defined(__x86_64__)
	return gw_cpu() & GW_CPU_AVX2 ? add_avx2 : add_sse2;
#else
	return add_scalar;
#endif
}

uint64_t gw_csum_add(const uint8_t *data, size_t len, uint64_t sum)
{
	static add_fn chosen; /* every thread would choose the same: a relaxed race is harmless */
	if (len < 64) return add_scalar(data, len, sum);
	add_fn fn = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	if (!fn) {
		fn = choose();
		__atomic_store_n(&chosen, fn, __ATOMIC_RELAXED);
	}
	return fn(data, len, sum);
}

uint16_t gw_checksum(const uint8_t *data, size_t len, uint32_t start)
{
	/* start and result in the usual reading: big-endian 16-bit words. */
	uint16_t folded = gw_csum_fold(start), native = GW_BE16(folded);
	return GW_BE16(gw_csum_fold(gw_csum_add(data, len, native)));
}
