/* SPDX-License-Identifier: MIT
 * One AES block on SPE: macros for the files aes_spe_*.S, which differ in what they do around it.
 *
 * The state's columns c0..c3 stand in the low halves of rC0..rC3. Two columns share a 64-bit register while they are
 * gathered: `evlwwsplat` fills both halves with the even column's table word, `lwz` (which writes only the low half)
 * puts the odd column's beside it, and one `evxor` serves both. 44 instructions a round: 16 rlwimi + 16 loads +
 * 2 key loads + 8 evxor + 2 evmergehi. A round first looks up what depends on c0 and c1, which the round before
 * finished first, so that the load latency of one half hides behind the other half.
 *
 * An address is one `rlwimi` of the byte into a register that keeps the table's base (tables: aes_spe_tables.c).
 *
 * Register use, common to all:
 *   r3 round keys   r4 in   r5 out   r6-r9 table addresses   r10-r12, r0, r28-r31 cached round keys
 *   r14 c0  r15 c1|pair A  r16 c2  r17 c3|pair B   r18-r21 gathering   r22, r23 round key   r24-r27 whitening key
 * Round keys: 15 slots of 16 bytes, right-aligned (last round at +224), 8-byte aligned.
 * cr1 compares the number of rounds with 12.
 */
#include "spe_asm.h"

#define rX0 6
#define rX1 7
#define rX2 8
#define rX3 9
#define rC0 14
#define rC1 15 /* as a pair: (c0, c1) */
#define rC2 16
#define rC3 17 /* as a pair: (c2, c3) */
#define rT0 18
#define rT1 19
#define rT2 20
#define rT3 21
#define rKA 22
#define rKB 23
#define rW0 24
#define rW1 25
#define rW2 26
#define rW3 27

/* Table address into the address registers. */
.macro BASES table
	mr rX1, \table
	mr rX2, \table
	mr rX3, \table
	mr rX0, \table
.endm

.macro INDEX x, s, byte /* bits 5..12 of x := the byte, 0 the most significant */
	.if \byte == 0
	rlwimi \x, \s, 13, 19, 26
	.elseif \byte == 1
	rlwimi \x, \s, 21, 19, 26
	.elseif \byte == 2
	rlwimi \x, \s, 29, 19, 26
	.else
	rlwimi \x, \s, 5, 19, 26
	.endif
.endm

/* The last round's words: splat the byte into position i of both halves, or load it into the low one. */
.macro LAST_HI t, x, i
	.if \i == 0
	evlhhesplat \t, 18(\x)
	.elseif \i == 1
	evlhhesplat \t, 22(\x)
	.elseif \i == 2
	evlhhousplat \t, 18(\x)
	.else
	evlhhousplat \t, 22(\x)
	.endif
.endm

.macro LAST_LO t, x, i
	.if \i == 0
	lwz \t, 18(\x)
	.elseif \i == 1
	lwz \t, 17(\x)
	.elseif \i == 2
	lwz \t, 16(\x)
	.else
	lwz \t, 20(\x)
	.endif
.endm

.macro HI last, t, x, i
	.if \last
	LAST_HI \t, \x, \i
	.else
	evlwwsplat \t, 4 * (\i)(\x)
	.endif
.endm

.macro LO last, t, x, i
	.if \last
	LAST_LO \t, \x, \i
	.else
	lwz \t, 4 * (\i)(\x)
	.endif
.endm

/* ShiftRows: where a column gives its byte i to the even column of a pair, the odd one takes its byte i - 1 mod 4
 * (encryption) or i + 1 (decryption): lo0, lo1, lo2, lo3 stand beside 0, o1, 2, o3. ka, kb: the round key's pairs. */
