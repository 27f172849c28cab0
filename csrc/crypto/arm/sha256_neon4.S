/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4, 6.2) of four streams abreast: word i of all four in one q register. First the whole message
 * schedule into 1 KiB of stack, then the rounds; each then has the 16 registers to itself.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* x0 = words i, x1 = i - 15, x9 = i - 7, x14 = i - 2 (x0 comes in as i - 16). */
.macro schedule d, x0, x1, x9, x14
	vshr.u32 q9, \x1, #7
	vshr.u32 q10, \x1, #18
	vsli.32	q9, \x1, #25
	vsli.32	q10, \x1, #14
	vshr.u32 q11, \x1, #3
	vadd.i32 \x0, \x0, \x9
	veor	q9, q9, q10
	vshr.u32 q10, \x14, #17
	vshr.u32 q12, \x14, #19
	veor	q9, q9, q11
	vsli.32	q10, \x14, #15
	vsli.32	q12, \x14, #13
	vshr.u32 q11, \x14, #10
	vadd.i32 \x0, \x0, q9
	veor	q10, q10, q12
	veor	q10, q10, q11
	vadd.i32 \d, \x0, q10
.endm

.macro rotations d, x, r1, r2, r3
	vshr.u32 \d, \x, #\r1
	vshr.u32 q14, \x, #\r2
	vshr.u32 q15, \x, #\r3
	vsli.32	\d, \x, #32 - \r1
	vsli.32	q14, \x, #32 - \r2
	vsli.32	q15, \x, #32 - \r3
	veor	\d, \d, q14
	veor	\d, \d, q15
.endm

.macro round a, b, c, d, e, f, g, h, w
	vld1.32	{d24[], d25[]}, [r3:32]!
	vadd.i32 \h, \h, \w
	rotations q13, \e, 6, 11, 25
	vadd.i32 \h, \h, q12
	vmov	q12, \e
	vadd.i32 \h, \h, q13
	vbsl	q12, \f, \g
	vadd.i32 \h, \h, q12
	rotations q13, \a, 2, 13, 22
	veor	q12, \a, \b
	vadd.i32 \d, \d, \h
	vadd.i32 \h, \h, q13
	vbsl	q12, \c, \b
	vadd.i32 \h, \h, q12
.endm

/* 4x4 words: a row each -> a column each. */
.macro transpose a, al, ah, b, bl, bh, c, cl, ch, d, dl, dh
	vtrn.32	\a, \b
	vtrn.32	\c, \d
	vswp	\ah, \cl
	vswp	\bh, \dl
.endm

#define WORDS_BYTES 1024

	.p2align 4
.Lk_off:
	.word	.Lk - .Lk_pc - 8

/* void gw_sha256_neon4(uint32_t *state, const uint8_t **data, size_t blocks);
 * state[8][4], 16-byte aligned; data[4]. blocks >= 1. */
	.global	gw_sha256_neon4
	.hidden	gw_sha256_neon4
	.type	gw_sha256_neon4, %function
gw_sha256_neon4:
	push	{r4-r11, lr}
	vpush	{d8-d15}
	mov	r11, sp
	sub	sp, sp, #WORDS_BYTES
	bic	sp, sp, #15
	ldmia	r1, {r4-r7}
.Lblock:
	mov	r12, sp
	mov	r8, #2
.Lload:
	/* 32 bytes of each lane: eight words of the four. */
	vld1.8	{d0-d3}, [r4]!
	vld1.8	{d4-d7}, [r5]!
	vld1.8	{d8-d11}, [r6]!
	vld1.8	{d12-d15}, [r7]!
	vrev32.8 q0, q0
	vrev32.8 q2, q2
	vrev32.8 q4, q4
	vrev32.8 q6, q6
	vrev32.8 q8, q1
	vrev32.8 q10, q3
	vrev32.8 q12, q5
	vrev32.8 q14, q7
	transpose q0, d0, d1, q2, d4, d5, q4, d8, d9, q6, d12, d13
	transpose q8, d16, d17, q10, d20, d21, q12, d24, d25, q14, d28, d29
	vst1.32	{d0, d1}, [r12:128]!
	vst1.32	{d4, d5}, [r12:128]!
	vst1.32	{d8, d9}, [r12:128]!
	vst1.32	{d12, d13}, [r12:128]!
	vst1.32	{d16, d17}, [r12:128]!
	vst1.32	{d20, d21}, [r12:128]!
	vst1.32	{d24, d25}, [r12:128]!
	vst1.32	{d28, d29}, [r12:128]!
	subs	r8, r8, #1
	bne	.Lload

	/* r12 = word i, lr = i - 16, r9 = i - 7; the last two words stay in q13, q14. */
	vmov	q13, q12
	mov	lr, sp
	add	r9, sp, #9 * 16
	mov	r8, #12
.Lschedule4:
	vldmia	lr!, {d0-d7}
	vldmia	r9!, {d10-d17}
	vld1.32	{d8, d9}, [lr:128]
	schedule q0, q0, q1, q5, q13
	schedule q1, q1, q2, q6, q14
	vst1.32	{d0-d3}, [r12:128]!
	schedule q13, q2, q3, q7, q0
	schedule q14, q3, q4, q8, q1
	vst1.32	{d26-d29}, [r12:128]!
	subs	r8, r8, #1
	bne	.Lschedule4

	vldmia	r0, {d0-d15}
	ldr	r3, .Lk_off
.Lk_pc:
	add	r3, pc, r3
	mov	lr, sp
.Lrounds:
	vldmia	lr!, {d16-d23}
	round	q0, q1, q2, q3, q4, q5, q6, q7, q8
	round	q7, q0, q1, q2, q3, q4, q5, q6, q9
	round	q6, q7, q0, q1, q2, q3, q4, q5, q10
	round	q5, q6, q7, q0, q1, q2, q3, q4, q11
	vldmia	lr!, {d16-d23}
	cmp	lr, r12
	round	q4, q5, q6, q7, q0, q1, q2, q3, q8
	round	q3, q4, q5, q6, q7, q0, q1, q2, q9
	round	q2, q3, q4, q5, q6, q7, q0, q1, q10
	round	q1, q2, q3, q4, q5, q6, q7, q0, q11
	bne	.Lrounds

	vldmia	r0, {d16-d31}
	vadd.i32 q0, q0, q8
	vadd.i32 q1, q1, q9
	vadd.i32 q2, q2, q10
	vadd.i32 q3, q3, q11
	vadd.i32 q4, q4, q12
	vadd.i32 q5, q5, q13
	vadd.i32 q6, q6, q14
	vadd.i32 q7, q7, q15
	vstmia	r0, {d0-d15}
	subs	r2, r2, #1
	bne	.Lblock

	/* The words are the message: wipe them. */
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	mov	lr, sp
.Lwipe:
	vst1.8	{d0-d3}, [lr:128]!
	vst1.8	{d0-d3}, [lr:128]!
	cmp	lr, r12
	bne	.Lwipe
	mov	sp, r11
	vpop	{d8-d15}
	pop	{r4-r11, pc}
	.size	gw_sha256_neon4, . - gw_sha256_neon4

	.p2align 6
.Lk:
	.word	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
	.word	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
	.word	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
	.word	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
	.word	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
	.word	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
	.word	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
	.word	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2

	.section .note.GNU-stack, "", %progbits
#endif
