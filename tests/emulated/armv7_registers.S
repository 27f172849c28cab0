/* SPDX-License-Identifier: MIT
 * uint32_t armv7_call_preserves(void (*f)(void *), void *arg, uint32_t shift): calls f on a 16-byte aligned stack that
 * is lowered by shift (0 or 8) bytes more, with r4-r11 and d8-d15 set to known values; returns how many of them came
 * back changed, plus 100 for the stack pointer.
 */
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

.macro pattern r, n
	movw	\r, #0x5a00 + \n
	movt	\r, #0xa500 + \n
.endm
.macro check n
	pattern	r2, \n
	cmp	r2, r\n
	addne	r0, r0, #1
.endm
.macro check_d n
	vmov	r4, r5, d\n
	pattern	r2, \n
	cmp	r2, r4
	mvneq	r2, r2
	cmpeq	r2, r5
	addne	r0, r0, #1
.endm

	.p2align 2
	.global	armv7_call_preserves
	.type	armv7_call_preserves, %function
armv7_call_preserves:
	push	{r4-r11, lr}
	vpush	{d8-d15}
	mov	r4, sp
	bic	sp, sp, #15
	sub	sp, sp, #64
	sub	sp, sp, r2
	str	r4, [sp, r2]
	str	r2, [sp, #32]
	add	r4, sp, #0
	str	r4, [sp, #40]
	mov	r12, r0
	mov	r0, r1
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	pattern	r2, \n
	mvn	r3, r2
	vmov	d\n, r2, r3
	.endr
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11
	pattern	r\n, \n
	.endr
	blx	r12
	mov	r0, #0
	.irp n, 4, 5, 6, 7, 8, 9, 10, 11
	check	\n
	.endr
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	check_d	\n
	.endr
	ldr	r1, [sp, #40]
	cmp	r1, sp
	addne	r0, r0, #100
	mov	sp, r1
	ldr	r2, [sp, #32]
	ldr	sp, [sp, r2]
	vpop	{d8-d15}
	pop	{r4-r11, pc}
	.size	armv7_call_preserves, . - armv7_call_preserves
/* void armv7_spoil(void *): breaks the convention for r5 and d9, so that the check is seen to find it. */
	.global	armv7_spoil
	.type	armv7_spoil, %function
armv7_spoil:
	mov	r5, #0
	vmov	d9, r5, r5
	bx	lr
	.size	armv7_spoil, . - armv7_spoil
	.section .note.GNU-stack, "", %progbits
