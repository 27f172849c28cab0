/* SPDX-License-Identifier: MIT
 * The table of ghash_neon.S.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "ghash_neon.h"

static void set_rotations(uint64_t to[8], uint64_t h)
{
	for (uint32_t i = 0; i < 8; i++) to[i] = i == 0 ? h : h >> 8 * i | h << (64 - 8 * i);
}

/* Coefficients one down, and 1/x = x^127 + x^6 + x + 1. */
void gw_ghash_over_x(const uint8_t h[16], uint64_t half[2])
{
	const uint64_t high = gw_load_be64(h), low = gw_load_be64(h + 8), one = 0 - (high >> 63);
	half[0] = (high << 1 | low >> 63) ^ (one & 0xc200000000000000);
	half[1] = low << 1 ^ (one & 1);
}

/* The entry of H^power. */
static void set_power(gw_ghash_neon_key *k, uint32_t power, const uint8_t h[16])
{
	uint64_t half[2];
	gw_ghash_over_x(h, half);
	set_rotations(k->part[0][8 - power], half[0]);
	set_rotations(k->part[1][8 - power], half[1]);
	set_rotations(k->part[2][8 - power], half[0] ^ half[1]);
}

void gw_ghash_neon_init(gw_ghash_neon_key *k, const uint8_t h[16])
{
	uint8_t power[16], next[16];
	memcpy(power, h, 16);
	set_power(k, 1, power);
	for (uint32_t i = 2; i <= 8; i++) {
		memset(next, 0, 16);
		gw_ghash_neon(next, k, power, 1); /* uses the entry of H alone */
		memcpy(power, next, 16);
		set_power(k, i, power);
	}
	gw_wipe(power, sizeof power);
	gw_wipe(next, sizeof next);
}
#else
typedef int gw_ghash_neon_not_here;
#endif
