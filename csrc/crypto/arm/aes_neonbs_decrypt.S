/* SPDX-License-Identifier: MIT
 * Bit-sliced AES decryption of eight blocks: ECB (CBC adds the chain in C), XTS, slots. See aes_neonbs_round.inc.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.text
#include "aes_neonbs_round.inc"
#include "aes_neonbs_frame.inc"

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

	.p2align 4
.Lrows_down:
	row_indices 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.Lunshift:
	unshift_indices

	.section .note.GNU-stack, "", %progbits
#endif
