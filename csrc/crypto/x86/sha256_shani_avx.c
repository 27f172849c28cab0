/* SPDX-License-Identifier: MIT
 * SHA-256 with the SHA extensions, four packets abreast, by hand. What bounds it on Zen 3 is not the SHA unit (32
 * cycles a block) but how many instructions are handed out and find a vector unit: a compiler makes 250 a block of it,
 * and takes 60 to 70 cycles, these 156 take 54. AVX's three operands save the copies; it has to be its 128-bit form,
 * because the SHA instructions have none of their own: after a 256-bit one each would wait for the upper half.
 *
 * Message words stay in memory, but each stream's newest four; states in registers. A stream does four rounds, then
 * the next one has its turn; the processor overlaps them by itself.
 */
#if defined(__x86_64__)
#include "sha256_x86.h"

/* Stream s: abef in xmm 1, 3, 5, 7 and cdgh in xmm 2, 4, 6, 8 (A, C); newest words in xmm 9 to 12 (L). xmm15 has four
 * round constants, xmm 0, 13 and 14 are for the moment. W0, W1, W2 are offsets in m, where 64 bytes belong to each
 * stream; behind them, at 256, the states from before the block. */
#define ROUNDS(A, C)                                                                                                   \
	"sha256rnds2 %%xmm" A ", %%xmm" C "\n\t"                                                                           \
	"vpshufd $0x0e, %%xmm0, %%xmm0\n\t"                                                                                \
	"sha256rnds2 %%xmm" C ", %%xmm" A "\n\t"

#define TURN(A, C, L, W0, W1, W2)                                                                                      \
	"vmovdqa " W0 "(%[m]), %%xmm13\n\t"                                                                                \
	"vpaddd %%xmm13, %%xmm15, %%xmm0\n\t" ROUNDS(A, C) /**/                                                            \
		"sha256msg1 " W1 "(%[m]), %%xmm13\n\t"                                                                         \
		"vpalignr $4, " W2 "(%[m]), %%xmm" L ", %%xmm14\n\t"                                                           \
		"vpaddd %%xmm14, %%xmm13, %%xmm13\n\t"                                                                         \
		"sha256msg2 %%xmm" L ", %%xmm13\n\t"                                                                           \
		"vmovdqa %%xmm13, " W0 "(%[m])\n\t"                                                                            \
		"vmovdqa %%xmm13, %%xmm" L "\n\t"

#define LAST_TURN(A, C, W) "vpaddd " W "(%[m]), %%xmm15, %%xmm0\n\t" ROUNDS(A, C)

#define ROW(K, W0, W1, W2)                                                                                             \
	"vmovdqa " K "(%[k]), %%xmm15\n\t" /**/                                                                            \
		TURN("1", "2", "9", W0, W1, W2) TURN("3", "4", "10", "64+" W0, "64+" W1, "64+" W2)                             \
			TURN("5", "6", "11", "128+" W0, "128+" W1, "128+" W2)                                                      \
				TURN("7", "8", "12", "192+" W0, "192+" W1, "192+" W2)

#define LAST_ROW(K, W)                                                                                                 \
	"vmovdqa " K "(%[k]), %%xmm15\n\t" /**/                                                                            \
		LAST_TURN("1", "2", W) LAST_TURN("3", "4", "64+" W) LAST_TURN("5", "6", "128+" W)                              \
			LAST_TURN("7", "8", "192+" W)

/* A block in network order from P to M; its last four words also to L. xmm0: the order of bytes. */
#define LOAD(P, M, L)                                                                                                  \
	"vmovdqu (" P "), %%xmm13\n\t"                                                                                     \
	"vmovdqu 16(" P "), %%xmm14\n\t"                                                                                   \
	"vmovdqu 32(" P "), %%xmm15\n\t"                                                                                   \
	"vmovdqu 48(" P "), %%xmm" L "\n\t"                                                                                \
	"vpshufb %%xmm0, %%xmm13, %%xmm13\n\t"                                                                             \
	"vpshufb %%xmm0, %%xmm14, %%xmm14\n\t"                                                                             \
	"vpshufb %%xmm0, %%xmm15, %%xmm15\n\t"                                                                             \
	"vpshufb %%xmm0, %%xmm" L ", %%xmm" L "\n\t"                                                                       \
	"vmovdqa %%xmm13, " M "(%[m])\n\t"                                                                                 \
	"vmovdqa %%xmm14, 16+" M "(%[m])\n\t"                                                                              \
	"vmovdqa %%xmm15, 32+" M "(%[m])\n\t"                                                                              \
	"vmovdqa %%xmm" L ", 48+" M "(%[m])\n\t"                                                                           \
	"add $64, " P "\n\t"

#define EACH(F)                                                                                                        \
	F("1", "0")                                                                                                        \
	F("2", "16")                                                                                                       \
	F("3", "32")                                                                                                       \
	F("4", "48")                                                                                                       \
	F("5", "64")                                                                                                       \
	F("6", "80")                                                                                                       \
	F("7", "96")                                                                                                       \
	F("8", "112")
#define GET(R, AT)    "vmovdqa " AT "(%[s]), %%xmm" R "\n\t"
#define PUT(R, AT)    "vmovdqa %%xmm" R ", " AT "(%[s])\n\t"
#define BEFORE(R, AT) "vmovdqa %%xmm" R ", 256+" AT "(%[m])\n\t"
#define ADD(R, AT)    "vpaddd 256+" AT "(%[m]), %%xmm" R ", %%xmm" R "\n\t"

/* clang-format off */
/* state: abef and cdgh of each stream, 128 bytes; n > 0 blocks of each. Needs AVX. */
void gw_sha256_four_avx(void *state, const uint8_t *const data[4], size_t n)
{
	static const uint8_t swap[16] __attribute__((aligned(16))) = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12};
	uint8_t m[256 + 128] __attribute__((aligned(64)));
	const uint8_t *p0 = data[0], *p1 = data[1], *p2 = data[2], *p3 = data[3];

	__asm__ volatile(
		"vzeroupper\n\t"
		EACH(GET)
		"1:\n\t"
		"vmovdqa (%[swap]), %%xmm0\n\t"
		LOAD("%[p0]", "0", "9")
		LOAD("%[p1]", "64", "10")
		LOAD("%[p2]", "128", "11")
		LOAD("%[p3]", "192", "12")
		EACH(BEFORE)
		ROW("0", "0", "16", "32")
		ROW("16", "16", "32", "48")
		ROW("32", "32", "48", "0")
		ROW("48", "48", "0", "16")
		ROW("64", "0", "16", "32")
		ROW("80", "16", "32", "48")
		ROW("96", "32", "48", "0")
		ROW("112", "48", "0", "16")
		ROW("128", "0", "16", "32")
		ROW("144", "16", "32", "48")
		ROW("160", "32", "48", "0")
		ROW("176", "48", "0", "16")
		LAST_ROW("192", "0")
		LAST_ROW("208", "16")
		LAST_ROW("224", "32")
		LAST_ROW("240", "48")
		EACH(ADD)
		"dec %[n]\n\t"
		"jnz 1b\n\t"
		EACH(PUT)
		: [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [p3] "+r"(p3), [n] "+r"(n)
		: [m] "r"(m), [s] "r"(state), [k] "r"(gw_sha256_k), [swap] "r"(swap)
		: "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
		  "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}
/* clang-format on */
#endif
