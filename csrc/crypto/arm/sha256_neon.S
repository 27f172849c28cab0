/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4, 6.2): the message schedule of two blocks at once in NEON, the rounds in the integer unit. The
 * blocks follow each other in one stream, or belong to two. NEON holds words t and t+1 of both in a register (A_t,
 * B_t, A_t+1, B_t+1), so that sigma1, which looks back two words only, fills a whole register; it runs while the
 * rounds of block A do.
 *
 * Stack: W + K of both blocks, four words of A then four of B: 512 bytes.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* K, each word twice: one for either block. */
.macro k2 words:vararg
	.irp k, \words
	.word	\k, \k
	.endr
.endm
	.p2align 6
.Lk2:
	k2	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
	k2	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
	k2	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
	k2	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
	k2	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
	k2	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
	k2	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
	k2	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2

/* ---- rounds: a..h in r4-r11, W + K of two rounds in r0, r1, a ^ b of the last round in r2 or r3 ---------------- */

/* Two halves, so that NEON work can stand between. w is W + K, then scratch. */
.macro round_e e, f, g, h, w
	add	\h, \h, \w
	eor	\w, \e, \e, ror #5
	eor	\w, \w, \e, ror #19
	add	\h, \h, \w, ror #6
	eor	\w, \f, \g
	and	\w, \w, \e
	eor	\w, \w, \g
	add	\h, \h, \w
.endm

/* Maj(a, b, c) = ((a ^ b) & (b ^ c)) ^ b, and b ^ c is what a ^ b was a round ago (\bc). */
.macro round_a a, b, d, h, w, ab, bc
	add	\d, \d, \h
	eor	\w, \a, \a, ror #11
	eor	\w, \w, \a, ror #20
	add	\h, \h, \w, ror #2
	eor	\ab, \a, \b
	and	\bc, \bc, \ab
	eor	\bc, \bc, \b
	add	\h, \h, \bc
.endm

.macro round a, b, c, d, e, f, g, h, w, ab, bc
	round_e	\e, \f, \g, \h, \w
	round_a	\a, \b, \d, \h, \w, \ab, \bc
.endm

/* ---- schedule: words 2i and 2i+1 of both blocks; x0 is 16 words back, x1 14, x4 8, x5 6, x7 2 ------------------ */

.macro schedule_1 x0, x1, x4, x5
	vext.8	q8, \x0, \x1, #8
	vext.8	q9, \x4, \x5, #8
	vshr.u32 q10, q8, #7
	vshr.u32 q11, q8, #18
	vadd.i32 \x0, \x0, q9
.endm
.macro schedule_2 x7
	vsli.32	q10, q8, #25
	vsli.32	q11, q8, #14
	vshr.u32 q8, q8, #3
	vshr.u32 q9, \x7, #17
	vshr.u32 q12, \x7, #19
.endm
.macro schedule_3 x7
	veor	q10, q10, q11
	vsli.32	q9, \x7, #15
	vsli.32	q12, \x7, #13
	veor	q10, q10, q8
	vshr.u32 q11, \x7, #10
.endm
.macro schedule_4 x0
	veor	q9, q9, q12
	vadd.i32 \x0, \x0, q10
	veor	q9, q9, q11
	vadd.i32 \x0, \x0, q9
.endm
/* W + K of four words of either block, apart, to the stack. */
.macro add_k x0, x1
	vld1.32	{d28-d31}, [r12:128]!
	vadd.i32 q14, q14, \x0
	vadd.i32 q15, q15, \x1
	vuzp.32	q14, q15
	vst1.32	{d28-d31}, [lr:128]!
.endm

