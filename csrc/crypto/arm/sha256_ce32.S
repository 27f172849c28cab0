/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4, 6.2) by the Crypto Extensions of ARMv8 in 32-bit state.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv8-a
	.fpu crypto-neon-fp-armv8
	.arm
	.text

/* Four rounds with words \w; what stands in \w then makes room for the words sixteen rounds on. */
.macro four w, x, y, z, k, last
	vadd.i32 q14, \w, \k
	vmov	q15, q0
.ifeq \last
	sha256su0.32 \w, \x
.endif
	sha256h.32 q0, q1, q14
	sha256h2.32 q1, q15, q14
.ifeq \last
	sha256su1.32 \w, \y, \z
.endif
.endm

.macro sixteen last
	vld1.32	{d24-d27}, [r12:128]!
	four	q8, q9, q10, q11, q12, \last
	four	q9, q10, q11, q8, q13, \last
	vld1.32	{d24-d27}, [r12:128]!
	four	q10, q11, q8, q9, q12, \last
	four	q11, q8, q9, q10, q13, \last
.endm

	.p2align 4
.Lk_off:
	.word	.Lk - .Lk_pc - 8

/* void gw_sha256_ce32_blocks(void *state, const uint8_t *data, size_t blocks); blocks >= 1 */
	.global	gw_sha256_ce32_blocks
	.hidden	gw_sha256_ce32_blocks
	.type	gw_sha256_ce32_blocks, %function
gw_sha256_ce32_blocks:
	ldr	r3, .Lk_off
.Lk_pc:
	add	r3, pc, r3
	vld1.32	{d0-d3}, [r0]
.Lblock:
	mov	r12, r3
	vld1.8	{d16-d19}, [r1]!
	vld1.8	{d20-d23}, [r1]!
	vmov	q2, q0
	vmov	q3, q1
	vrev32.8 q8, q8
	vrev32.8 q9, q9
	vrev32.8 q10, q10
	vrev32.8 q11, q11
	sixteen	0
	sixteen	0
	sixteen	0
	sixteen	1
	subs	r2, r2, #1
	vadd.i32 q0, q0, q2
	vadd.i32 q1, q1, q3
	bne	.Lblock
	vst1.32	{d0-d3}, [r0]
	bx	lr
	.size	gw_sha256_ce32_blocks, . - gw_sha256_ce32_blocks

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
