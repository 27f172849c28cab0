/* SPDX-License-Identifier: MIT
 * Copies of a few bytes, inline: a call of memcpy costs more than it moves here. Include after neon.h.
 */
#ifndef GW_CRYPTO_ARM_COPY_H
#define GW_CRYPTO_ARM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* No byte outside of either is touched. */
static inline void gw_copy_few(uint8_t *to, const uint8_t *from, size_t n)
{
	for (; n >= 16; n -= 16, to += 16, from += 16) vst1q_u8(to, vld1q_u8(from));
	if (n & 8) {
		vst1_u8(to, vld1_u8(from));
		to += 8, from += 8;
	}
	if (n & 4) {
		memcpy(to, from, 4);
		to += 4, from += 4;
	}
	if (n & 2) {
		memcpy(to, from, 2);
		to += 2, from += 2;
	}
	if (n & 1) *to = *from;
}

/* As gw_wipe. */
static inline void gw_wipe_few(void *p, size_t n)
{
	uint8_t *to = (uint8_t *)p;
	for (; n >= 16; n -= 16, to += 16) vst1q_u8(to, vdupq_n_u8(0));
	while (n > 0) to[--n] = 0;
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

#endif
