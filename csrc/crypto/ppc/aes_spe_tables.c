/* SPDX-License-Identifier: MIT
 * Look-up tables of the SPE AES: 256 entries of 32 bytes (one cache line of the e500), one table a direction, 8 KB
 * each.
 *
 *   words 0-3  the round's four rotations (FIPS 197 5.1.2 and 5.3.3 with the S-box folded in)
 *   words 4-5  00 00 s 00 00 00 00 s: the last round's byte, so placed that every position can be read into either
 *              half of a 64-bit register: evlhhesplat/evlhhousplat at +18 and +22, lwz at +16, +17, +18, +20
 *
 * Aligned to their size: an address is made by one rlwimi of a state byte into a register that holds the base. Made
 * before main and then read-only: in the file, with the padding, they would be a tenth of a router's gwnode.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe.h"

#include <sys/mman.h>

#include "../generic/aes_sbox.h"

#define BYTE(s) s

uint32_t gw_spe_aes_te[256][8] __attribute__((aligned(8192)));
uint32_t gw_spe_aes_td[256][8] __attribute__((aligned(8192)));

/* Multiplication by x in GF(2^8). */
static uint32_t x2(uint32_t a)
{
	return (a << 1 ^ (a >> 7) * 0x11b) & 0xff;
}

/* word: row 0 in the most significant byte, as column 0 of the state needs it. */
static void fill(uint32_t entry[8], uint32_t word, uint32_t s)
{
	for (int i = 0; i < 4; i++, word = word >> 8 | word << 24) entry[i] = word;
	entry[4] = s << 8;
	entry[5] = s;
}

static __attribute__((constructor)) void make_tables(void)
{
	static const uint8_t sbox[256] = {GW_AES_SBOX(BYTE)}, inv_sbox[256] = {GW_AES_INV_SBOX(BYTE)};
	for (int i = 0; i < 256; i++) {
		const uint32_t e = sbox[i], d = inv_sbox[i], d2 = x2(d), d4 = x2(d2), d8 = x2(d4);
		fill(gw_spe_aes_te[i], x2(e) << 24 | e << 16 | e << 8 | (x2(e) ^ e), e);
		fill(gw_spe_aes_td[i], (d8 ^ d4 ^ d2) << 24 | (d8 ^ d) << 16 | (d8 ^ d4 ^ d) << 8 | (d8 ^ d2 ^ d), d);
	}
	/* Fails, and does not matter, where a page is larger than a table. */
	(void)mprotect(gw_spe_aes_te, sizeof gw_spe_aes_te, PROT_READ);
	(void)mprotect(gw_spe_aes_td, sizeof gw_spe_aes_td, PROT_READ);
}
#else
typedef int gw_aes_spe_tables_are_elsewhere;
#endif
