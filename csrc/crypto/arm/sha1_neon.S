/* SPDX-License-Identifier: MIT
 * SHA-1 (FIPS 180-4, 6.1): schedule in NEON, four words at a time and sixteen rounds ahead, rounds in the integer unit.
 * From word 32 on, w[t] = rol2(w[t-6] ^ w[t-16] ^ w[t-28] ^ w[t-32]), which looks back far enough for four words.
 * Stack: W + K, 320 bytes.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* ---- rounds: a..e in r4-r8; w = W + K ------------------------------------------------------------------------- */

.macro choose b, c, d, e
	eor	r2, \c, \d
	and	r2, r2, \b
	eor	r2, r2, \d
	add	\e, \e, r2
.endm
.macro parity b, c, d, e
	eor	r2, \b, \c
	eor	r2, r2, \d
	add	\e, \e, r2
.endm
.macro majority b, c, d, e
	and	r2, \b, \c
	eor	r3, \b, \c
	add	\e, \e, r2
	and	r3, r3, \d
	add	\e, \e, r3
.endm
.macro round f, a, b, c, d, e, w
	add	\e, \e, \w
	add	\e, \e, \a, ror #27
	\f	\b, \c, \d, \e
	mov	\b, \b, ror #2
.endm
.macro four f, a, b, c, d, e, at
	ldrd	r0, r1, [r12, #\at - 128]
	round	\f, \a, \b, \c, \d, \e, r0
	round	\f, \e, \a, \b, \c, \d, r1
	ldrd	r0, r1, [r12, #\at - 120]
	round	\f, \d, \e, \a, \b, \c, r0
	round	\f, \c, \d, \e, \a, \b, r1
.endm

/* ---- schedule: four words; x16 is 16 words back, and so on. q12 = 0 -------------------------------------------- */

/* w[t] = rol1(w[t-3] ^ w[t-8] ^ w[t-14] ^ w[t-16]); the last of the four wants the first: added afterwards. */
.macro schedule_early d, x16, x12, x8, x4
	vext.8	\d, \x16, \x12, #8
	vext.8	q13, \x4, q12, #4
	veor	\d, \d, \x16
	veor	q13, q13, \x8
	veor	q13, q13, \d
	vshl.i32 \d, q13, #1
	vsri.32	\d, q13, #31
	vext.8	q13, q12, \d, #4
	vshl.i32 q14, q13, #1
	vsri.32	q14, q13, #31
	veor	\d, \d, q14
.endm
.macro schedule_late x32, x28, x16, x8, x4
	vext.8	q13, \x8, \x4, #8
	veor	\x32, \x32, \x28
	veor	q13, q13, \x16
	veor	q13, q13, \x32
	vshl.i32 \x32, q13, #2
	vsri.32	\x32, q13, #30
.endm
.macro add_k x, k
	vadd.i32 q15, \x, \k
	vst1.32	{d30, d31}, [lr:128]!
.endm

.macro constant q, high, low
	movw	r2, #\low
	movt	r2, #\high
	vdup.32	\q, r2
.endm

#define FRAME_SP 320

/* void gw_sha1_neon_blocks(void *state, const uint8_t *data, size_t blocks); blocks >= 1 */
	.p2align 4
	.global	gw_sha1_neon_blocks
	.hidden	gw_sha1_neon_blocks
	.type	gw_sha1_neon_blocks, %function
gw_sha1_neon_blocks:
	push	{r4-r12, lr}
	vpush	{d8-d15}
	mov	r9, r0
	mov	r10, r1
	mov	r11, r2
	mov	r3, sp
	sub	sp, sp, #336
	bic	sp, sp, #15
	str	r3, [sp, #FRAME_SP]
	ldmia	r9, {r4-r8}
	constant q8, 0x5a82, 0x7999
	constant q9, 0x6ed9, 0xeba1
	constant q10, 0x8f1b, 0xbcdc
	constant q11, 0xca62, 0xc1d6
	vmov.i8	q12, #0
.Lblock:
	vld1.8	{d0-d3}, [r10]!
	vld1.8	{d4-d7}, [r10]!
	mov	lr, sp
	add	r12, sp, #128
	vrev32.8 q0, q0
	vrev32.8 q1, q1
	vrev32.8 q2, q2
	vrev32.8 q3, q3
	add_k	q0, q8
	add_k	q1, q8
	add_k	q2, q8
	add_k	q3, q8
	schedule_early q4, q0, q1, q2, q3
	add_k	q4, q8
	four	choose, r4, r5, r6, r7, r8, 0
	schedule_early q5, q1, q2, q3, q4
	add_k	q5, q9
	four	choose, r5, r6, r7, r8, r4, 16
	schedule_early q6, q2, q3, q4, q5
	add_k	q6, q9
	four	choose, r6, r7, r8, r4, r5, 32
	schedule_early q7, q3, q4, q5, q6
	add_k	q7, q9
	four	choose, r7, r8, r4, r5, r6, 48
	schedule_late q0, q1, q4, q6, q7
	add_k	q0, q9
	four	choose, r8, r4, r5, r6, r7, 64
	schedule_late q1, q2, q5, q7, q0
	add_k	q1, q9
	four	parity, r4, r5, r6, r7, r8, 80
	schedule_late q2, q3, q6, q0, q1
	add_k	q2, q10
	four	parity, r5, r6, r7, r8, r4, 96
	schedule_late q3, q4, q7, q1, q2
	add_k	q3, q10
	four	parity, r6, r7, r8, r4, r5, 112
	schedule_late q4, q5, q0, q2, q3
	add_k	q4, q10
	four	parity, r7, r8, r4, r5, r6, 128
	schedule_late q5, q6, q1, q3, q4
	add_k	q5, q10
	four	parity, r8, r4, r5, r6, r7, 144
	schedule_late q6, q7, q2, q4, q5
	add_k	q6, q10
	four	majority, r4, r5, r6, r7, r8, 160
	schedule_late q7, q0, q3, q5, q6
	add_k	q7, q11
	four	majority, r5, r6, r7, r8, r4, 176
	schedule_late q0, q1, q4, q6, q7
	add_k	q0, q11
	four	majority, r6, r7, r8, r4, r5, 192
	schedule_late q1, q2, q5, q7, q0
	add_k	q1, q11
	four	majority, r7, r8, r4, r5, r6, 208
	schedule_late q2, q3, q6, q0, q1
	add_k	q2, q11
	four	majority, r8, r4, r5, r6, r7, 224
	schedule_late q3, q4, q7, q1, q2
	add_k	q3, q11
	four	parity, r4, r5, r6, r7, r8, 240
	four	parity, r5, r6, r7, r8, r4, 256
	four	parity, r6, r7, r8, r4, r5, 272
	four	parity, r7, r8, r4, r5, r6, 288
	four	parity, r8, r4, r5, r6, r7, 304
	ldmia	r9, {r0-r3, r12}
	subs	r11, r11, #1
	add	r4, r4, r0
	add	r5, r5, r1
	add	r6, r6, r2
	add	r7, r7, r3
	add	r8, r8, r12
	stmia	r9, {r4-r8}
	bne	.Lblock
	/* The words are the message: wipe them. */
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	mov	lr, sp
	mov	r0, #10
.Lwipe:
	vst1.8	{d0-d3}, [lr:128]!
	subs	r0, r0, #1
	bne	.Lwipe
	ldr	sp, [sp, #FRAME_SP]
	vpop	{d8-d15}
	pop	{r4-r12, pc}
	.size	gw_sha1_neon_blocks, . - gw_sha1_neon_blocks

	.section .note.GNU-stack, "", %progbits
#endif
