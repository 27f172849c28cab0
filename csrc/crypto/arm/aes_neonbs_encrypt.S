/* SPDX-License-Identifier: MIT
 * Bit-sliced AES encryption of eight blocks: ECB, CBC of eight packets, CTR, XTS, slots. See aes_neonbs_round.inc.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text
#include "aes_neonbs_round.inc"
#include "aes_neonbs_frame.inc"

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
.Lenc_after_odd:
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

/* From the second round on, q7..q0 being slices already; leaves r2-r4. */
	.p2align 4
	.type	encrypt_second_round, %function
encrypt_second_round:
	str	lr, [sp, #FRAME_RETURN]
	add	lr, sp, #112
	ldrd	r0, r1, [sp, #FRAME_KEYS]
	add	r0, r0, #256
	lsr	r1, r1, #1
	ldr	r5, .Lrows2_off
.Lrows2_pc:
	add	r5, pc, r5
	b	.Lenc_after_odd
	.size	encrypt_second_round, . - encrypt_second_round
.Lrows2_off:
	.word	.Lrows + 32 - .Lrows2_pc - 8
.Lrow1_off:
	.word	.Lrows + 16 - .Lrow1_pc - 8
.Lsteps_off:
	.word	.Lsteps - .Lsteps_pc - 8

.macro cache_slice s, sd, d, dd
	veor	q0, \s, \d
	vst1.8	{d0, d1}, [r1:128]!
	vst1.8	{\sd}, [r1:128]!
	vst1.8	{\dd}, [r1:128]!
	add	r1, r1, #16
.endm
.macro from_cache q, lo, hi
	vldmia	r0!, {d16-d23}
	vtbl.8	\lo, {d16-d19}, d30
	vtbl.8	\hi, {d18-d21}, d31
	veor	\q, \q, q11
.endm

/* void gw_neonbs_ctr_cached(const void *slices, uint32_t rounds, uint8_t *out, const uint8_t *in, size_t groups,
 *                           const uint32_t counter[4]);
 * As gw_neonbs_ctr for up to 16 groups within which only the last byte of the counter changes, and does not wrap. All
 * but four bytes of the state are then the same after the first round. The bytes that the last byte of the counter
 * has after its S-box are made for all groups at once: byte g of a slice is group g. Of these, S, MixColumns wants S
 * in rows 0 and 1, 3S in row 2 and 2S in row 3 (bytes 0, 9, 6 and 15 of the shifted state). Cache, for each slice: 3S,
 * S, 2S, and what is the same for all. */
	function gw_neonbs_ctr_cached
	enter	FRAME_CACHE_BYTES
	ldr	r5, [r5, #104]
	str	r5, [sp, #FRAME_COUNTER]
	vld1.32	{d14, d15}, [r5:128]
	ldr	r0, [sp, #FRAME_KEYS]
	vrev32.8 q7, q7
	vmov	q6, q7
	vmov	q5, q7
	vmov	q4, q7
	vmov	q3, q7
	vmov	q2, q7
	vmov	q1, q7
	vmov	q0, q7
	transpose q7, q6, q5, q4, q3, q2, q1, q0, q8, q9, q10
	add_key_to_q0
	sbox_forward
	vmov.i8	q0, #0xff
	ldr	r5, .Lrow1_off
	vshr.u64 d1, d1, #8
.Lrow1_pc:
	add	r5, pc, r5
	vand	FWD0Q, FWD0Q, q0
	vand	FWD1Q, FWD1Q, q0
	vand	FWD2Q, FWD2Q, q0
	vand	FWD3Q, FWD3Q, q0
	vand	FWD4Q, FWD4Q, q0
	vand	FWD5Q, FWD5Q, q0
	vand	FWD6Q, FWD6Q, q0
	vand	FWD7Q, FWD7Q, q0
	vld1.64	{d14, d15}, [r5:128]
	mix_columns 1, FWD_ALL
	add_key_to_q0
	add	r1, sp, #FRAME_CACHE + 48
	mov	r5, #64
	vst1.8	{d0, d1}, [r1:128], r5
	vst1.8	{d2, d3}, [r1:128], r5
	vst1.8	{d4, d5}, [r1:128], r5
	vst1.8	{d6, d7}, [r1:128], r5
	vst1.8	{d8, d9}, [r1:128], r5
	vst1.8	{d10, d11}, [r1:128], r5
	vst1.8	{d12, d13}, [r1:128], r5
	vst1.8	{d14, d15}, [r1:128], r5

	ldr	r5, [sp, #FRAME_COUNTER]
	ldr	r0, [r5, #12]
	ldr	r5, .Lsteps_off
	vdup.8	q8, r0
	vmov.i8	q9, #1
.Lsteps_pc:
	add	r5, pc, r5
	vld1.8	{d20-d23}, [r5:128]
	add	r5, sp, #FRAME_INDEX
	vst1.8	{d22, d23}, [r5:128]
	vadd.i8	q7, q8, q10
	vadd.i8	q6, q7, q9
	vadd.i8	q5, q6, q9
	vadd.i8	q4, q5, q9
	vadd.i8	q3, q4, q9
	vadd.i8	q2, q3, q9
	vadd.i8	q1, q2, q9
	vadd.i8	q0, q1, q9
	transpose q7, q6, q5, q4, q3, q2, q1, q0, q8, q9, q10
	ldr	r0, [sp, #FRAME_KEYS]
	mov	r1, #16
	add	r0, r0, #15
	vld1.8	{d16[], d17[]}, [r0], r1
	vld1.8	{d18[], d19[]}, [r0], r1
	vld1.8	{d20[], d21[]}, [r0], r1
	vld1.8	{d22[], d23[]}, [r0], r1
	vld1.8	{d24[], d25[]}, [r0], r1
	vld1.8	{d26[], d27[]}, [r0], r1
	vld1.8	{d28[], d29[]}, [r0], r1
	vld1.8	{d30[], d31[]}, [r0], r1
	xor_q7_q0
	sbox_forward
	add	r1, sp, #FRAME_CACHE
	veor	q1, FWD4Q, FWD0Q
	veor	q2, FWD5Q, FWD0Q
	veor	q3, FWD7Q, FWD0Q
	cache_slice FWD0Q, FWD0R, FWD1Q, FWD1R
	cache_slice FWD1Q, FWD1R, FWD2Q, FWD2R
	cache_slice FWD2Q, FWD2R, FWD3Q, FWD3R
	cache_slice FWD3Q, FWD3R, q1, d2-d3
	cache_slice FWD4Q, FWD4R, q2, d4-d5
	cache_slice FWD5Q, FWD5R, FWD6Q, FWD6R
	cache_slice FWD6Q, FWD6R, q3, d6-d7
	cache_slice FWD7Q, FWD7R, FWD0Q, FWD0R
.Lcached_group:
	add	r5, sp, #FRAME_INDEX
	add	r0, sp, #FRAME_CACHE
	vld1.8	{d30, d31}, [r5:128]
	vmov.i8	q14, #1
	vadd.i8	q14, q14, q15
	vst1.8	{d28, d29}, [r5:128]
	from_cache q0, d0, d1
	from_cache q1, d2, d3
	from_cache q2, d4, d5
	from_cache q3, d6, d7
	from_cache q4, d8, d9
	from_cache q5, d10, d11
	from_cache q6, d12, d13
	from_cache q7, d14, d15
	bl	encrypt_second_round
	load_q15_q8
	xor_q7_q0
	store_q7_q0
	subs	r4, r4, #1
	bne	.Lcached_group
	vmov.i8	q0, #0
	vmov.i8	q1, #0
	vmov.i8	q2, #0
	vmov.i8	q3, #0
	add	r0, sp, #FRAME_CACHE
.rept 8
	vstmia	r0!, {d0-d7}
.endr
	leave
	.size	gw_neonbs_ctr_cached, . - gw_neonbs_ctr_cached

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

	.p2align 4
.Lrows:
	row_indices 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
.Lunshift:
	unshift_indices
/* The last byte of the counter of group 0, 1, ... 15 is ahead by; then where group 0 finds its bytes: 0x80 is nowhere. */
	.p2align 4
.Lsteps:
	.byte	0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120
	.byte	16, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 16

/* What the counter of lane 7, 6, ... 0 (q0, q1, ... q7) is ahead by. */
	.p2align 4
.Llanes:
.irp i, 7, 6, 5, 4, 3, 2, 1, 0
	.word	0, 0, 0, \i
.endr

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

