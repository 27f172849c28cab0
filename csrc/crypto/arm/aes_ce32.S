/* SPDX-License-Identifier: MIT
 * AES by the Crypto Extensions of ARMv8 in 32-bit state: eight blocks abreast, single blocks, CBC encryption. Round
 * keys are read as they are used: sixteen registers do not hold them and eight blocks.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv8-a
	.fpu crypto-neon-fp-armv8
	.arm
	.text

.macro function name
	.p2align 4
	.global	\name
	.hidden	\name
	.type	\name, %function
\name:
.endm

.macro one op, mc, b, key
	\op\().8	\b, \key
	\mc\().8	\b, \b
.endm
.macro eight op, mc, key
	one	\op, \mc, q0, \key
	one	\op, \mc, q1, \key
	one	\op, \mc, q2, \key
	one	\op, \mc, q3, \key
	one	\op, \mc, q4, \key
	one	\op, \mc, q5, \key
	one	\op, \mc, q6, \key
	one	\op, \mc, q7, \key
.endm
.macro eight_last op
	vld1.8	{d16-d19}, [r12:128]!
	\op\().8	q0, q8
	\op\().8	q1, q8
	\op\().8	q2, q8
	\op\().8	q3, q8
	\op\().8	q4, q8
	\op\().8	q5, q8
	\op\().8	q6, q8
	\op\().8	q7, q8
	veor	q0, q0, q9
	veor	q1, q1, q9
	veor	q2, q2, q9
	veor	q3, q3, q9
	veor	q4, q4, q9
	veor	q5, q5, q9
	veor	q6, q6, q9
	veor	q7, q7, q9
.endm

/* q0-q7; r0 = keys, r1 = rounds. An odd number of rounds has MixColumns: one, then pairs. */
.macro eight_blocks op, mc
	mov	r12, r0
	sub	r5, r1, #2
	vld1.8	{d16, d17}, [r12:128]!
	eight	\op, \mc, q8
1:	vld1.8	{d16-d19}, [r12:128]!
	subs	r5, r5, #2
	eight	\op, \mc, q8
	eight	\op, \mc, q9
	bne	1b
	eight_last \op
.endm
.macro one_block op, mc
	mov	r12, r0
	sub	r5, r1, #2
	vld1.8	{d16, d17}, [r12:128]!
	one	\op, \mc, q0, q8
1:	vld1.8	{d16-d19}, [r12:128]!
	subs	r5, r5, #2
	one	\op, \mc, q0, q8
	one	\op, \mc, q0, q9
	bne	1b
	vld1.8	{d16-d19}, [r12:128]!
	\op\().8	q0, q8
	veor	q0, q0, q9
.endm

