/* SPDX-License-Identifier: MIT
 * SHA-512 (FIPS 180-4, 6.4) on NEON, one stream: rounds in d registers, the schedule two words at a time. The 16 words
 * of the window stay in q0-q7, a..h in d16-d23.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* wk = W + K */
.macro round a, b, c, d, e, f, g, h, wk
	vshr.u64 d24, \e, #14
	vshr.u64 d25, \e, #18
	vshr.u64 d26, \e, #41
	vadd.i64 \h, \h, \wk
	vmov	d27, \e
	vsli.64	d24, \e, #50
	vsli.64	d25, \e, #46
	vsli.64	d26, \e, #23
	vbsl	d27, \f, \g
	veor	d24, d24, d25
	vadd.i64 \h, \h, d27
	veor	d24, d24, d26
	vshr.u64 d25, \a, #34
	vadd.i64 \h, \h, d24
	vshr.u64 d24, \a, #28
	vshr.u64 d26, \a, #39
	vadd.i64 \d, \d, \h
	vsli.64	d24, \a, #36
	vsli.64	d25, \a, #30
	vsli.64	d26, \a, #25
	veor	d27, \a, \b
	veor	d24, d24, d25
	vbsl	d27, \c, \b
	veor	d24, d24, d26
	vadd.i64 \h, \h, d27
	vadd.i64 \h, \h, d24
.endm

/* x0: words t and t + 1 -> t + 16 and t + 17; x1, x4, x5, x7: the window from t + 2, t + 8, t + 10, t + 14. */
.macro schedule x0, x1, x4, x5, x7
	vext.8	q12, \x0, \x1, #8
	vshr.u64 q13, q12, #1
	vshr.u64 q15, q12, #8
	vsli.64	q13, q12, #63
	vsli.64	q15, q12, #56
	vshr.u64 q12, q12, #7
	veor	q13, q13, q15
	vext.8	q15, \x4, \x5, #8
	veor	q13, q13, q12
	vadd.i64 \x0, \x0, q15
	vshr.u64 q12, \x7, #19
	vshr.u64 q15, \x7, #61
	vadd.i64 \x0, \x0, q13
	vsli.64	q12, \x7, #45
	vsli.64	q15, \x7, #3
	vshr.u64 q13, \x7, #6
	veor	q12, q12, q15
	veor	q12, q12, q13
	vadd.i64 \x0, \x0, q12
.endm

.macro two a, b, c, d, e, f, g, h, x0, x1, x4, x5, x7, last
	vld1.64	{d28, d29}, [r3:128]!
	vadd.i64 q14, q14, \x0
	round	\a, \b, \c, \d, \e, \f, \g, \h, d28
	round	\h, \a, \b, \c, \d, \e, \f, \g, d29
.ifeq \last
	schedule \x0, \x1, \x4, \x5, \x7
.endif
.endm

.macro sixteen last
	two	d16, d17, d18, d19, d20, d21, d22, d23, q0, q1, q4, q5, q7, \last
	two	d22, d23, d16, d17, d18, d19, d20, d21, q1, q2, q5, q6, q0, \last
	two	d20, d21, d22, d23, d16, d17, d18, d19, q2, q3, q6, q7, q1, \last
	two	d18, d19, d20, d21, d22, d23, d16, d17, q3, q4, q7, q0, q2, \last
	two	d16, d17, d18, d19, d20, d21, d22, d23, q4, q5, q0, q1, q3, \last
	two	d22, d23, d16, d17, d18, d19, d20, d21, q5, q6, q1, q2, q4, \last
	two	d20, d21, d22, d23, d16, d17, d18, d19, q6, q7, q2, q3, q5, \last
	two	d18, d19, d20, d21, d22, d23, d16, d17, q7, q0, q3, q4, q6, \last
.endm

	.p2align 4
.Lk_off:
	.word	.Lk - .Lk_pc - 8

/* void gw_sha512_neon_blocks(void *state, const uint8_t *data, size_t blocks); blocks >= 1 */
	.global	gw_sha512_neon_blocks
	.hidden	gw_sha512_neon_blocks
	.type	gw_sha512_neon_blocks, %function
gw_sha512_neon_blocks:
	vpush	{d8-d15}
	vldmia	r0, {d16-d23}
.Lblock:
	vld1.8	{d0-d3}, [r1]!
	vld1.8	{d4-d7}, [r1]!
	vld1.8	{d8-d11}, [r1]!
	vld1.8	{d12-d15}, [r1]!
	ldr	r3, .Lk_off
.Lk_pc:
	add	r3, pc, r3
	mov	r12, #4
	vrev64.8 q0, q0
	vrev64.8 q1, q1
	vrev64.8 q2, q2
	vrev64.8 q3, q3
	vrev64.8 q4, q4
	vrev64.8 q5, q5
	vrev64.8 q6, q6
	vrev64.8 q7, q7
.Lsixteen:
	sixteen	0
	subs	r12, r12, #1
	bne	.Lsixteen
	sixteen	1
	vldmia	r0, {d24-d31}
	subs	r2, r2, #1
	vadd.i64 q8, q8, q12
	vadd.i64 q9, q9, q13
	vadd.i64 q10, q10, q14
	vadd.i64 q11, q11, q15
	vstmia	r0, {d16-d23}
	bne	.Lblock
	vpop	{d8-d15}
	bx	lr
	.size	gw_sha512_neon_blocks, . - gw_sha512_neon_blocks

	.p2align 4
.Lk:
	.quad	0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc
	.quad	0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118
	.quad	0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2
	.quad	0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694
	.quad	0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65
	.quad	0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5
	.quad	0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4
	.quad	0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70
	.quad	0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df
	.quad	0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b
	.quad	0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30
	.quad	0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8
	.quad	0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8
	.quad	0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3
	.quad	0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec
	.quad	0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b
	.quad	0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178
	.quad	0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b
	.quad	0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c
	.quad	0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817

	.section .note.GNU-stack, "", %progbits
#endif
