/* SPDX-License-Identifier: MIT
 * GHASH (SP 800-38D, 6.4) by vmull.p64: three products a block (Karatsuba), a reduction for up to eight blocks.
 * Table: for H^8 to H^1, each over x: high half, low half, their sum: 24 bytes a power.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv8-a
	.fpu crypto-neon-fp-armv8
	.arm
	.text
#include "ghash_reduce.inc"

/* One block in q3 (high half first) times the next power: sums in q8 (high), q9 (low), q10 (middle). */
.macro multiply
	vld1.64	{d22-d24}, [r4:64]!
	veor	d25, d6, d7
	vmull.p64 q13, d6, d22
	vmull.p64 q14, d7, d23
	vmull.p64 q15, d25, d24
	veor	q8, q8, q13
	veor	q9, q9, q14
	veor	q10, q10, q15
.endm

/* void gw_ghash_ce32(uint8_t y[16], const void *table, const uint8_t *data, size_t blocks); any alignment of y, data */
	.p2align 4
	.global	gw_ghash_ce32
	.hidden	gw_ghash_ce32
	.type	gw_ghash_ce32, %function
gw_ghash_ce32:
	cmp	r3, #0
	bxeq	lr
	push	{r4, r5}
	vld1.8	{d0, d1}, [r0]
	vrev64.8 q0, q0
.Lgroup:
	/* y is in d0 (high), d1 (low). r12 = blocks of this group; the table from that power on. */
	cmp	r3, #8
	mov	r12, r3
	movhi	r12, #8
	sub	r3, r3, r12
	rsb	r5, r12, #8
	add	r5, r5, r5, lsl #1
	add	r4, r1, r5, lsl #3
	vld1.8	{d6, d7}, [r2]!
	vmov.i8	q8, #0
	vmov.i8	q9, #0
	vmov.i8	q10, #0
	vrev64.8 q3, q3
	veor	q3, q3, q0
	multiply
	subs	r12, r12, #1
	beq	.Lsummed
.Lblock:
	vld1.8	{d6, d7}, [r2]!
	vrev64.8 q3, q3
	multiply
	subs	r12, r12, #1
	bne	.Lblock
.Lsummed:
	veor	q10, q10, q8
	veor	q10, q10, q9
	veor	d19, d19, d20
	veor	d16, d16, d21
	reduce
	cmp	r3, #0
	bne	.Lgroup
	vrev64.8 q0, q0
	vst1.8	{d0, d1}, [r0]
	pop	{r4, r5}
	bx	lr
	.size	gw_ghash_ce32, . - gw_ghash_ce32

	.section .note.GNU-stack, "", %progbits
#endif
