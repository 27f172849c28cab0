/* SPDX-License-Identifier: MIT
 * What C cannot see of a 64-bit register file: helpers of spe_probe.c.
 */
	.text

/* uint32_t spe_halves_spin(const volatile uint32_t *stop, uint64_t out[32], const uint64_t in[32]):
 * loads both halves of r6-r12 and r14-r31, spins until *stop is not 0, stores them. Returns the turns made. */
	.globl spe_halves_spin
	.type spe_halves_spin, @function
spe_halves_spin:
	stwu 1, -96(1)
	stmw 14, 16(1)
	stw 4, 8(1)
	.irp r, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	evldd \r, 8 * \r(5)
	.endr
	li 4, 0
1:	lwz 0, 0(3)
	addi 4, 4, 1
	cmpwi 0, 0
	beq 1b
	mr 3, 4
	lwz 4, 8(1)
	.irp r, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	evstdd \r, 8 * \r(4)
	.endr
	lmw 14, 16(1)
	addi 1, 1, 96
	blr

/* uint32_t spe_call_preserves(void (*f)(void *), void *arg): calls f with r14-r31 set to known values; returns how many of
 * them came back with another low half, plus 100 for the stack pointer. */
	.globl spe_call_preserves
	.type spe_call_preserves, @function
spe_call_preserves:
	mflr 0
	stw 0, 4(1)
	stwu 1, -96(1)
	stmw 14, 16(1)
	stw 1, 8(1)
	mtctr 3
	mr 3, 4
	.irp r, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	lis \r, 0x5a00 + \r
	.endr
	bctrl
	li 3, 0
	.irp r, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	lis 0, 0x5a00 + \r
	cmpw 0, \r
	beq 1f
	addi 3, 3, 1
1:
	.endr
	lwz 0, 8(1)
	cmpw 0, 1
	beq 1f
	addi 3, 3, 100
1:	lmw 14, 16(1)
	addi 1, 1, 96
	lwz 0, 4(1)
	mtlr 0
	blr
	.section .note.GNU-stack, "", @progbits
