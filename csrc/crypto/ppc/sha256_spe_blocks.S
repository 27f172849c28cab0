/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4 6.2.2) of one stream on SPE: the rounds in scalar instructions, the message schedule two words
 * at a time in 64-bit registers, both interleaved to fill the two issue slots (vector operations issue on one unit
 * only). The order within a macro was found with tests/emulated/e500v2_model.py. Prototype: spe.h.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe_asm.h"

/* r14-r21: the last 16 schedule words, two a register, the even one in the upper half. r22-r29: a..h. */
#define rX  30 /* a ^ b of this round, b ^ c of the next: Maj shares it */
#define rY  31
#define rK  12
#define rT1 9
#define rT2 10
#define rT3 11
#define rWK 8 /* schedule word + constant, for the odd round */
#define rWH 7 /* and for the even one */
#define rM  6
#define rU  5
#define rV  0

/* Frame: 8 state, 88 data, 92 blocks left. */
#define STATE  8
#define DATA   88
#define BLOCKS 92

/* Rounds 2j and 2j + 1 of the first 16, words 2j and 2j + 1 loaded from rM. */
.macro LOAD_TWO j, w0, a, b, c, d, e, f, g, h
	lwz rT1, 8 * (\j)(rM)
	lwz \w0, 8 * (\j) + 4(rM)
	xor rT3, \f, \g
	evldd rWK, 8 * (\j)(rK)
	and rT3, rT3, \e
	rotlwi rT2, \e, 21
	xor rX, \a, \b
	evmergelo \w0, rT1, \w0
	rotlwi rT1, \e, 26
	evaddw rWK, rWK, \w0
	xor rT1, rT1, rT2
	xor rT3, rT3, \g
	rotlwi rT2, \e, 7
	evmergehi rWH, rWK, rWK
	xor rT1, rT1, rT2
	add \g, \g, rWK
	add \h, \h, rWH
	add \h, \h, rT3
	xor rT3, \e, \f
	rotlwi rT2, \a, 19
	add \h, \h, rT1
	rotlwi rT1, \a, 30
	add \d, \d, \h
	and rT3, rT3, \d
	xor rT1, rT1, rT2
	and rY, rY, rX
	rotlwi rT2, \a, 10
	xor rT1, rT1, rT2
	xor rY, rY, \b
	add \h, \h, rT1
	xor rT3, rT3, \f
	add \h, \h, rY
	rotlwi rT2, \d, 21
	rotlwi rT1, \d, 26
	add \g, \g, rT3
	xor rT1, rT1, rT2
	rotlwi rT2, \d, 7
	xor rY, \h, \a
	xor rT1, rT1, rT2
	add \g, \g, rT1
	rotlwi rT1, \h, 30
	rotlwi rT2, \h, 19
	and rX, rX, rY
	xor rX, rX, \a
	xor rT1, rT1, rT2
	rotlwi rT2, \h, 10
	add \c, \c, \g
	xor rT1, rT1, rT2
	add \g, \g, rT1
	add \g, \g, rX
.endm

/* Rounds 2j and 2j + 1 of a later 16: w0 := s1(w7) + (w4, w5) + s0(w0, w1) + w0, where wN is N registers on. */
.macro TWO j, w0, w1, w4, w5, w7, a, b, c, d, e, f, g, h
	evmergelohi rM, \w0, \w1
	evrlwi rV, rM, 14
	rotlwi rT2, \e, 21
	evrlwi rU, rM, 25
	xor rT3, \f, \g
	evsrwiu rM, rM, 3
	rotlwi rT1, \e, 26
	evxor rU, rU, rV
	xor rT1, rT1, rT2
	evxor rU, rU, rM
	rotlwi rT2, \e, 7
	evaddw \w0, \w0, rU
	evrlwi rU, \w7, 15
	evldd rWK, 8 * (\j)(rK)
	evrlwi rV, \w7, 13
	xor rT1, rT1, rT2
	evxor rU, rU, rV
	rotlwi rT2, \a, 19
	evsrwiu rM, \w7, 10
	evmergelohi rV, \w4, \w5
	xor rX, \a, \b
	evxor rU, rU, rM
	and rY, rY, rX
	evaddw \w0, \w0, rV
	evaddw \w0, \w0, rU
	and rT3, rT3, \e
	evaddw rWK, rWK, \w0
	xor rT3, rT3, \g
	evmergehi rWH, rWK, rWK
	add \g, \g, rWK
	add \h, \h, rWH
	xor rY, rY, \b
	add \h, \h, rT3
	xor rT3, \e, \f
	add \h, \h, rT1
	rotlwi rT1, \a, 30
	xor rT1, rT1, rT2
	rotlwi rT2, \a, 10
	xor rT1, rT1, rT2
	add \d, \d, \h
	rotlwi rT2, \d, 21
	add \h, \h, rT1
	add \h, \h, rY
	rotlwi rT1, \d, 26
	and rT3, rT3, \d
	xor rY, \h, \a
	xor rT1, rT1, rT2
	rotlwi rT2, \d, 7
	xor rT3, rT3, \f
	xor rT1, rT1, rT2
	add \g, \g, rT3
	and rX, rX, rY
	add \g, \g, rT1
	rotlwi rT2, \h, 19
	rotlwi rT1, \h, 30
	add \c, \c, \g
	xor rT1, rT1, rT2
	rotlwi rT2, \h, 10
	xor rT1, rT1, rT2
	xor rX, rX, \a
	add \g, \g, rT1
	add \g, \g, rX
