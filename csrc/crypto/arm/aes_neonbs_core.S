/* SPDX-License-Identifier: MIT
 * Bit-sliced AES for ARMv7 NEON, eight blocks abreast, "fixsliced" (Adomnicai and Peyrin, TCHES 2021/1).
 *
 * A q register holds one bit of all 128 bytes: byte p of it is byte p of the state, bit k of that byte is block k.
 * Byte order within a register: columns 0, 2, 1, 3 of the state (FIPS 197), four rows each. vld2.32 and vst2.32 make
 * that order from memory's for nothing.
 *
 * ShiftRows is never done. After i rounds row r of the state stands i*r columns further right than it should, and
 * the round keys are stored to match. MixColumns of round i then needs the byte one row down and i columns right,
 * and (below: rot2) two rows down and 2*i columns right. In this byte order the former is a vtbl within one d
 * register and the latter one vrev: vrev64.16 when i is odd, vrev32.16 when it is even. ShiftRows has order 4, so
 * AES-192 ends aligned; AES-128 and AES-256 end two shifts away, which swaps the odd rows of columns two apart.
 *
 * Constant time: no branch and no address depends on data or key.
 */
#if defined(__arm__) && !defined(__ARMEB__)
#include "aes_neonbs_sbox.inc"

	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text

/* ---- transposition of 8x8 bits: register k, bit b <-> register b, bit k -------------------------------------- */

.macro swap_nibbles lo, hi, t
	vmov	\t, \lo
	vsli.8	\lo, \hi, #4
	vsri.8	\hi, \t, #4
.endm

.macro swap_bits lo, hi, n, mask, t, u
	vshl.i8	\t, \hi, #\n
	vshr.u8	\u, \lo, #\n
	vbif	\lo, \t, \mask
	vbit	\hi, \u, \mask
.endm

.macro transpose b0, b1, b2, b3, b4, b5, b6, b7, mask, t, u
	swap_nibbles \b0, \b4, \t
	swap_nibbles \b1, \b5, \u
	swap_nibbles \b2, \b6, \t
	swap_nibbles \b3, \b7, \u
	vmov.i8	\mask, #0x33
	swap_bits \b0, \b2, 2, \mask, \t, \u
	swap_bits \b1, \b3, 2, \mask, \t, \u
	swap_bits \b4, \b6, 2, \mask, \t, \u
	swap_bits \b5, \b7, 2, \mask, \t, \u
	vmov.i8	\mask, #0x55
	swap_bits \b0, \b1, 1, \mask, \t, \u
	swap_bits \b2, \b3, 1, \mask, \t, \u
	swap_bits \b4, \b5, 1, \mask, \t, \u
	swap_bits \b6, \b7, 1, \mask, \t, \u
.endm

/* ---- MixColumns ---------------------------------------------------------------------------------------------- */

/* One row down and i columns right. At even i a byte stays in its half, at odd i the halves change places. */
.macro row_down odd, lo, hi, x, xl, xh, ilo=d14, ihi=d15
.if \odd
	vtbl.8	\lo, {\xh}, \ilo
	vtbl.8	\hi, {\xl}, \ihi
.else
	vtbl.8	\lo, {\xl}, \ilo
	vtbl.8	\hi, {\xh}, \ihi
.endif
.endm

.macro rot2 odd, d, x
.if \odd
	vrev64.16 \d, \x
.else
	vrev32.16 \d, \x
.endif
.endm

/* x0..x7 (bit 7..bit 0, among q8-q15) -> q0..q7. With r = row_down(x) and t = x + r:
 * 2x + 3(1 down) + (2 down) + (3 down) = 2t + r + rot2(t). */
