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
 * displacement. r7, r8, r14, r15 (first half), r9, r10, r3, r4 (second) addresses; r16, r17 the product; r18-r25 entries;
 * r26-r29 the block. */
.macro NIBBLE x, w, k /* nibble k of the word, 0 the most significant */
	.if \k < 5
	rlwimi \x, \w, 12 + 4 * (\k), 20, 23
	.else
	rlwimi \x, \w, 4 * (\k) - 20, 20, 23
	.endif
.endm

/* The addresses for nibbles k and k + 1 of w. */
.macro ADDRESSES xa, xb, w, k
	NIBBLE \xa, \w, \k
	NIBBLE \xb, \w, \k + 1
.endm

/* Adds two entries (a, b) and (c, d) to the product while those at positions p and p + 1 are loaded into (e, f) and
 * (g, h), and makes the next two addresses. A vector operation stands first of each pair: only then can it issue
 * beside its neighbour. */
.macro STEP a, b, c, d, e, f, g, h, xa, xb, p, na, nb, w, k
	evxor 16, 16, \a
	evldd \e, 16 * (\p)(\xa)
	evxor 17, 17, \b
	evldd \f, 16 * (\p) + 8(\xa)
	evxor 16, 16, \c
	evldd \g, 16 * (\p) + 16(\xb)
	evxor 17, 17, \d
	evldd \h, 16 * (\p) + 24(\xb)
	.ifnc \na, none
	ADDRESSES \na, \nb, \w, \k
	.endif
.endm

.macro ODD xa, xb, p, na, nb, w, k /* odd and even steps use the entries in turn */
	STEP 18, 19, 20, 21, 22, 23, 24, 25, \xa, \xb, \p, \na, \nb, \w, \k
.endm

.macro EVEN xa, xb, p, na, nb, w, k
	STEP 22, 23, 24, 25, 18, 19, 20, 21, \xa, \xb, \p, \na, \nb, \w, \k
.endm

	FUNC gw_spe_ghash
	ENTER
	mr 7, 4
	mr 8, 4
	mr 14, 4
	mr 15, 4
	addi 9, 4, 4096
	mr 10, 9
	addi 5, 5, -16
	lwz 30, 0(3)
	lwz 31, 4(3)
	lwz 11, 8(3)
	lwz 12, 12(3)
	stw 3, 8(1)
	mr 3, 9
	mr 4, 9
	lwzu 26, 16(5)
1:	lwz 27, 4(5)
	xor 26, 26, 30
	lwz 28, 8(5)
	ADDRESSES 7, 8, 26, 0
	lwz 29, 12(5)
	ADDRESSES 14, 15, 26, 2
	evldd 16, 0(7)
	xor 27, 27, 31
	evldd 17, 8(7)
	xor 28, 28, 11
	evldd 18, 16(8)
	xor 29, 29, 12
	evldd 19, 24(8)
	ADDRESSES 7, 8, 26, 4
	evldd 22, 32(14)
	evldd 23, 40(14)
	evxor 16, 16, 18
	evldd 24, 48(15)
	evxor 17, 17, 19
	evldd 25, 56(15)
	ADDRESSES 14, 15, 26, 6
	EVEN 7, 8, 4, 7, 8, 27, 0
	ODD 14, 15, 6, 14, 15, 27, 2
	EVEN 7, 8, 8, 7, 8, 27, 4
	ODD 14, 15, 10, 14, 15, 27, 6
	EVEN 7, 8, 12, 9, 10, 28, 0
	ODD 14, 15, 14, 3, 4, 28, 2
	EVEN 9, 10, 0, 9, 10, 28, 4
	ODD 3, 4, 2, 3, 4, 28, 6
	EVEN 9, 10, 4, 9, 10, 29, 0
	ODD 3, 4, 6, 3, 4, 29, 2
	EVEN 9, 10, 8, 9, 10, 29, 4
	ODD 3, 4, 10, 3, 4, 29, 6
	EVEN 9, 10, 12, none
	ODD 3, 4, 14, none
	evxor 16, 16, 22
	addic. 6, 6, -1
	beq 2f
	lwzu 26, 16(5)
2:	evxor 16, 16, 24
	evmergehi 30, 16, 16
	evxor 17, 17, 23
	mr 31, 16
	evxor 17, 17, 25
	mr 12, 17
	evmergehi 11, 17, 17
	bne 1b
	lwz 3, 8(1)
	stw 30, 0(3)
	stw 31, 4(3)
	stw 11, 8(3)
	stw 12, 12(3)
	LEAVE
#endif
	.section .note.GNU-stack, "", @progbits