.endm

	.text
	FUNC gw_spe_sha256_blocks
	ENTER
	stw 3, STATE(1)
	stw 5, BLOCKS(1)
	mr rK, 6
	mr rM, 4
	lwz 22, 0(3)
	lwz 23, 4(3)
	lwz 24, 8(3)
	lwz 25, 12(3)
	lwz 26, 16(3)
	lwz 27, 20(3)
	lwz 28, 24(3)
	lwz 29, 28(3)
1:	xor rY, 23, 24
	LOAD_TWO 0, 14, 22, 23, 24, 25, 26, 27, 28, 29
	LOAD_TWO 1, 15, 28, 29, 22, 23, 24, 25, 26, 27
	LOAD_TWO 2, 16, 26, 27, 28, 29, 22, 23, 24, 25
	LOAD_TWO 3, 17, 24, 25, 26, 27, 28, 29, 22, 23
	LOAD_TWO 4, 18, 22, 23, 24, 25, 26, 27, 28, 29
	LOAD_TWO 5, 19, 28, 29, 22, 23, 24, 25, 26, 27
	LOAD_TWO 6, 20, 26, 27, 28, 29, 22, 23, 24, 25
	LOAD_TWO 7, 21, 24, 25, 26, 27, 28, 29, 22, 23
	addi rM, rM, 64
	li rT1, 3
	stw rM, DATA(1)
	mtctr rT1
2:	addi rK, rK, 64
	TWO 0, 14, 15, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29
	TWO 1, 15, 16, 19, 20, 14, 28, 29, 22, 23, 24, 25, 26, 27
	TWO 2, 16, 17, 20, 21, 15, 26, 27, 28, 29, 22, 23, 24, 25
	TWO 3, 17, 18, 21, 14, 16, 24, 25, 26, 27, 28, 29, 22, 23
	TWO 4, 18, 19, 14, 15, 17, 22, 23, 24, 25, 26, 27, 28, 29
	TWO 5, 19, 20, 15, 16, 18, 28, 29, 22, 23, 24, 25, 26, 27
	TWO 6, 20, 21, 16, 17, 19, 26, 27, 28, 29, 22, 23, 24, 25
	TWO 7, 21, 14, 17, 18, 20, 24, 25, 26, 27, 28, 29, 22, 23
	bdnz 2b
	lwz rU, STATE(1)
	lwz rT1, BLOCKS(1)
	addi rK, rK, -192
	lwz rM, DATA(1)
	lwz rT2, 0(rU)
	lwz rT3, 4(rU)
	addic. rT1, rT1, -1
	lwz rX, 8(rU)
	stw rT1, BLOCKS(1)
	lwz rY, 12(rU)
	add 22, 22, rT2
	lwz rT1, 16(rU)
	add 23, 23, rT3
	lwz rT2, 20(rU)
	add 24, 24, rX
	lwz rT3, 24(rU)
	add 25, 25, rY
	lwz rX, 28(rU)
	add 26, 26, rT1
	stw 22, 0(rU)
	add 27, 27, rT2
	stw 23, 4(rU)
	add 28, 28, rT3
	stw 24, 8(rU)
	add 29, 29, rX
	stw 25, 12(rU)
	stw 26, 16(rU)
	stw 27, 20(rU)
	stw 28, 24(rU)
	stw 29, 28(rU)
	bne 1b
	LEAVE
#endif
	.section .note.GNU-stack, "", @progbits
