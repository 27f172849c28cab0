/* SPDX-License-Identifier: MIT
 * AES one block after the other by table look-up in registers (Hamburg, CHES 2009): for a single CBC packet, whose
 * blocks wait for one another, and for fewer blocks than bit slices need to break even. Constant time.
 *
 * GF(2^8) is taken as pairs over GF(16) = GF(2)[g]/(g^4 + g + 1): x = i*z + j*z', z' = z^16, z + z' = 1, z*z' = n, and
 * a byte holds i in its upper and k = i + j in its lower half. With norm N = n*k^2 + i*j the inverse is (j*z + i*z')/N,
 * and with a = 1/n
 *	io = 1/(1/i + a/k) + j = N/(n*k + i)	jo = 1/(1/j + a/k) + i = N/(n*k + j)
 * so both coordinates of the inverse, and every linear function of it, are sums of a function of io and one of jo: two
 * look-ups. 1/0 is 0x80: vtbl gives 0 for indices from 16 on, and 1/infinity is 0. Tables below; z is the first
 * element of trace 1, the constant 0x63 is in the round keys.
 *
 * Columns lie in the order 0, 2, 1, 3, and ShiftRows is left out and made up for as in aes_neonbs_round.inc.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

	.p2align 4
.Ltables:	/* q8-q14 */
	/* 1/x */
	.byte	0x80, 0x01, 0x09, 0x0e, 0x0d, 0x0b, 0x07, 0x06, 0x0f, 0x02, 0x0c, 0x05, 0x0a, 0x04, 0x03, 0x08
	/* a/x */
	.byte	0x80, 0x05, 0x0b, 0x03, 0x0c, 0x01, 0x08, 0x0d, 0x06, 0x0a, 0x09, 0x02, 0x04, 0x07, 0x0f, 0x0e
	/* S-box, in pairs: of io, of jo */
	.byte	0x00, 0x55, 0x5f, 0x3a, 0xae, 0x9e, 0x65, 0x30, 0x6f, 0xc1, 0xfb, 0xa4, 0xcb, 0xf1, 0x94, 0x0a
	.byte	0x00, 0xf4, 0x26, 0xa5, 0xc2, 0xb5, 0x83, 0x77, 0x51, 0x93, 0x36, 0x10, 0x41, 0xe4, 0x67, 0xd2
	/* twice the S-box */
	.byte	0x00, 0x9b, 0xd9, 0xc4, 0x6f, 0xe9, 0x1d, 0x86, 0x5f, 0x30, 0xf4, 0x2d, 0x72, 0xb6, 0xab, 0x42
	.byte	0x00, 0x97, 0xcb, 0x76, 0xce, 0xe4, 0xbd, 0x2a, 0xe1, 0x2f, 0x59, 0x92, 0x73, 0x05, 0xb8, 0x5c
	.fill	16, 1, 0x0f
	/* q4-q7: S-box, in bytes as they are: of io, of jo */
	.byte	0x00, 0x4b, 0x9f, 0x89, 0x61, 0x3c, 0x16, 0x5d, 0xc2, 0xa3, 0x2a, 0xb5, 0x77, 0xfe, 0xe8, 0xd4
	.byte	0x00, 0x54, 0xb6, 0xa6, 0xe3, 0xa7, 0x10, 0x44, 0xf2, 0x11, 0xb7, 0x01, 0xf3, 0x55, 0x45, 0xe2
	/* bytes into pairs: lower half, upper half */
	.byte	0x00, 0x10, 0x92, 0x82, 0x74, 0x64, 0xe6, 0xf6, 0xd4, 0xc4, 0x46, 0x56, 0xa0, 0xb0, 0x32, 0x22
	.byte	0x00, 0x83, 0xbd, 0x3e, 0x03, 0x80, 0xbe, 0x3d, 0xfe, 0x7d, 0x43, 0xc0, 0xfd, 0x7e, 0x40, 0xc3
/* One row down and i columns right, for i = 1, 2, ... 13: lower half, upper half. */
.macro rows words:vararg
	.irp i, \words
	.if (\i) % 4 == 0
	.byte	1, 2, 3, 0, 5, 6, 7, 4, 1, 2, 3, 0, 5, 6, 7, 4
	.elseif (\i) % 4 == 1
	.byte	1, 2, 3, 0, 5, 6, 7, 4, 5, 6, 7, 4, 1, 2, 3, 0
	.elseif (\i) % 4 == 2
	.byte	5, 6, 7, 4, 1, 2, 3, 0, 5, 6, 7, 4, 1, 2, 3, 0
	.else
	.byte	5, 6, 7, 4, 1, 2, 3, 0, 1, 2, 3, 0, 5, 6, 7, 4
	.endif
	.endr
.endm
	rows	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
/* No ShiftRows left over, or two. */
	.byte	0, 1, 2, 3, 4, 5, 6, 7
	.byte	0, 5, 2, 7, 4, 1, 6, 3

.macro look_up lo, hi, t0, t1, ilo, ihi
	vtbl.8	\lo, {\t0, \t1}, \ilo
	vtbl.8	\hi, {\t0, \t1}, \ihi
.endm