/* Four rounds of A with four words of both blocks' schedule; lr is 128 bytes ahead of the words that are read. */
.macro four_with_schedule a, b, c, d, e, f, g, h, x0, x1, x2, x4, x5, x6, x7
	ldrd	r0, r1, [lr, #-128]
	round_e	\e, \f, \g, \h, r0
	schedule_1 \x0, \x1, \x4, \x5
	round_a	\a, \b, \d, \h, r0, r2, r3
	schedule_2 \x7
	round_e	\d, \e, \f, \g, r1
	schedule_3 \x7
	round_a	\h, \a, \c, \g, r1, r3, r2
	ldrd	r0, r1, [lr, #-120]
	schedule_4 \x0
	round_e	\c, \d, \e, \f, r0
	schedule_1 \x1, \x2, \x5, \x6
	round_a	\g, \h, \b, \f, r0, r2, r3
	schedule_2 \x0
	round_e	\b, \c, \d, \e, r1
	schedule_3 \x0
	round_a	\f, \g, \a, \e, r1, r3, r2
	schedule_4 \x1
	add_k	\x0, \x1
.endm

.macro four a, b, c, d, e, f, g, h, at
	ldrd	r0, r1, [lr, #\at]
	round	\a, \b, \c, \d, \e, \f, \g, \h, r0, r2, r3
	round	\h, \a, \b, \c, \d, \e, \f, \g, r1, r3, r2
	ldrd	r0, r1, [lr, #\at + 8]
	round	\g, \h, \a, \b, \c, \d, \e, \f, r0, r2, r3
	round	\f, \g, \h, \a, \b, \c, \d, \e, r1, r3, r2
.endm

.macro sixteen
	four	r4, r5, r6, r7, r8, r9, r10, r11, 0
	four	r8, r9, r10, r11, r4, r5, r6, r7, 32
	four	r4, r5, r6, r7, r8, r9, r10, r11, 64
	four	r8, r9, r10, r11, r4, r5, r6, r7, 96
.endm

#define WORDS_BYTES 512
#define FRAME_STATE 512 /* of A, then of B */
#define FRAME_DATA 520  /* of A, then of B */
#define FRAME_LEFT 528
#define FRAME_STRIDE 532
#define FRAME_SP 536
#define FRAME_BYTES 560

/* state += a..h (r4-r11) */
.macro add_state at
	ldr	r12, [sp, #\at]
	ldmia	r12!, {r0-r3}
	add	r4, r4, r0
	add	r5, r5, r1
	add	r6, r6, r2
	add	r7, r7, r3
	ldmia	r12, {r0-r3}
	add	r8, r8, r0
	add	r9, r9, r1
	add	r10, r10, r2
	add	r11, r11, r3
	sub	r12, r12, #16
	stmia	r12, {r4-r11}
.endm

.macro enter
	push	{r4-r11, lr}
	vpush	{d8-d15}
	mov	r4, sp
	sub	sp, sp, #FRAME_BYTES
	bic	sp, sp, #15
	str	r4, [sp, #FRAME_SP]
.endm

	.p2align 4
.Lk2_off:
	.word	.Lk2 - .Lk2_pc - 8

/* void gw_sha256_neon_blocks(void *state, const uint8_t *data, size_t blocks); blocks >= 1 */
	.global	gw_sha256_neon_blocks
	.hidden	gw_sha256_neon_blocks
	.type	gw_sha256_neon_blocks, %function
gw_sha256_neon_blocks:
	enter
	mov	r3, r0
	mov	r4, #128
	b	.Lbegin
	.size	gw_sha256_neon_blocks, . - gw_sha256_neon_blocks

/* void gw_sha256_neon_two(uint32_t *state, const uint8_t **data, size_t blocks); state[2][8], data[2]; blocks >= 1 of
 * either stream */
	.global	gw_sha256_neon_two
	.hidden	gw_sha256_neon_two
	.type	gw_sha256_neon_two, %function
gw_sha256_neon_two:
	enter
	add	r3, r0, #32
	mov	r4, #64
	lsl	r2, r2, #1
	ldmia	r1, {r1, r5}
	b	.Lbegin_two

/* r0, r3 = states, r1 = data of A, r4 = how far to go in either, r2 = blocks. A block left over is its own partner. */
.Lbegin:
	cmp	r2, #1
	mov	r5, r1
	addhi	r5, r1, #64
.Lbegin_two:
	str	r0, [sp, #FRAME_STATE]
	str	r3, [sp, #FRAME_STATE + 4]
	str	r4, [sp, #FRAME_STRIDE]
	str	r2, [sp, #FRAME_LEFT]
	mov	r3, r5
.Lpair:
	ldr	r0, [sp, #FRAME_STATE]
	ldr	r4, [sp, #FRAME_STRIDE]
	add	r5, r1, r4
	add	r6, r3, r4
	str	r5, [sp, #FRAME_DATA]
	str	r6, [sp, #FRAME_DATA + 4]
	vld1.8	{d0-d3}, [r1]!
	vld1.8	{d4-d7}, [r1]
	vld1.8	{d8-d11}, [r3]!
	vld1.8	{d12-d15}, [r3]
	ldmia	r0, {r4-r11}
	ldr	r12, .Lk2_off
.Lk2_pc:
	add	r12, pc, r12
	mov	lr, sp
	vrev32.8 q0, q0
	vrev32.8 q4, q4
	vrev32.8 q1, q1
	vrev32.8 q5, q5
	vrev32.8 q2, q2
	vrev32.8 q6, q6
	vrev32.8 q3, q3
	vrev32.8 q7, q7
	vzip.32	q0, q4
	vzip.32	q1, q5
	vzip.32	q2, q6
	vzip.32	q3, q7
	/* Words 0-1 in q0, 2-3 in q4, 4-5 in q1, 6-7 in q5, ... 14-15 in q7. */
	add_k	q0, q4
	add_k	q1, q5
	add_k	q2, q6
	add_k	q3, q7
	eor	r3, r5, r6
.Lschedule:
	four_with_schedule r4, r5, r6, r7, r8, r9, r10, r11, q0, q4, q1, q2, q6, q3, q7
	four_with_schedule r8, r9, r10, r11, r4, r5, r6, r7, q1, q5, q2, q3, q7, q0, q4
	four_with_schedule r4, r5, r6, r7, r8, r9, r10, r11, q2, q6, q3, q0, q4, q1, q5
	four_with_schedule r8, r9, r10, r11, r4, r5, r6, r7, q3, q7, q0, q1, q5, q2, q6
	add	r0, sp, #WORDS_BYTES
	cmp	lr, r0
	bne	.Lschedule
	sub	lr, lr, #128
	sixteen
	add_state FRAME_STATE
	ldr	r2, [sp, #FRAME_LEFT]
	subs	r2, r2, #2
	blo	.Ldone
	str	r2, [sp, #FRAME_LEFT]
	ldr	r0, [sp, #FRAME_STATE + 4]
	add	lr, sp, #16
	ldmia	r0, {r4-r11}
	eor	r3, r5, r6
.Lsecond:
	sixteen
	add	lr, lr, #128
	add	r0, sp, #WORDS_BYTES + 16
	cmp	lr, r0
	bne	.Lsecond
	add_state FRAME_STATE + 4
	ldr	r2, [sp, #FRAME_LEFT]
	ldr	r0, [sp, #FRAME_DATA]
	ldr	r1, [sp, #FRAME_DATA + 4]
	cmp	r2, #1
	mov	r3, r1
	mov	r1, r0
	moveq	r3, r0
	bhs	.Lpair
.Ldone:
	/* The words are the message: wipe them. */
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	vmov.i8	q2, #0
	vmov.i8	q3, #0
	mov	lr, sp
.rept 8
	vstmia	lr!, {d0-d7}
.endr
	ldr	sp, [sp, #FRAME_SP]
	vpop	{d8-d15}
	pop	{r4-r11, pc}
	.size	gw_sha256_neon_two, . - gw_sha256_neon_two

	.section .note.GNU-stack, "", %progbits
#endif
