/* SPDX-License-Identifier: MIT
 * ChaCha20 (RFC 8439, 2.3) of four blocks abreast: word i of all four in q register i. Words 14 and 15, and words 12
 * and 13, take turns on the stack, so that two quarter rounds run interleaved with a scratch register each.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* Two quarter rounds; t and u are scratch. */
.macro quarters a, b, c, d, t, aa, bb, cc, dd, u
	vadd.i32 \a, \a, \b
	vadd.i32 \aa, \aa, \bb
	veor	\d, \d, \a
	veor	\dd, \dd, \aa
	vrev32.16 \d, \d
	vrev32.16 \dd, \dd
	vadd.i32 \c, \c, \d
	vadd.i32 \cc, \cc, \dd
	veor	\t, \b, \c
	veor	\u, \bb, \cc
	vshl.i32 \b, \t, #12
	vshl.i32 \bb, \u, #12
	vsri.32	\b, \t, #20
	vsri.32	\bb, \u, #20
	vadd.i32 \a, \a, \b
	vadd.i32 \aa, \aa, \bb
	veor	\t, \d, \a
	veor	\u, \dd, \aa
	vshl.i32 \d, \t, #8
	vshl.i32 \dd, \u, #8
	vsri.32	\d, \t, #24
	vsri.32	\dd, \u, #24
	vadd.i32 \c, \c, \d
	vadd.i32 \cc, \cc, \dd
	veor	\t, \b, \c
	veor	\u, \bb, \cc
	vshl.i32 \b, \t, #7
	vshl.i32 \bb, \u, #7
	vsri.32	\b, \t, #25
	vsri.32	\bb, \u, #25
.endm

/* 4x4 words: a row each -> a column each. */
.macro transpose a, ah, b, bh, c, cl, d, dl
	vtrn.32	\a, \b
	vtrn.32	\c, \d
	vswp	\ah, \cl
	vswp	\bh, \dl
.endm

/* Row of every lane's state: r12 = 64 apart. */
.macro load_row x0, x1, x2, x3
	vld1.32	{\x0}, [r1:128], r12
	vld1.32	{\x1}, [r1:128], r12
	vld1.32	{\x2}, [r1:128], r12
	vld1.32	{\x3}, [r1:128], r12
	sub	r1, r1, #256 - 16
.endm

/* Sixteen bytes of each lane: add the state's row, XOR what comes in. t and u are scratch. */
.macro output x0, x1, x2, x3, d0, d1, d2, d3, t, td, u, ud
	vld1.32	{\td}, [r0:128], r12
	vld1.8	{\ud}, [r4]!
	vadd.i32 \x0, \x0, \t
	vld1.32	{\td}, [r0:128], r12
	veor	\x0, \x0, \u
	vld1.8	{\ud}, [r5]!
	vadd.i32 \x1, \x1, \t
	vld1.32	{\td}, [r0:128], r12
	veor	\x1, \x1, \u
	vld1.8	{\ud}, [r6]!
	vadd.i32 \x2, \x2, \t
	vld1.32	{\td}, [r0:128], r12
	veor	\x2, \x2, \u
	vld1.8	{\ud}, [r7]!
	vadd.i32 \x3, \x3, \t
	sub	r0, r0, #256 - 16
	veor	\x3, \x3, \u
	vst1.8	{\d0}, [r8]!
	vst1.8	{\d1}, [r9]!
	vst1.8	{\d2}, [r10]!
	vst1.8	{\d3}, [r11]!
.endm

/* void gw_chacha20_neon4(const gw_chacha20_lanes *lanes): four states of 64 bytes (16-byte aligned), four pointers in,
 * four out. out = in ^ block, 64 bytes each, sixteen at a time: in may be out. */
	.p2align 4
	.global	gw_chacha20_neon4
	.hidden	gw_chacha20_neon4
	.type	gw_chacha20_neon4, %function
gw_chacha20_neon4:
	push	{r4-r11, lr}
	vpush	{d8-d15}
	mov	r2, sp
	sub	sp, sp, #80
	bic	sp, sp, #15
	str	r2, [sp, #64]
	mov	r3, sp
	add	lr, sp, #32
	mov	r12, #64
	mov	r1, r0
	load_row d0-d1, d2-d3, d4-d5, d6-d7
	load_row d8-d9, d10-d11, d12-d13, d14-d15
	load_row d16-d17, d18-d19, d20-d21, d22-d23
	load_row d24-d25, d26-d27, d28-d29, d30-d31
	add	r1, r0, #256
	ldmia	r1, {r4-r11}
	mov	r2, #10
	transpose q12, d25, q13, d27, q14, d28, q15, d30
	transpose q0, d1, q1, d3, q2, d4, q3, d6
	transpose q4, d9, q5, d11, q6, d12, q7, d14
	transpose q8, d17, q9, d19, q10, d20, q11, d22
	vst1.32	{d28-d31}, [lr:128]
.Lround:
	quarters q0, q4, q8, q12, q14, q1, q5, q9, q13, q15
	vld1.32	{d28-d31}, [lr:128]
	vst1.32	{d24-d27}, [r3:128]
	quarters q2, q6, q10, q14, q12, q3, q7, q11, q15, q13
	quarters q0, q5, q10, q15, q12, q3, q4, q9, q14, q13
	vld1.32	{d24-d27}, [r3:128]
	vst1.32	{d28-d31}, [lr:128]
	subs	r2, r2, #1
	quarters q1, q6, q11, q12, q14, q2, q7, q8, q13, q15
	bne	.Lround

	transpose q0, d1, q1, d3, q2, d4, q3, d6
	output	q0, q1, q2, q3, d0-d1, d2-d3, d4-d5, d6-d7, q14, d28-d29, q15, d30-d31
	vld1.32	{d28-d31}, [lr:128]
	transpose q4, d9, q5, d11, q6, d12, q7, d14
	output	q4, q5, q6, q7, d8-d9, d10-d11, d12-d13, d14-d15, q0, d0-d1, q1, d2-d3
	transpose q8, d17, q9, d19, q10, d20, q11, d22
	output	q8, q9, q10, q11, d16-d17, d18-d19, d20-d21, d22-d23, q2, d4-d5, q3, d6-d7
	transpose q12, d25, q13, d27, q14, d28, q15, d30
	output	q12, q13, q14, q15, d24-d25, d26-d27, d28-d29, d30-d31, q0, d0-d1, q1, d2-d3

	vmov.i8	q0, #0
	vmov.i8	q1, #0
	vst1.32	{d0-d3}, [r3:128]
	vst1.32	{d0-d3}, [lr:128]
	ldr	sp, [sp, #64]
	vpop	{d8-d15}
	pop	{r4-r11, pc}
	.size	gw_chacha20_neon4, . - gw_chacha20_neon4

	.section .note.GNU-stack, "", %progbits
#endif