.macro mix_columns odd, x0, x0l, x0h, x1, x1l, x1h, x2, x2l, x2h, x3, x3l, x3h, x4, x4l, x4h, x5, x5l, x5h, x6, x6l, x6h, x7, x7l, x7h
	row_down \odd, d0, d1, \x0, \x0l, \x0h
	row_down \odd, d2, d3, \x1, \x1l, \x1h
	row_down \odd, d4, d5, \x2, \x2l, \x2h
	row_down \odd, d6, d7, \x3, \x3l, \x3h
	row_down \odd, d8, d9, \x4, \x4l, \x4h
	row_down \odd, d10, d11, \x5, \x5l, \x5h
	row_down \odd, d12, d13, \x6, \x6l, \x6h
	row_down \odd, d14, d15, \x7, \x7l, \x7h
	veor	\x0, \x0, q0
	veor	\x1, \x1, q1
	veor	\x2, \x2, q2
	veor	\x3, \x3, q3
	veor	\x4, \x4, q4
	veor	\x5, \x5, q5
	veor	\x6, \x6, q6
	veor	\x7, \x7, q7
	veor	q7, q7, \x0
	veor	q6, q6, \x7
	veor	q5, q5, \x6
	veor	q4, q4, \x5
	veor	q3, q3, \x4
	veor	q2, q2, \x3
	veor	q1, q1, \x2
	veor	q0, q0, \x1
	veor	q6, q6, \x0
	veor	q4, q4, \x0
	veor	q3, q3, \x0
	rot2	\odd, \x0, \x0
	rot2	\odd, \x1, \x1
	rot2	\odd, \x2, \x2
	rot2	\odd, \x3, \x3
	rot2	\odd, \x4, \x4
	rot2	\odd, \x5, \x5
	rot2	\odd, \x6, \x6
	rot2	\odd, \x7, \x7
	veor	q0, q0, \x0
	veor	q1, q1, \x1
	veor	q2, q2, \x2
	veor	q3, q3, \x3
	veor	q4, q4, \x4
	veor	q5, q5, \x5
	veor	q6, q6, \x6
	veor	q7, q7, \x7
.endm

/* InvMixColumns = MixColumns after x += 4u, u = x + rot2(x). u is in q0-q7 (bit 7..0). */
.macro inv_prepare odd, x0, x0l, x0h, x1, x1l, x1h, x2, x2l, x2h, x3, x3l, x3h, x4, x4l, x4h, x5, x5l, x5h, x6, x6l, x6h, x7, x7l, x7h
	rot2	\odd, q0, \x0
	rot2	\odd, q1, \x1
	rot2	\odd, q2, \x2
	rot2	\odd, q3, \x3
	rot2	\odd, q4, \x4
	rot2	\odd, q5, \x5
	rot2	\odd, q6, \x6
	rot2	\odd, q7, \x7
	veor	q0, q0, \x0
	veor	q1, q1, \x1
	veor	q2, q2, \x2
	veor	q3, q3, \x3
	veor	q4, q4, \x4
	veor	q5, q5, \x5
	veor	q6, q6, \x6
	veor	q7, q7, \x7
	veor	\x0, \x0, q2
	veor	\x1, \x1, q3
	veor	\x2, \x2, q4
	veor	\x3, \x3, q5
	veor	\x4, \x4, q6
	veor	\x5, \x5, q7
	veor	\x7, \x7, q1
	veor	\x2, \x2, q0
	veor	\x5, \x5, q0
	veor	\x4, \x4, q1
	veor	q0, q0, q1
	veor	\x6, \x6, q0
	veor	\x3, \x3, q0
.endm

.macro xor_slices x0, x0l, x0h, x1, x1l, x1h, x2, x2l, x2h, x3, x3l, x3h, x4, x4l, x4h, x5, x5l, x5h, x6, x6l, x6h, x7, x7l, x7h
	veor	\x0, \x0, q0
	veor	\x1, \x1, q1
	veor	\x2, \x2, q2
	veor	\x3, \x3, q3
	veor	\x4, \x4, q4
	veor	\x5, \x5, q5
	veor	\x6, \x6, q6
	veor	\x7, \x7, q7
.endm

