/* SPDX-License-Identifier: MIT
 * uint32_t armv7_call_preserves(void (*f)(void *), void *arg, uint32_t shift), for AArch64: calls f with x19-x28 and
 * d8-d15 set to known values; returns how many of them came back changed. shift is for stacks that this ABI has not.
 * The names are those that armv7_probe.c calls.
 */
	.text
.macro pattern r, n
	mov	\r, #0x5a00 + \n
	movk	\r, #0xa500 + \n, lsl #48
.endm

	.p2align 2
	.global	armv7_call_preserves
	.type	armv7_call_preserves, %function
armv7_call_preserves:
	stp	x29, x30, [sp, #-176]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x9, x0
	mov	x0, x1
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	pattern	x10, \n
	mvn	x10, x10
	fmov	d\n, x10
	.endr
	.irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	pattern	x\n, \n
	.endr
	blr	x9
	mov	w0, #0
	.irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28
	pattern	x10, \n
	cmp	x10, x\n
	cinc	w0, w0, ne
	.endr
	.irp n, 8, 9, 10, 11, 12, 13, 14, 15
	pattern	x10, \n
	mvn	x10, x10
	fmov	x11, d\n
	cmp	x10, x11
	cinc	w0, w0, ne
	.endr
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #176
	ret
	.size	armv7_call_preserves, . - armv7_call_preserves

/* void armv7_spoil(void *): breaks the convention for x20 and d9, so that the check is seen to find it. */
	.global	armv7_spoil
	.type	armv7_spoil, %function
armv7_spoil:
	mov	x20, #0
	fmov	d9, x20
	ret
	.size	armv7_spoil, . - armv7_spoil
	.section .note.GNU-stack, "", %progbits
