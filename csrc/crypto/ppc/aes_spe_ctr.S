/* SPDX-License-Identifier: MIT
 * Counter mode and GHASH on SPE. Prototypes: spe.h.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "aes_spe_round.h"

	.text

/* Only the last byte of 256 consecutive counter blocks differs (Bernstein and Schwabe, "New AES software speed
 * records", 2008): in round 1 one look-up of 16 depends on it, in round 2 four; the rest is in r9's constants:
 *   +0  round 2's columns 0-3 without what depends on column 0, two pairs, 8-byte aligned
 *   +16 round 1's column 0 without the last byte's look-up
 *   +20 counter block's last byte   +24 whitening key's last byte
 * At most 256 - last byte blocks. */
	FUNC gw_spe_aes_ctr
	ENTER
	cmpwi 1, 8, 12
	mtctr 6
	evldd 24, 0(9)
	evldd 25, 8(9)
	lwz 26, 16(9)
	lwz 27, 20(9)
	lwz 0, 24(9)
	BASES 7
	addi 4, 4, -16
	addi 5, 5, -16
	evldd 28, 224(3)
	evldd 29, 232(3)
	evldd 30, 208(3)
	evldd 31, 216(3)
	evldd 10, 192(3)
	evldd 11, 200(3)
	evldd 12, 176(3)
1:	xor rT0, 27, 0
	addi 27, 27, 1
	INDEX rX0, rT0, 3
	lwz rC0, 12(rX0)
	xor rC0, rC0, 26
	INDEX rX0, rC0, 0
	INDEX rX1, rC0, 3
	evlwwsplat rT0, 0(rX0)
	INDEX rX2, rC0, 2
	lwz rT0, 12(rX1)
	INDEX rX3, rC0, 1
	evlwwsplat rT1, 8(rX2)
	lwz rT1, 4(rX3)
	evxor rC1, rT0, 24
	evmergehi rC0, rC1, rC1
	evxor rC3, rT1, 25
	evmergehi rC2, rC3, rC3
	blt 1, 8f
	beq 1, 7f
	ROUND_M E, 3
	ROUND_M E, 4
7:	ROUND_M E, 5
	ROUND_M E, 6
8:	ROUND_M E, 7
	ROUND_M E, 8
	ROUND_M E, 9
	ROUND_M E, 10
	evldd rKB, 184(3)
	ROUND_E 0, 12, rKB
	ROUND_E 0, 10, 11
	ROUND_E 0, 30, 31
	ROUND_E 1, 28, 29
	LOAD4 lwzu, rT0, rT1, rT2, rT3, 4, 16
	STATE_XOR rT0, rT1, rT2, rT3
	STORE_STATE
	bdnz 1b
	LEAVE

/* GHASH (SP 800-38D 6.4): r3 accumulator (4 words), r4 table, r5 data, r6 blocks.
 *
 * The table holds, for each of the 32 nibble positions and each value, that nibble times H: 8 KB a key, and no shift
 * and no reduction is left. Two halves of 4 KB, aligned to 4 KB: the first for the block's words 0 and 1. Within a
 * half an entry is at value * 256 + position * 16, so that the value is one rlwimi into the base and the position a
 * displacement. r7-r10, r14, r15 addresses; r16, r17 the product; r18-r25 entries; r26-r29 the block. */
.macro NIBBLE x, w, k /* nibble k of the word, 0 the most significant */
	.if \k < 5
	rlwimi \x, \w, 12 + 4 * (\k), 20, 23
	.else
	rlwimi \x, \w, 4 * (\k) - 20, 20, 23
	.endif
.endm

/* Two nibbles at positions p and p + 1 of the half, nibbles k and k + 1 of w, into the product. */
.macro TWO xa, xb, w, p, k, a, b, c, d
	NIBBLE \xa, \w, \k
	NIBBLE \xb, \w, \k + 1
	evldd \a, 16 * (\p)(\xa)
	evldd \b, 16 * (\p) + 8(\xa)
	evldd \c, 16 * (\p) + 16(\xb)
	evldd \d, 16 * (\p) + 24(\xb)
.endm

.macro SUM a, b, c, d
	evxor 16, 16, \a
	evxor 17, 17, \b
	evxor 16, 16, \c
	evxor 17, 17, \d
.endm

.macro GHASH_WORD xa, xb, w, p
	TWO \xa, \xb, \w, \p, 0, 18, 19, 20, 21
	SUM 22, 23, 24, 25
	TWO \xa, \xb, \w, \p + 2, 2, 22, 23, 24, 25
	SUM 18, 19, 20, 21
	TWO \xa, \xb, \w, \p + 4, 4, 18, 19, 20, 21
	SUM 22, 23, 24, 25
	TWO \xa, \xb, \w, \p + 6, 6, 22, 23, 24, 25
	SUM 18, 19, 20, 21
.endm

	FUNC gw_spe_ghash
	ENTER
	mtctr 6
	mr 7, 4
	mr 8, 4
	addi 9, 4, 4096
	mr 10, 9
	addi 5, 5, -16
	lwz 30, 0(3)
	lwz 31, 4(3)
	lwz 11, 8(3)
	lwz 12, 12(3)
1:	LOAD4 lwzu, 26, 27, 28, 29, 5, 16
	XOR4 26, 27, 28, 29, 26, 27, 28, 29, 30, 31, 11, 12
	TWO 7, 8, 26, 0, 0, 16, 17, 20, 21
	TWO 7, 8, 26, 2, 2, 22, 23, 24, 25
	evxor 16, 16, 20
	evxor 17, 17, 21
	TWO 7, 8, 26, 4, 4, 18, 19, 20, 21
	SUM 22, 23, 24, 25
	TWO 7, 8, 26, 6, 6, 22, 23, 24, 25
	SUM 18, 19, 20, 21
	GHASH_WORD 7, 8, 27, 8
	GHASH_WORD 9, 10, 28, 0
	GHASH_WORD 9, 10, 29, 8
	SUM 22, 23, 24, 25
	mr 31, 16
	evmergehi 30, 16, 16
	mr 12, 17
	evmergehi 11, 17, 17
	bdnz 1b
	stw 30, 0(3)
	stw 31, 4(3)
	stw 11, 8(3)
	stw 12, 12(3)
	LEAVE
#endif
	.section .note.GNU-stack, "", @progbits