/* q0 -> io in q3, jo in q2; i in q0, j in q1 */
.macro invert
	vand	q1, q0, q14
	vshr.u8	q0, q0, #4
	look_up	d4, d5, d18, d19, d2, d3
	look_up	d6, d7, d16, d17, d0, d1
	veor	q1, q1, q0
	look_up	d30, d31, d16, d17, d2, d3
	veor	q3, q3, q2
	veor	q2, q2, q15
	look_up	d6, d7, d16, d17, d6, d7
	look_up	d4, d5, d16, d17, d4, d5
	veor	q3, q3, q1
	veor	q2, q2, q0
.endm

/* With A = S-box, out = 2A + 3(1 down) + (2 down) + (3 down); C = 2A + (1 down): out = C + (C 1 down) + (A 3 down). */
.macro round odd
	invert
	look_up	d0, d1, d20, d21, d6, d7
	look_up	d2, d3, d22, d23, d4, d5
	vld1.64	{d30, d31}, [r12:128]!
	look_up	d6, d7, d24, d25, d6, d7
	veor	q0, q0, q1
	look_up	d4, d5, d26, d27, d4, d5
	veor	q1, q3, q2
.if \odd
	vtbl.8	d4, {d1}, d30
	vtbl.8	d5, {d0}, d31
.else
	vtbl.8	d4, {d0}, d30
	vtbl.8	d5, {d1}, d31
.endif
	veor	q1, q1, q2
.if \odd
	vrev64.16 q0, q2
	vtbl.8	d6, {d3}, d30
	vtbl.8	d7, {d2}, d31
.else
	vrev32.16 q0, q2
	vtbl.8	d6, {d2}, d30
	vtbl.8	d7, {d3}, d31
.endif
	vld1.64	{d4, d5}, [r0:128]!
	veor	q0, q0, q1
	veor	q3, q3, q2
	veor	q0, q0, q3
.endm

/* Encrypts q0. r4 = keys, r5 = half the rounds, r6 = rows, r7 = unshift. */
	.p2align 4
	.type	encrypt_q0, %function
encrypt_q0:
	mov	r0, r4
	mov	r1, r5
	mov	r12, r6
	vand	q1, q0, q14
	vshr.u8	q0, q0, #4
	vld1.64	{d6, d7}, [r0:128]!
	look_up	d2, d3, d12, d13, d2, d3
	look_up	d0, d1, d14, d15, d0, d1
	veor	q1, q1, q3
	veor	q0, q0, q1
.Lround:
	round	1
	subs	r1, r1, #1
	beq	.Llast
	round	0
	b	.Lround
.Llast:
	invert
	look_up	d6, d7, d8, d9, d6, d7
	look_up	d4, d5, d10, d11, d4, d5
	vld1.64	{d30}, [r7:64]
	vld1.64	{d2, d3}, [r0:128]!
	veor	q2, q2, q3
	vtbl.8	d4, {d4}, d30
	vtbl.8	d5, {d5}, d30
	veor	q0, q1, q2
	bx	lr
	.size	encrypt_q0, . - encrypt_q0

.Ltables_off:
	.word	.Ltables - .Ltables_pc - 8
/* Constants and pointers, from r0 = keys, r1 = rounds. */
	.type	constants, %function
constants:
	mov	r4, r0
	lsr	r5, r1, #1
	ldr	r6, .Ltables_off
.Ltables_pc:
	add	r6, pc, r6
	tst	r1, #2
	vldmia	r6!, {d16-d29}
	vldmia	r6!, {d8-d15}
	add	r7, r6, #13 * 16
	addne	r7, r7, #8
	bx	lr
	.size	constants, . - constants

/* void gw_neonvp_encrypt(const void *keys, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks);
 * keys 16-byte aligned; blocks >= 1. */
	.global	gw_neonvp_encrypt
	.hidden	gw_neonvp_encrypt
	.type	gw_neonvp_encrypt, %function
gw_neonvp_encrypt:
	push	{r4-r8, lr}
	vpush	{d8-d15}
	ldr	r8, [sp, #88]
	bl	constants
.Lblock:
	vld2.32	{d0, d1}, [r3]!
	bl	encrypt_q0
	vst2.32	{d0, d1}, [r2]!
	subs	r8, r8, #1
	bne	.Lblock
	vpop	{d8-d15}
	pop	{r4-r8, pc}
	.size	gw_neonvp_encrypt, . - gw_neonvp_encrypt

/* void gw_neonvp_cbc_encrypt(const void *keys, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks,
 *                            uint8_t chain[16]); chain moves on. */
	.global	gw_neonvp_cbc_encrypt
	.hidden	gw_neonvp_cbc_encrypt
	.type	gw_neonvp_cbc_encrypt, %function
gw_neonvp_cbc_encrypt:
	push	{r4-r8, lr}
	vpush	{d8-d15}
	ldr	r8, [sp, #88]
	ldr	r12, [sp, #92]
	vld2.32	{d0, d1}, [r12]
	bl	constants
.Lcbc_block:
	vld2.32	{d2, d3}, [r3]!
	veor	q0, q0, q1
	bl	encrypt_q0
	vst2.32	{d0, d1}, [r2]!
	subs	r8, r8, #1
	bne	.Lcbc_block
	ldr	r12, [sp, #92]
	vst2.32	{d0, d1}, [r12]
	vpop	{d8-d15}
	pop	{r4-r8, pc}
	.size	gw_neonvp_cbc_encrypt, . - gw_neonvp_cbc_encrypt

	.section .note.GNU-stack, "", %progbits
#endif
