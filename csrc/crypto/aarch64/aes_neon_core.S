/* SPDX-License-Identifier: MIT
 * AES by TBL for AArch64, four blocks abreast: the loops that compilers spill. See aes_neon.h for the mathematics.
 *
 * Registers: v0-v3 blocks, v4-v7 their second halves, v8-v9 scratch of a pair, v10-v11 two round keys,
 * v12 ShiftRows, v13 ShiftRows + a turn (decryption: a turn alone), v14 0x40, v15 0x1b, v16-v31 the S-box.
 * Every function: x0 out, x1 in, x2 groups of four blocks (at least 1), x3 round keys, w4 rounds, x5 tables
 * (the S-box, then v12 to v15), x6 what the mode carries from block to block. Data has no alignment.
 */
#if defined(__aarch64__)

	.text

/* b = S-box[b]: TBX leaves alone what is out of its range, so four steps of 64 make a table of 256 */
.macro sub_bytes
	sub	v4.16b, v0.16b, v14.16b
	tbl	v0.16b, {v16.16b-v19.16b}, v0.16b
	sub	v5.16b, v1.16b, v14.16b
	tbl	v1.16b, {v16.16b-v19.16b}, v1.16b
	sub	v6.16b, v2.16b, v14.16b
	tbl	v2.16b, {v16.16b-v19.16b}, v2.16b
	sub	v7.16b, v3.16b, v14.16b
	tbl	v3.16b, {v16.16b-v19.16b}, v3.16b
	tbx	v0.16b, {v20.16b-v23.16b}, v4.16b
	sub	v4.16b, v4.16b, v14.16b
	tbx	v1.16b, {v20.16b-v23.16b}, v5.16b
	sub	v5.16b, v5.16b, v14.16b
	tbx	v2.16b, {v20.16b-v23.16b}, v6.16b
	sub	v6.16b, v6.16b, v14.16b
	tbx	v3.16b, {v20.16b-v23.16b}, v7.16b
	sub	v7.16b, v7.16b, v14.16b
	tbx	v0.16b, {v24.16b-v27.16b}, v4.16b
	sub	v4.16b, v4.16b, v14.16b
	tbx	v1.16b, {v24.16b-v27.16b}, v5.16b
	sub	v5.16b, v5.16b, v14.16b
	tbx	v2.16b, {v24.16b-v27.16b}, v6.16b
	sub	v6.16b, v6.16b, v14.16b
	tbx	v3.16b, {v24.16b-v27.16b}, v7.16b
	sub	v7.16b, v7.16b, v14.16b
	tbx	v0.16b, {v28.16b-v31.16b}, v4.16b
	tbx	v1.16b, {v28.16b-v31.16b}, v5.16b
	tbx	v2.16b, {v28.16b-v31.16b}, v6.16b
	tbx	v3.16b, {v28.16b-v31.16b}, v7.16b
.endm

/* a, b: the blocks after ShiftRows; ra, rb: these turned by one row; key. 2 t ^ r1 ^ turn2(t) with t = a ^ r1. */
.macro mix_pair a, b, ra, rb, key
	eor	\a\().16b, \a\().16b, \ra\().16b
	eor	\b\().16b, \b\().16b, \rb\().16b
	rev32	v8.8h, \a\().8h
	rev32	v9.8h, \b\().8h
	eor	\ra\().16b, \ra\().16b, \key\().16b
	eor	\rb\().16b, \rb\().16b, \key\().16b
	eor	\ra\().16b, \ra\().16b, v8.16b
	eor	\rb\().16b, \rb\().16b, v9.16b
	cmlt	v8.16b, \a\().16b, #0
	cmlt	v9.16b, \b\().16b, #0
	add	\a\().16b, \a\().16b, \a\().16b
	add	\b\().16b, \b\().16b, \b\().16b
	and	v8.16b, v8.16b, v15.16b
	and	v9.16b, v9.16b, v15.16b
	eor	\a\().16b, \a\().16b, \ra\().16b
	eor	\b\().16b, \b\().16b, \rb\().16b
	eor	\a\().16b, \a\().16b, v8.16b
	eor	\b\().16b, \b\().16b, v9.16b
.endm