.macro enter
	push	{r4-r6, lr}
	vpush	{d8-d15}
	ldr	r4, [sp, #80]
.endm
.macro leave
	vpop	{d8-d15}
	pop	{r4-r6, pc}
.endm

.macro store_eight
	vst1.8	{d0-d3}, [r2]!
	vst1.8	{d4-d7}, [r2]!
	vst1.8	{d8-d11}, [r2]!
	vst1.8	{d12-d15}, [r2]!
.endm

.macro blocks op, mc
	enter
	subs	r4, r4, #8
	blo	3f
2:	vld1.8	{d0-d3}, [r3]!
	vld1.8	{d4-d7}, [r3]!
	vld1.8	{d8-d11}, [r3]!
	vld1.8	{d12-d15}, [r3]!
	eight_blocks \op, \mc
	store_eight
	subs	r4, r4, #8
	bhs	2b
3:	adds	r4, r4, #8
	beq	5f
4:	vld1.8	{d0, d1}, [r3]!
	one_block \op, \mc
	vst1.8	{d0, d1}, [r2]!
	subs	r4, r4, #1
	bne	4b
5:	leave
.endm

/* void gw_aes_ce32_encrypt(const uint8_t (*keys)[16], uint32_t rounds, uint8_t *out, const uint8_t *in, size_t blocks);
 * keys 16-byte aligned; in may equal out. */
	function gw_aes_ce32_encrypt
	blocks	aese, aesmc
	.size	gw_aes_ce32_encrypt, . - gw_aes_ce32_encrypt

/* void gw_aes_ce32_decrypt(the same, with gw_aes_ce32_inverse_keys' keys); */
	function gw_aes_ce32_decrypt
	blocks	aesd, aesimc
	.size	gw_aes_ce32_decrypt, . - gw_aes_ce32_decrypt

/* void gw_aes_ce32_cbc_encrypt(keys, rounds, out, in, blocks, uint8_t chain[16]); chain moves on */
	function gw_aes_ce32_cbc_encrypt
	enter
	ldr	r6, [sp, #84]
	cmp	r4, #0
	vld1.8	{d0, d1}, [r6]
	beq	3f
2:	vld1.8	{d4, d5}, [r3]!
	veor	q0, q0, q2
	one_block aese, aesmc
	vst1.8	{d0, d1}, [r2]!
	subs	r4, r4, #1
	bne	2b
3:	vst1.8	{d0, d1}, [r6]
	leave
	.size	gw_aes_ce32_cbc_encrypt, . - gw_aes_ce32_cbc_encrypt

	.p2align 4
.Llanes:
.irp i, 0, 1, 2, 3, 4, 5, 6, 7
	.word	0, 0, 0, \i
.endr
.Llanes_off:
	.word	.Llanes - .Llanes_pc - 8

/* void gw_aes_ce32_ctr(keys, rounds, out, in, size_t groups of eight blocks, uint32_t counter[4]);
 * counter in native words, moves on; the last must not wrap within these groups. */
	function gw_aes_ce32_ctr
	enter
	ldr	r6, [sp, #84]
	vld1.32	{d20, d21}, [r6]
	vmov.i64 q11, #0
	vmov.i32 d23, #8
	vshl.i64 d23, d23, #32
	ldr	r5, .Llanes_off
.Llanes_pc:
	add	lr, pc, r5
2:	vldmia	lr, {d0-d15}
	vadd.i32 q0, q0, q10
	vadd.i32 q1, q1, q10
	vadd.i32 q2, q2, q10
	vadd.i32 q3, q3, q10
	vadd.i32 q4, q4, q10
	vadd.i32 q5, q5, q10
	vadd.i32 q6, q6, q10
	vadd.i32 q7, q7, q10
	vrev32.8 q0, q0
	vrev32.8 q1, q1
	vrev32.8 q2, q2
	vrev32.8 q3, q3
	vrev32.8 q4, q4
	vrev32.8 q5, q5
	vrev32.8 q6, q6
	vrev32.8 q7, q7
	vadd.i32 q10, q10, q11
	eight_blocks aese, aesmc
	vld1.8	{d24-d27}, [r3]!
	vld1.8	{d28-d31}, [r3]!
	veor	q0, q0, q12
	veor	q1, q1, q13
	vld1.8	{d24-d27}, [r3]!
	veor	q2, q2, q14
	veor	q3, q3, q15
	vld1.8	{d28-d31}, [r3]!
	veor	q4, q4, q12
	veor	q5, q5, q13
	veor	q6, q6, q14
	veor	q7, q7, q15
	store_eight
	subs	r4, r4, #1
	bne	2b
	vst1.32	{d20, d21}, [r6]
	leave
	.size	gw_aes_ce32_ctr, . - gw_aes_ce32_ctr

/* uint32_t gw_aes_ce32_sub_word(uint32_t w): the S-box of each byte. Four equal columns: ShiftRows does nothing. */
	function gw_aes_ce32_sub_word
	vdup.32	q0, r0
	vmov.i8	q1, #0
	aese.8	q0, q1
	vmov.32	r0, d0[0]
	bx	lr
	.size	gw_aes_ce32_sub_word, . - gw_aes_ce32_sub_word

/* void gw_aes_ce32_inverse_keys(uint8_t (*to)[16], const uint8_t (*keys)[16], uint32_t rounds); FIPS 197, 5.3.5 */
	function gw_aes_ce32_inverse_keys
	vld1.8	{d0, d1}, [r1:128]!
	add	r0, r0, r2, lsl #4
	mvn	r3, #15
	vst1.8	{d0, d1}, [r0:128], r3
	sub	r2, r2, #1
1:	vld1.8	{d0, d1}, [r1:128]!
	aesimc.8 q0, q0
	subs	r2, r2, #1
	vst1.8	{d0, d1}, [r0:128], r3
	bne	1b
	vld1.8	{d0, d1}, [r1:128]
	vst1.8	{d0, d1}, [r0:128]
	bx	lr
	.size	gw_aes_ce32_inverse_keys, . - gw_aes_ce32_inverse_keys

	.section .note.GNU-stack, "", %progbits
#endif
