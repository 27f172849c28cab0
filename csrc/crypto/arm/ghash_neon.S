/* SPDX-License-Identifier: MIT
 * GHASH (SP 800-38D, 6.4) by vmull.p8, eight products of 8x8 bits an instruction.
 *
 * Blocks are taken byte-reversed: a 128-bit number whose top bit is the coefficient of x^0. A product of two halves a
 * and h is the sum over i of the vectors a[j] * h[(j + i) % 8], which belong at byte 2j + i, or 2j + i - 8 where j + i
 * passes 8. Sums over up to eight blocks (each with its own power of H) are kept apart for each i, so that moving
 * bytes to where they belong, Karatsuba's middle and the reduction are done once for all of them. The table has the
 * eight rotations of h ready: no shuffling of data at all in the inner loop.
 *
 * Table: three parts (high halves, low halves, their sums), each eight powers, H^8 first, each eight rotations of
 * 8 bytes: 1536 bytes, 16-byte aligned. Powers are divided by x (ghash_neon.c), which saves shifting the product.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* One block's part against one power: q0-q7 are the sums for i = 0..7. */
.macro multiply_first
	vldmia	r5!, {d16-d23}
	vld1.64	{d24}, [r6:64], r7
	vmull.p8 q0, d24, d16
	vmull.p8 q1, d24, d17
	vmull.p8 q2, d24, d18
	vmull.p8 q3, d24, d19
	vmull.p8 q4, d24, d20
	vmull.p8 q5, d24, d21
	vmull.p8 q6, d24, d22
	vmull.p8 q7, d24, d23
.endm
.macro multiply_add
	vldmia	r5!, {d16-d23}
	vld1.64	{d24}, [r6:64], r7
	vmull.p8 q13, d24, d16
	vmull.p8 q14, d24, d17
	vmull.p8 q15, d24, d18
	veor	q0, q0, q13
	vmull.p8 q13, d24, d19
	veor	q1, q1, q14
	vmull.p8 q14, d24, d20
	veor	q2, q2, q15
	vmull.p8 q15, d24, d21
	veor	q3, q3, q13
	vmull.p8 q13, d24, d22
	veor	q4, q4, q14
	vmull.p8 q14, d24, d23
	veor	q5, q5, q15
	veor	q6, q6, q13
	veor	q7, q7, q14
.endm
#define MULTIPLY_ADD_BYTES 72

/* The i lanes that passed 8 go eight bytes down; then all move i bytes up. */
.macro place x, lo, hi, mask, t, up
	vand	\t, \hi, \mask
	veor	\lo, \lo, \t
	veor	\hi, \hi, \t
	vext.8	\x, \x, \x, #\up
.endm

#include "ghash_reduce.inc"

/* void gw_ghash_neon(uint8_t y[16], const void *table, const uint8_t *data, size_t blocks); any alignment of y and data
 * Stack: eight blocks as high half, low half, sum: 192 bytes; two products: 32 bytes. */
	.p2align 4
	.global	gw_ghash_neon
	.hidden	gw_ghash_neon
	.type	gw_ghash_neon, %function
gw_ghash_neon:
	cmp	r3, #0
	bxeq	lr
	push	{r4-r11, lr}
	vpush	{d8-d15}
	mov	r11, sp
	sub	sp, sp, #240
	bic	sp, sp, #15
	mov	r7, #24
	vld1.8	{d0, d1}, [r0]
	vrev64.8 q0, q0
.Lgroup:
	/* y is in d0 (high), d1 (low). r4 = blocks of this group. */
	cmp	r3, #8
	mov	r4, r3
	movhi	r4, #8
	sub	r3, r3, r4
	vld1.8	{d4, d5}, [r2]!
	vrev64.8 q2, q2
	mov	r6, sp
	veor	q2, q2, q0
	subs	r8, r4, #1
	veor	d6, d4, d5
	vst1.64	{d4-d6}, [r6:64]!
	beq	.Lprepared
.Lprepare:
	vld1.8	{d4, d5}, [r2]!
	vrev64.8 q2, q2
	subs	r8, r8, #1
	veor	d6, d4, d5
	vst1.64	{d4-d6}, [r6:64]!
	bne	.Lprepare
.Lprepared:
	rsb	r8, r4, #8
	mov	r9, #MULTIPLY_ADD_BYTES
	mul	r9, r8, r9
	add	r10, r1, r8, lsl #6
	mov	r8, #0
	mov	r12, sp
.Lpart:
	mov	r5, r10
	mov	r6, r12
	multiply_first
	add	pc, pc, r9
	nop
.rept 7
	multiply_add
.endr
	/* a[j] * h[j - i] is the mirror of i: bring its lanes to those of a[j + i] * h[j]. */
	vext.8	q13, q7, q7, #2
	vext.8	q14, q6, q6, #4
	vext.8	q15, q5, q5, #6
	vmov.i64 d16, #0xffff000000000000
	vmov.i64 d17, #0xffffffff00000000
	vmov.i64 d18, #0xffffffffffff0000
	vmov.i64 d19, #0xffffffffffffffff
	veor	q1, q1, q13
	veor	q2, q2, q14
	veor	q3, q3, q15
	place	q1, d2, d3, d16, d26, 15
	place	q2, d4, d5, d17, d28, 14
	place	q3, d6, d7, d18, d30, 13
	place	q4, d8, d9, d19, d27, 12
	veor	q0, q0, q1
	veor	q2, q2, q3
	veor	q0, q0, q4
	add	r10, r10, #512
	veor	q0, q0, q2
	add	r12, r12, #8
	add	r8, r8, #1
	cmp	r8, #2
	addls	r5, sp, #176
	addls	r5, r5, r8, lsl #4
	vstmials r5, {d0, d1}
	bls	.Lpart

	/* q0 = middle; high and low products from the stack. */
	add	r5, sp, #192
	vld1.64	{d16-d19}, [r5:128]
	veor	q0, q0, q8
	veor	q0, q0, q9
	veor	d19, d19, d0
	veor	d16, d16, d1
	reduce
	cmp	r3, #0
	bne	.Lgroup

	vrev64.8 q0, q0
	vst1.8	{d0, d1}, [r0]
	/* What depends on H: the first block, which y went into, and the products. */
	vmov.i8	q1, #0
	vmov.i8	q2, #0
	add	r5, sp, #192
	mov	r6, sp
	vst1.64	{d2-d4}, [r6:64]
	vst1.64	{d2-d5}, [r5:128]
	mov	sp, r11
	vpop	{d8-d15}
	pop	{r4-r11, pc}
	.size	gw_ghash_neon, . - gw_ghash_neon

	.section .note.GNU-stack, "", %progbits
#endif