/* What 0 or 2 left-over ShiftRows need; the index is in d15. */
.macro unshift x0, x0l, x0h, x1, x1l, x1h, x2, x2l, x2h, x3, x3l, x3h, x4, x4l, x4h, x5, x5l, x5h, x6, x6l, x6h, x7, x7l, x7h
	row_down 0, d0, d1, \x0, \x0l, \x0h, d15
	row_down 0, d2, d3, \x1, \x1l, \x1h, d15
	row_down 0, d4, d5, \x2, \x2l, \x2h, d15
	row_down 0, d6, d7, \x3, \x3l, \x3h, d15
	row_down 0, d8, d9, \x4, \x4l, \x4h, d15
	row_down 0, d10, d11, \x5, \x5l, \x5h, d15
	row_down 0, d12, d13, \x6, \x6l, \x6h, d15
	row_down 0, d14, d15, \x7, \x7l, \x7h, d15
.endm

#define ALL_Q0 q0, d0, d1, q1, d2, d3, q2, d4, d5, q3, d6, d7, q4, d8, d9, q5, d10, d11, q6, d12, d13, q7, d14, d15
#define ALL_Q8 q8, d16, d17, q9, d18, d19, q10, d20, d21, q11, d22, d23, q12, d24, d25, q13, d26, d27, q14, d28, d29, q15, d30, d31

.macro add_key_to_q0
	vldmia	r0!, {d16-d31}
	veor	q0, q0, q8
	veor	q1, q1, q9
	veor	q2, q2, q10
	veor	q3, q3, q11
	veor	q4, q4, q12
	veor	q5, q5, q13
	veor	q6, q6, q14
	veor	q7, q7, q15
.endm

.macro round_forward odd
	sbox_forward
	vld1.64	{d14, d15}, [r5:128]!
	mix_columns \odd, FWD_ALL
	add_key_to_q0
.endm

.macro round_inverse odd
	sbox_inverse
	vldmdb	r0!, {d0-d15}
	xor_slices INV_ALL
	inv_prepare \odd, INV_ALL
	vld1.64	{d14, d15}, [r5:128]!
	mix_columns \odd, INV_ALL
.endm

/* ---- frames: r0 = key cursor, r1 = counter, r2 = out, r3 = in, r4 = groups, r5 = table cursor, the rest slots --- */

#define FRAME_KEYS 128
#define FRAME_ROUNDS 132
#define FRAME_SP 136
#define FRAME_RETURN 140
#define FRAME_COUNTER 144
#define FRAME_TWEAKS 160
#define FRAME_BYTES 304