/* a ^= 4 u with u = a ^ turn2(a), which makes InvMixColumns a MixColumns; then a turn into ra, rb. */
.macro unmix_pair a, b, ra, rb
	rev32	\ra\().8h, \a\().8h
	rev32	\rb\().8h, \b\().8h
	eor	\ra\().16b, \ra\().16b, \a\().16b
	eor	\rb\().16b, \rb\().16b, \b\().16b
	ushr	v8.16b, \ra\().16b, #6
	ushr	v9.16b, \rb\().16b, #6
	shl	\ra\().16b, \ra\().16b, #2
	shl	\rb\().16b, \rb\().16b, #2
	pmul	v8.16b, v8.16b, v15.16b
	pmul	v9.16b, v9.16b, v15.16b
	eor	\a\().16b, \a\().16b, \ra\().16b
	eor	\b\().16b, \b\().16b, \rb\().16b
	eor	\a\().16b, \a\().16b, v8.16b
	eor	\b\().16b, \b\().16b, v9.16b
	tbl	\ra\().16b, {\a\().16b}, v13.16b
	tbl	\rb\().16b, {\b\().16b}, v13.16b
.endm

.macro shift_rows
	tbl	v0.16b, {v0.16b}, v12.16b
	tbl	v1.16b, {v1.16b}, v12.16b
	tbl	v2.16b, {v2.16b}, v12.16b
	tbl	v3.16b, {v3.16b}, v12.16b
.endm

.macro encrypt_round key
	sub_bytes
	tbl	v4.16b, {v0.16b}, v13.16b
	tbl	v5.16b, {v1.16b}, v13.16b
	tbl	v6.16b, {v2.16b}, v13.16b
	tbl	v7.16b, {v3.16b}, v13.16b
	shift_rows
	mix_pair v0, v1, v4, v5, \key
	mix_pair v2, v3, v6, v7, \key
.endm

.macro decrypt_round key
	sub_bytes
	shift_rows
	unmix_pair v0, v1, v4, v5
	mix_pair v0, v1, v4, v5, \key
	unmix_pair v2, v3, v6, v7
	mix_pair v2, v3, v6, v7, \key
.endm

/* v0-v3 through all rounds but the XOR with the last key, which is left in v10. Changes v4-v11, x8, x9 and the flags. */
.macro core name, round
	.type	\name, %function
	.p2align 4
\name:
	ldp	q10, q11, [x3]
	add	x9, x3, #32
	sub	w8, w4, #2		/* the rounds between the first and the last, by pairs */
	eor	v0.16b, v0.16b, v10.16b
	eor	v1.16b, v1.16b, v10.16b
	eor	v2.16b, v2.16b, v10.16b
	eor	v3.16b, v3.16b, v10.16b
	\round	v11
9:	ldp	q10, q11, [x9], #32
	\round	v10
	\round	v11
	subs	w8, w8, #2
	b.ne	9b
	ldr	q10, [x9]
	sub_bytes
	shift_rows
	ret
	.size	\name, . - \name
.endm

	core	encrypt4, encrypt_round
	core	decrypt4, decrypt_round

/* ---- entry and exit of the modes ---- */

.macro function name
	.globl	\name
	.hidden	\name
	.type	\name, %function
	.p2align 4