.macro ROUND_ last, ka, kb, o1, o3, lo0, lo1, lo2, lo3
	INDEX rX0, rC0, 0
	INDEX rX1, rC0, \lo0
	HI \last, rT0, rX0, 0
	INDEX rX2, rC1, \o1
	LO \last, rT0, rX1, \lo0
	INDEX rX3, rC1, \lo1
	HI \last, rT1, rX2, \o1
	INDEX rX0, rC0, 2
	LO \last, rT1, rX3, \lo1
	INDEX rX1, rC0, \lo2
	HI \last, rT2, rX0, 2
	INDEX rX2, rC1, \o3
	LO \last, rT2, rX1, \lo2
	INDEX rX3, rC1, \lo3
	HI \last, rT3, rX2, \o3
	evxor rC1, rT0, \ka
	LO \last, rT3, rX3, \lo3
	INDEX rX0, rC2, 2
	INDEX rX1, rC2, \lo2
	evxor rC1, rC1, rT1
	HI \last, rT0, rX0, 2
	INDEX rX2, rC3, \o3
	LO \last, rT0, rX1, \lo2
	INDEX rX3, rC3, \lo3
	HI \last, rT1, rX2, \o3
	evxor rT2, rT2, \kb
	LO \last, rT1, rX3, \lo3
	INDEX rX0, rC2, 0
	INDEX rX1, rC2, \lo0
	evxor rT2, rT2, rT3
	HI \last, rKA, rX0, 0
	INDEX rX2, rC3, \o1
	LO \last, rKA, rX1, \lo0
	INDEX rX3, rC3, \lo1
	HI \last, rKB, rX2, \o1
	evxor rC1, rC1, rT0
	LO \last, rKB, rX3, \lo1
	evxor rC1, rC1, rT1
	evmergehi rC0, rC1, rC1
	evxor rT2, rT2, rKA
	evxor rC3, rT2, rKB
	evmergehi rC2, rC3, rC3
.endm

.macro ROUND_E last, ka, kb
	ROUND_ \last, \ka, \kb, 1, 3, 3, 0, 1, 2
.endm

.macro ROUND_D last, ka, kb
	ROUND_ \last, \ka, \kb, 3, 1, 1, 0, 3, 2
.endm

/* With the round key from memory; slot 14 is the last round's. */
.macro ROUND_M dir, slot
	evldd rKA, 16 * (\slot)(3)
	evldd rKB, 16 * (\slot) + 8(3)
	ROUND_\dir 0, rKA, rKB
.endm

/* What every routine begins with: r7 table, r8 rounds, whitening key, number of blocks r6. Clobbers r10. */
.macro SETUP
	cmpwi 1, 8, 12
	mtctr 6
	slwi 10, 8, 4
	subfic 10, 10, 224
	add 10, 10, 3
	lwz rW0, 0(10)
	lwz rW1, 4(10)
	lwz rW2, 8(10)
	lwz rW3, 12(10)
	BASES 7
	addi 4, 4, -16
	addi 5, 5, -16
.endm

/* Four rounds' keys stay in registers. */
.macro CACHE
	evldd 28, 224(3)
	evldd 29, 232(3)
	evldd 30, 208(3)
	evldd 31, 216(3)
	evldd 10, 192(3)
	evldd 11, 200(3)
	evldd 12, 176(3)
	evldd 0, 184(3)
.endm

/* All rounds after the whitening, for each key length; keys of the last four rounds cached. */
.macro ROUNDS dir
	blt 1, 8f
	beq 1, 7f
	ROUND_M \dir, 1
	ROUND_M \dir, 2
7:	ROUND_M \dir, 3
	ROUND_M \dir, 4
8:	ROUND_M \dir, 5
	ROUND_M \dir, 6
	ROUND_M \dir, 7
	ROUND_M \dir, 8
	ROUND_M \dir, 9
	ROUND_M \dir, 10
	ROUND_\dir 0, 12, 0
	ROUND_\dir 0, 10, 11
	ROUND_\dir 0, 30, 31
	ROUND_\dir 1, 28, 29
.endm

.macro LOAD4 op, a, b, c, d, base, off
	\op \a, \off(\base)
	.ifc \op, lwzu
	lwz \b, 4(\base)
	lwz \c, 8(\base)
	lwz \d, 12(\base)
	.else
	lwz \b, \off + 4(\base)
	lwz \c, \off + 8(\base)
	lwz \d, \off + 12(\base)
	.endif
.endm

.macro XOR4 d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, b2, b3
	xor \d0, \a0, \b0
	xor \d1, \a1, \b1
	xor \d2, \a2, \b2
	xor \d3, \a3, \b3
.endm

.macro WHITEN s0, s1, s2, s3
	XOR4 rC0, rC1, rC2, rC3, \s0, \s1, \s2, \s3, rW0, rW1, rW2, rW3
.endm

.macro STATE_XOR s0, s1, s2, s3
	XOR4 rC0, rC1, rC2, rC3, rC0, rC1, rC2, rC3, \s0, \s1, \s2, \s3
.endm

.macro STORE_STATE
	stwu rC0, 16(5)
	stw rC1, 4(5)
	stw rC2, 8(5)
	stw rC3, 12(5)
.endm