.macro enter
	push	{r4-r11, lr}
	vpush	{d8-d15}
	ldr	r4, [sp, #100]
	mov	r5, sp
	sub	sp, sp, #FRAME_BYTES
	bic	sp, sp, #15
	str	r0, [sp, #FRAME_KEYS]
	str	r1, [sp, #FRAME_ROUNDS]
	str	r5, [sp, #FRAME_SP]
	mov	r6, sp
	add	r7, sp, #16
	add	r8, sp, #32
	add	r9, sp, #48
	add	r10, sp, #64
	add	r11, sp, #80
	add	r12, sp, #96
	add	lr, sp, #112
.endm

.macro leave
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	vstmia	r6!, {d0-d3}
	vstmia	r6!, {d0-d3}
	vstmia	r6!, {d0-d3}
	vstmia	r6!, {d0-d3}
	ldr	sp, [sp, #FRAME_SP]
	vpop	{d8-d15}
	pop	{r4-r11, pc}
.endm

.macro function name
	.p2align 4
	.global	\name
	.hidden	\name
	.type	\name, %function
\name:
.endm

.macro load_q7_q0
	vld2.32	{d14, d15}, [r3]!
	vld2.32	{d12, d13}, [r3]!
	vld2.32	{d10, d11}, [r3]!
	vld2.32	{d8, d9}, [r3]!
	vld2.32	{d6, d7}, [r3]!
	vld2.32	{d4, d5}, [r3]!
	vld2.32	{d2, d3}, [r3]!
	vld2.32	{d0, d1}, [r3]!
.endm
.macro load_q15_q8
	vld2.32	{d30, d31}, [r3]!
	vld2.32	{d28, d29}, [r3]!
	vld2.32	{d26, d27}, [r3]!
	vld2.32	{d24, d25}, [r3]!
	vld2.32	{d22, d23}, [r3]!
	vld2.32	{d20, d21}, [r3]!
	vld2.32	{d18, d19}, [r3]!
	vld2.32	{d16, d17}, [r3]!
.endm
.macro store_q7_q0
	vst2.32	{d14, d15}, [r2]!
	vst2.32	{d12, d13}, [r2]!
	vst2.32	{d10, d11}, [r2]!
	vst2.32	{d8, d9}, [r2]!
	vst2.32	{d6, d7}, [r2]!
	vst2.32	{d4, d5}, [r2]!
	vst2.32	{d2, d3}, [r2]!
	vst2.32	{d0, d1}, [r2]!
.endm
.macro xor_q7_q0
	veor	q7, q7, q15
	veor	q6, q6, q14
	veor	q5, q5, q13
	veor	q4, q4, q12
	veor	q3, q3, q11
	veor	q2, q2, q10
	veor	q1, q1, q9
	veor	q0, q0, q8
.endm

.macro xor_inv
	veor	INV7Q, INV7Q, q7
	veor	INV6Q, INV6Q, q6
	veor	INV5Q, INV5Q, q5
	veor	INV4Q, INV4Q, q4
	veor	INV3Q, INV3Q, q3
	veor	INV2Q, INV2Q, q2
	veor	INV1Q, INV1Q, q1
	veor	INV0Q, INV0Q, q0
.endm
.macro store_inv
	vst2.32	{INV7D}, [r2]!
	vst2.32	{INV6D}, [r2]!
	vst2.32	{INV5D}, [r2]!
	vst2.32	{INV4D}, [r2]!
	vst2.32	{INV3D}, [r2]!
	vst2.32	{INV2D}, [r2]!
	vst2.32	{INV1D}, [r2]!
	vst2.32	{INV0D}, [r2]!
.endm

/* r5 = the table at \off, or \step bytes behind it for 10 and 14 rounds: these have bit 1 set, 12 has not. */
.macro point_at off, here, step
	ldr	r5, [sp, #FRAME_ROUNDS]
	tst	r5, #2
	ldr	r5, \off
\here:	add	r5, pc, r5
	addne	r5, r5, #\step
.endm

/* Encrypts blocks 0..7 in q7..q0 (columns 0, 2, 1, 3); leaves r2-r4. */
	.p2align 4
	.type	encrypt_q7_q0, %function
encrypt_q7_q0:
	str	lr, [sp, #FRAME_RETURN]
	add	lr, sp, #112
	ldrd	r0, r1, [sp, #FRAME_KEYS]
	lsr	r1, r1, #1
	ldr	r5, .Lenc_rows
.Lenc_rows_pc:
	add	r5, pc, r5
	transpose q7, q6, q5, q4, q3, q2, q1, q0, q8, q9, q10
	add_key_to_q0
.Lenc_round:
	round_forward 1
	subs	r1, r1, #1
	beq	.Lenc_last
	round_forward 0
	b	.Lenc_round
.Lenc_last:
	sbox_forward
	point_at .Lenc_unshift, .Lenc_unshift_pc, 8
	vld1.64	{d15}, [r5:64]
	unshift	FWD_ALL
	add_key_to_q0
	transpose q7, q6, q5, q4, q3, q2, q1, q0, q8, q9, q10
	ldr	pc, [sp, #FRAME_RETURN]
	.p2align 2
.Lenc_rows:
	.word	.Lrows + 16 - .Lenc_rows_pc - 8
.Lenc_unshift:
	.word	.Lunshift - .Lenc_unshift_pc - 8
	.size	encrypt_q7_q0, . - encrypt_q7_q0

/* void gw_neonbs_encrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups);
 * groups of 8 blocks; in may equal out; slices 16-byte aligned (the others have no alignment). */
	function gw_neonbs_encrypt
	enter
.Lenc_group:
	load_q7_q0
	bl	encrypt_q7_q0
	store_q7_q0
	subs	r4, r4, #1
	bne	.Lenc_group
	leave
	.size	gw_neonbs_encrypt, . - gw_neonbs_encrypt

/* void gw_neonbs_cbc_encrypt(const void *slices, uint32_t rounds, gw_neonbs_lanes *lanes, size_t steps);
 * lanes: eight pointers in, eight out, then the chains. The chains stay in q7..q0 from step to step. */
	function gw_neonbs_cbc_encrypt
	enter
	mov	r4, r3
	add	r3, r2, #64
	vld2.32	{d14, d15}, [r3:128]!
	vld2.32	{d12, d13}, [r3:128]!
	vld2.32	{d10, d11}, [r3:128]!
	vld2.32	{d8, d9}, [r3:128]!
	vld2.32	{d6, d7}, [r3:128]!
	vld2.32	{d4, d5}, [r3:128]!
	vld2.32	{d2, d3}, [r3:128]!
	vld2.32	{d0, d1}, [r3:128]!
.Lcbc_step:
	ldmia	r2, {r0, r1, r3, r5}
	vld2.32	{d30, d31}, [r0]!
	vld2.32	{d28, d29}, [r1]!
	vld2.32	{d26, d27}, [r3]!
	vld2.32	{d24, d25}, [r5]!
	stmia	r2!, {r0, r1, r3, r5}
	ldmia	r2, {r0, r1, r3, r5}
	vld2.32	{d22, d23}, [r0]!
	vld2.32	{d20, d21}, [r1]!
	vld2.32	{d18, d19}, [r3]!
	vld2.32	{d16, d17}, [r5]!
	stmia	r2!, {r0, r1, r3, r5}
	xor_q7_q0
	bl	encrypt_q7_q0
	ldmia	r2, {r0, r1, r3, r5}
	vst2.32	{d14, d15}, [r0]!
	vst2.32	{d12, d13}, [r1]!
	vst2.32	{d10, d11}, [r3]!
	vst2.32	{d8, d9}, [r5]!
	stmia	r2!, {r0, r1, r3, r5}
	ldmia	r2, {r0, r1, r3, r5}
	vst2.32	{d6, d7}, [r0]!
	vst2.32	{d4, d5}, [r1]!
	vst2.32	{d2, d3}, [r3]!
	vst2.32	{d0, d1}, [r5]!
	stmia	r2, {r0, r1, r3, r5}
	sub	r2, r2, #48
	subs	r4, r4, #1
	bne	.Lcbc_step
	add	r3, r2, #64
	vst2.32	{d14, d15}, [r3:128]!
	vst2.32	{d12, d13}, [r3:128]!
	vst2.32	{d10, d11}, [r3:128]!
	vst2.32	{d8, d9}, [r3:128]!
	vst2.32	{d6, d7}, [r3:128]!
	vst2.32	{d4, d5}, [r3:128]!
	vst2.32	{d2, d3}, [r3:128]!
	vst2.32	{d0, d1}, [r3:128]!
	leave
	.size	gw_neonbs_cbc_encrypt, . - gw_neonbs_cbc_encrypt

/* void gw_neonbs_ctr(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
 *                    uint32_t counter[4]);
 * counter: words 0, 2, 1, 3 of the first counter block in native order, 16-byte aligned; it moves on. Word 3 must not
 * wrap on the way. */
	.p2align 4
.Lctr_lanes:
	.word	.Llanes - .Lctr_lanes_pc - 8
	function gw_neonbs_ctr
	enter
	ldr	r5, [r5, #104]
	str	r5, [sp, #FRAME_COUNTER]
.Lctr_group:
	ldr	r5, .Lctr_lanes
	ldr	r1, [sp, #FRAME_COUNTER]
.Lctr_lanes_pc:
	add	r5, pc, r5
	vld1.32	{d16, d17}, [r1:128]
	vldmia	r5, {d0-d15}
	vmov.i64 q9, #0
	vmov.i32 d19, #8
	vshl.i64 d19, d19, #32
	vadd.i32 q9, q9, q8
	vst1.32	{d18, d19}, [r1:128]
	vadd.i32 q7, q7, q8
	vadd.i32 q6, q6, q8
	vadd.i32 q5, q5, q8
	vadd.i32 q4, q4, q8
	vadd.i32 q3, q3, q8
	vadd.i32 q2, q2, q8
	vadd.i32 q1, q1, q8
	vadd.i32 q0, q0, q8
	vrev32.8 q7, q7
	vrev32.8 q6, q6
	vrev32.8 q5, q5
	vrev32.8 q4, q4
	vrev32.8 q3, q3
	vrev32.8 q2, q2
	vrev32.8 q1, q1
	vrev32.8 q0, q0
	bl	encrypt_q7_q0
	load_q15_q8
	xor_q7_q0
	store_q7_q0
	subs	r4, r4, #1
	bne	.Lctr_group
	leave
	.size	gw_neonbs_ctr, . - gw_neonbs_ctr

/* void gw_neonbs_slots_encrypt(const void *slices, uint32_t rounds, gw_neonbs_slots *s);
 * s: eight blocks in, eight masks, eight pointers out. */
	function gw_neonbs_slots_encrypt
	enter
	mov	r3, r2
	load_q7_q0
	bl	encrypt_q7_q0
	add	r2, r2, #256
	load_q15_q8
	ldmia	r2!, {r0, r1, r3, r5}
	xor_q7_q0
	vst2.32	{d14, d15}, [r0]
	vst2.32	{d12, d13}, [r1]
	vst2.32	{d10, d11}, [r3]
	vst2.32	{d8, d9}, [r5]
	ldmia	r2!, {r0, r1, r3, r5}
	vst2.32	{d6, d7}, [r0]
	vst2.32	{d4, d5}, [r1]
	vst2.32	{d2, d3}, [r3]
	vst2.32	{d0, d1}, [r5]
	leave
	.size	gw_neonbs_slots_encrypt, . - gw_neonbs_slots_encrypt

/* Indices of row_down, a row (lower half, upper half) for i = 0, 1, ... 15; and for i = 15, 14, ... 0. */
.macro row_index i
.if (\i) % 4 == 0
	.byte	1, 2, 3, 0, 5, 6, 7, 4, 1, 2, 3, 0, 5, 6, 7, 4
.elseif (\i) % 4 == 1
	.byte	1, 2, 3, 0, 5, 6, 7, 4, 5, 6, 7, 4, 1, 2, 3, 0
.elseif (\i) % 4 == 2
	.byte	5, 6, 7, 4, 1, 2, 3, 0, 5, 6, 7, 4, 1, 2, 3, 0
.else
	.byte	5, 6, 7, 4, 1, 2, 3, 0, 1, 2, 3, 0, 5, 6, 7, 4
.endif
.endm
	.p2align 4
.Lrows:
.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	row_index \i
.endr
.Lrows_down:
.irp i, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
	row_index \i
.endr
/* No shift, or odd rows of columns 0 and 2 (1 and 3) exchanged. */
.Lunshift:
	.byte	0, 1, 2, 3, 4, 5, 6, 7
	.byte	0, 5, 2, 7, 4, 1, 6, 3

/* What the counter of lane 7, 6, ... 0 (q0, q1, ... q7) is ahead by. */
	.p2align 4
.Llanes:
.irp i, 7, 6, 5, 4, 3, 2, 1, 0
	.word	0, 0, 0, \i
.endr

/* Decrypts blocks 0..7 in q15..q8 into INV7..INV0; leaves r2-r4. */
	.p2align 4
	.type	decrypt_q15_q8, %function
decrypt_q15_q8:
	str	lr, [sp, #FRAME_RETURN]
	add	lr, sp, #112
	ldrd	r0, r1, [sp, #FRAME_KEYS]
	add	r0, r0, r1, lsl #7
	add	r0, r0, #128
	lsr	r1, r1, #1
	transpose q15, q14, q13, q12, q11, q10, q9, q8, q0, q1, q2
	vldmdb	r0!, {d0-d15}
	point_at .Ldec_unshift, .Ldec_unshift_pc, 8
	xor_slices ALL_Q8
	vld1.64	{d15}, [r5:64]
	unshift	ALL_Q8
	point_at .Ldec_rows, .Ldec_rows_pc, 32
.Ldec_round:
	round_inverse 1
	subs	r1, r1, #1
	beq	.Ldec_last
	round_inverse 0
	b	.Ldec_round
.Ldec_last:
	sbox_inverse
	vldmdb	r0!, {d0-d15}
	xor_slices INV_ALL
	transpose INV7Q, INV6Q, INV5Q, INV4Q, INV3Q, INV2Q, INV1Q, INV0Q, q0, q1, q2
	ldr	pc, [sp, #FRAME_RETURN]
	.p2align 2
.Ldec_rows:
	.word	.Lrows_down - .Ldec_rows_pc - 8
.Ldec_unshift:
	.word	.Lunshift - .Ldec_unshift_pc - 8
	.size	decrypt_q15_q8, . - decrypt_q15_q8

/* void gw_neonbs_decrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups); */
	function gw_neonbs_decrypt
	enter
.Ldec_group:
	load_q15_q8
	bl	decrypt_q15_q8
	store_inv
	subs	r4, r4, #1
	bne	.Ldec_group
	leave
	.size	gw_neonbs_decrypt, . - gw_neonbs_decrypt

/* void gw_neonbs_slots_decrypt(const void *slices, uint32_t rounds, gw_neonbs_slots *s); */
	function gw_neonbs_slots_decrypt
	enter
	mov	r3, r2
	load_q15_q8
	bl	decrypt_q15_q8
	add	r2, r2, #256
	load_q7_q0
	ldmia	r2!, {r0, r1, r3, r5}
	xor_inv
	vst2.32	{INV7D}, [r0]
	vst2.32	{INV6D}, [r1]
	vst2.32	{INV5D}, [r3]
	vst2.32	{INV4D}, [r5]
	ldmia	r2!, {r0, r1, r3, r5}
	vst2.32	{INV3D}, [r0]
	vst2.32	{INV2D}, [r1]
	vst2.32	{INV1D}, [r3]
	vst2.32	{INV0D}, [r5]
	leave
	.size	gw_neonbs_slots_decrypt, . - gw_neonbs_slots_decrypt

/* ---- XTS (IEEE 1619) ----------------------------------------------------------------------------------------- */

/* t = x times 2, words in order 0, 2, 1, 3 of a little-endian number: each word's top bit goes to the next word, the
 * last one's to the first as 0x87. ones: 1, 1, 1, 0x87. */
.macro next_tweak t, tl, th, x, m, ml, mh, ones
	vshr.s32 \m, \x, #31
	vadd.i32 \t, \x, \x
	vand	\m, \m, \ones
	vrev64.32 \mh, \mh
	veor	\th, \th, \ml
	veor	\tl, \tl, \mh
.endm
.macro xts_constants lo, hi
	vmov.i32 \lo, #1
	vmov.i32 \hi, #0x86
	vshl.i64 \hi, \hi, #32
	vorr	\hi, \hi, \lo
.endm
.macro xts_leave
	ldr	r0, [sp, #FRAME_COUNTER]
	vst2.32	{d30, d31}, [r0]
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	vmov.i8	q2, #0
	vmov.i8	q3, #0
	add	r5, sp, #FRAME_TWEAKS
	vstmia	r5!, {d0-d7}
	vstmia	r5!, {d0-d7}
	vst1.32	{d0, d1}, [r5:128]
	leave
.endm

/* void gw_neonbs_xts_encrypt(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
 *                            uint8_t tweak[16]); tweak: of the first block, moves on; any alignment. */
	function gw_neonbs_xts_encrypt
	enter
	ldr	r0, [r5, #104]
	str	r0, [sp, #FRAME_COUNTER]
	vld2.32	{d30, d31}, [r0]
.Lxts_enc_group:
	xts_constants d2, d3
	next_tweak q14, d28, d29, q15, q0, d0, d1, q1
	next_tweak q13, d26, d27, q14, q2, d4, d5, q1
	next_tweak q12, d24, d25, q13, q0, d0, d1, q1
	next_tweak q11, d22, d23, q12, q2, d4, d5, q1
	next_tweak q10, d20, d21, q11, q0, d0, d1, q1
	next_tweak q9, d18, d19, q10, q2, d4, d5, q1
	next_tweak q8, d16, d17, q9, q0, d0, d1, q1
	next_tweak q3, d6, d7, q8, q2, d4, d5, q1
	add	r5, sp, #FRAME_TWEAKS
	vstmia	r5!, {d16-d31}
	vst1.32	{d6, d7}, [r5:128]
	load_q7_q0
	xor_q7_q0
	bl	encrypt_q7_q0
	add	r5, sp, #FRAME_TWEAKS
	vldmia	r5, {d16-d31}
	xor_q7_q0
	store_q7_q0
	add	r5, r5, #128
	vld1.32	{d30, d31}, [r5:128]
	subs	r4, r4, #1
	bne	.Lxts_enc_group
	xts_leave
	.size	gw_neonbs_xts_encrypt, . - gw_neonbs_xts_encrypt

/* void gw_neonbs_xts_decrypt(the same); */
	function gw_neonbs_xts_decrypt
	enter
	ldr	r0, [r5, #104]
	str	r0, [sp, #FRAME_COUNTER]
	vld2.32	{d14, d15}, [r0]
.Lxts_dec_group:
	xts_constants d18, d19
	next_tweak q6, d12, d13, q7, q8, d16, d17, q9
	next_tweak q5, d10, d11, q6, q10, d20, d21, q9
	next_tweak q4, d8, d9, q5, q8, d16, d17, q9
	next_tweak q3, d6, d7, q4, q10, d20, d21, q9
	next_tweak q2, d4, d5, q3, q8, d16, d17, q9
	next_tweak q1, d2, d3, q2, q10, d20, d21, q9
	next_tweak q0, d0, d1, q1, q8, d16, d17, q9
	next_tweak q11, d22, d23, q0, q10, d20, d21, q9
	add	r5, sp, #FRAME_TWEAKS
	vstmia	r5!, {d0-d15}
	vst1.32	{d22, d23}, [r5:128]
	load_q15_q8
	xor_slices ALL_Q8
	bl	decrypt_q15_q8
	add	r5, sp, #FRAME_TWEAKS
	vldmia	r5, {d0-d15}
	xor_inv
	store_inv
	add	r5, r5, #128
	vld1.32	{d14, d15}, [r5:128]
	subs	r4, r4, #1
	bne	.Lxts_dec_group
	vmov	q15, q7
	xts_leave
	.size	gw_neonbs_xts_decrypt, . - gw_neonbs_xts_decrypt

/* void gw_neonbs_subbytes(const void *unused, uint32_t, uint8_t *out, const uint8_t *in, size_t groups): the S-box
 * (less its constant 0x63) of each byte, for the key expansion. */
	function gw_neonbs_subbytes
	enter
	vldmia	r3, {d0-d15}
	transpose q7, q6, q5, q4, q3, q2, q1, q0, q8, q9, q10
	sbox_forward
	transpose FWD7Q, FWD6Q, FWD5Q, FWD4Q, FWD3Q, FWD2Q, FWD1Q, FWD0Q, q0, q1, q2
	vst1.8	{FWD0D}, [r2]!
	vst1.8	{FWD1D}, [r2]!
	vst1.8	{FWD2D}, [r2]!
	vst1.8	{FWD3D}, [r2]!
	vst1.8	{FWD4D}, [r2]!
	vst1.8	{FWD5D}, [r2]!
	vst1.8	{FWD6D}, [r2]!
	vst1.8	{FWD7D}, [r2]!
	leave
	.size	gw_neonbs_subbytes, . - gw_neonbs_subbytes

	.section .note.GNU-stack, "", %progbits
#endif