\name:
	stp	x29, x30, [sp, #-160]!
	mov	x29, sp
	stp	d8, d9, [sp, #16]
	stp	d10, d11, [sp, #32]
	stp	d12, d13, [sp, #48]
	stp	d14, d15, [sp, #64]
	ldp	q16, q17, [x5]
	ldp	q18, q19, [x5, #32]
	ldp	q20, q21, [x5, #64]
	ldp	q22, q23, [x5, #96]
	ldp	q24, q25, [x5, #128]
	ldp	q26, q27, [x5, #160]
	ldp	q28, q29, [x5, #192]
	ldp	q30, q31, [x5, #224]
	ldp	q12, q13, [x5, #256]
	ldp	q14, q15, [x5, #288]
.endm

.macro leave name
	ldp	d8, d9, [sp, #16]
	ldp	d10, d11, [sp, #32]
	ldp	d12, d13, [sp, #48]
	ldp	d14, d15, [sp, #64]
	ldp	x29, x30, [sp], #160
	ret
	.size	\name, . - \name
.endm

.macro xor_last
	eor	v0.16b, v0.16b, v10.16b
	eor	v1.16b, v1.16b, v10.16b
	eor	v2.16b, v2.16b, v10.16b
	eor	v3.16b, v3.16b, v10.16b
.endm

/* v0-v3 ^= v4-v7 */
.macro xor_second
	eor	v0.16b, v0.16b, v4.16b
	eor	v1.16b, v1.16b, v5.16b
	eor	v2.16b, v2.16b, v6.16b
	eor	v3.16b, v3.16b, v7.16b
.endm

.macro store
	stp	q0, q1, [x0]
	stp	q2, q3, [x0, #32]
	add	x0, x0, #64
.endm

/* ---- ECB ---- */

.macro ecb name, core
	function \name
1:	ldp	q0, q1, [x1]
	ldp	q2, q3, [x1, #32]
	add	x1, x1, #64
	bl	\core
	xor_last
	store
	subs	x2, x2, #1
	b.ne	1b
	leave	\name
.endm

	ecb	gw_aes_neon_ecb_encrypt4, encrypt4
	ecb	gw_aes_neon_ecb_decrypt4, decrypt4

/* ---- CBC decryption; x6: chain, 16 bytes, kept up to date ---- */

	function gw_aes_neon_cbc_decrypt4
1:	ldp	q0, q1, [x1]
	ldp	q2, q3, [x1, #32]
	bl	decrypt4
	ldr	q4, [x6]
	ldp	q5, q6, [x1]		/* the ciphertext again, before out, which may be in */
	ldp	q7, q8, [x1, #32]
	add	x1, x1, #64
	xor_last
	str	q8, [x6]
	xor_second
	store
	subs	x2, x2, #1
	b.ne	1b
	leave	gw_aes_neon_cbc_decrypt4

/* ---- CTR; x6: the counter's halves as two native 64-bit numbers, the second of which does not wrap ---- */

	function gw_aes_neon_ctr4
	ldp	x10, x11, [x6]
	rev	x10, x10
1:	rev	x12, x11
	add	x13, x11, #1
	add	x14, x11, #2
	add	x15, x11, #3
	rev	x13, x13
	rev	x14, x14
	rev	x15, x15
	fmov	d0, x10
	fmov	d1, x10
	fmov	d2, x10
	fmov	d3, x10
	mov	v0.d[1], x12
	mov	v1.d[1], x13
	mov	v2.d[1], x14
	mov	v3.d[1], x15
	bl	encrypt4
	ldp	q4, q5, [x1]
	ldp	q6, q7, [x1, #32]
	add	x1, x1, #64
	add	x11, x11, #4
	xor_last
	xor_second
	store
	subs	x2, x2, #1
	b.ne	1b
	str	x11, [x6, #8]
	leave	gw_aes_neon_ctr4

/* ---- XTS; x6: tweak, 16 bytes, kept up to date. Tweaks are made in general registers and wait on the stack. ---- */

/* the tweak x10 (low), x11 to the stack, then times x; x12: 0x87 */
.macro next_tweak at
	stp	x10, x11, [sp, #\at]
	and	x13, x12, x11, asr #63
	extr	x11, x11, x10, #63
	eor	x10, x13, x10, lsl #1
.endm

.macro xts name, core
	function \name
	ldp	x10, x11, [x6]
	mov	x12, #0x87
1:	next_tweak 80
	next_tweak 96
	next_tweak 112
	next_tweak 128
	ldp	q0, q1, [x1]
	ldp	q2, q3, [x1, #32]
	ldp	q4, q5, [sp, #80]
	ldp	q6, q7, [sp, #112]
	add	x1, x1, #64
	xor_second
	bl	\core
	ldp	q4, q5, [sp, #80]
	ldp	q6, q7, [sp, #112]
	xor_last
	xor_second
	store
	subs	x2, x2, #1
	b.ne	1b
	stp	x10, x11, [x6]
	leave	\name
.endm

/* Apart, so that a gateway, which has no use for it, is linked without. */
	.section .text.xts, "ax", @progbits
	xts	gw_aes_neon_xts_encrypt4, encrypt4
	xts	gw_aes_neon_xts_decrypt4, decrypt4
	.text

/* ---- CBC encryption of four packets. x0: four outputs, x1: four inputs, x2: blocks in each, x6: four chains ---- */

	function gw_aes_neon_cbc_encrypt4
	ldp	x10, x11, [x1]
	ldp	x12, x13, [x1, #16]
	ldp	x14, x15, [x0]
	ldp	x16, x17, [x0, #16]
	ldp	q0, q1, [x6]
	ldp	q2, q3, [x6, #32]
1:	ldr	q4, [x10], #16
	ldr	q5, [x11], #16
	ldr	q6, [x12], #16
	ldr	q7, [x13], #16
	xor_second
	bl	encrypt4
	xor_last
	str	q0, [x14], #16
	str	q1, [x15], #16
	str	q2, [x16], #16
	str	q3, [x17], #16
	subs	x2, x2, #1
	b.ne	1b
	stp	q0, q1, [x6]
	stp	q2, q3, [x6, #32]
	stp	x10, x11, [x1]
	stp	x12, x13, [x1, #16]
	stp	x14, x15, [x0]
	stp	x16, x17, [x0, #16]
	leave	gw_aes_neon_cbc_encrypt4

	.section .note.GNU-stack, "", %progbits
#endif
