/* SPDX-License-Identifier: MIT
 * AES on SPE: ECB, CBC, XTS (GCM and CTR: aes_spe_ctr.S). Prototypes and argument units: spe.h.
 * Packet data is read and written with lwz and stw, which have no alignment; keys and stack with evldd (8 bytes).
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "aes_spe_round.h"

	.text

/* One block for the modes that matter least in a gateway (XTS and ECB share it, the others have the rounds in line):
 * all rounds but the last, no cached keys. LR is in the frame (KEEP_LR). */
.macro CORE name, dir
	.balignl 32, 0x60000000
\name:
	blt 1, 8f
	beq 1, 7f
	ROUND_M \dir, 1
	ROUND_M \dir, 2
7:	ROUND_M \dir, 3
	ROUND_M \dir, 4
8:	ROUND_M \dir, 5
	ROUND_M \dir, 6
	ROUND_M \dir, 7
	ROUND_M \dir, 8
	ROUND_M \dir, 9
	ROUND_M \dir, 10
	ROUND_M \dir, 11
	ROUND_M \dir, 12
	ROUND_M \dir, 13
	blr
.endm

.macro KEEP_LR
	mflr 0
	stw 0, FRAME + 4(1)
.endm

.macro LEAVE_LR
	lwz 0, FRAME + 4(1)
	mtlr 0
	LEAVE
.endm

/* What a gateway has no use for is apart, so that it is linked without. */
	CORE core_enc, E
	.section .text.ecb_dec, "ax", @progbits
	CORE core_dec, D
	.text

.macro ECB name, dir, core
	FUNC \name
	ENTER
	KEEP_LR
	SETUP
	evldd 28, 224(3)
	evldd 29, 232(3)
1:	LOAD4 lwzu, rC0, rC1, rC2, rC3, 4, 16
	WHITEN rC0, rC1, rC2, rC3
	bl \core
	ROUND_\dir 1, 28, 29
	STORE_STATE
	bdnz 1b
	LEAVE_LR
.endm

	ECB gw_spe_aes_ecb_enc, E, core_enc
	.section .text.ecb_dec, "ax", @progbits
	ECB gw_spe_aes_ecb_dec, D, core_dec
	.text

/* r9: IV, r10: where the last ciphertext block goes, or 0. The chain is the state itself. */
	FUNC gw_spe_aes_cbc_enc
	ENTER
	stw 10, 8(1)
	LOAD4 lwz, rC0, rC1, rC2, rC3, 9, 0
	SETUP
	CACHE
1:	LOAD4 lwzu, rT0, rT1, rT2, rT3, 4, 16
	STATE_XOR rW0, rW1, rW2, rW3
	STATE_XOR rT0, rT1, rT2, rT3
	ROUNDS E
	STORE_STATE
	bdnz 1b
	lwz 9, 8(1)
	cmpwi 9, 0
	beq 2f
	stw rC0, 0(9)
	stw rC1, 4(9)
	stw rC2, 8(9)
	stw rC3, 12(9)
2:	LEAVE

/* r9: IV. From the last block to the first: the ciphertext before is then still there when in == out, and is needed
 * only once: as the IV of this block and as the next input. */
	FUNC gw_spe_aes_cbc_dec
	ENTER
	stw 9, 8(1)
	slwi 18, 6, 4
	add 4, 4, 18
	add 5, 5, 18
	addi 5, 5, 16
	SETUP
	CACHE
	LOAD4 lwz, rT0, rT1, rT2, rT3, 4, 0
	WHITEN rT0, rT1, rT2, rT3
	b 2f
1:	LOAD4 lwzu, rT0, rT1, rT2, rT3, 4, -16
	STATE_XOR rT0, rT1, rT2, rT3
	stwu rC0, -16(5)
	stw rC1, 4(5)
	stw rC2, 8(5)
	stw rC3, 12(5)
	WHITEN rT0, rT1, rT2, rT3
2:	ROUNDS D
	bdnz 1b
	lwz 9, 8(1)
	LOAD4 lwz, rT0, rT1, rT2, rT3, 9, 0
	STATE_XOR rT0, rT1, rT2, rT3
	stw rC0, -16(5)
	stw rC1, -12(5)
	stw rC2, -8(5)
	stw rC3, -4(5)
	LEAVE

/* XTS. r9: the encrypted tweak, replaced by the one after the last block. The tweak is multiplied as four
 * little-endian words in r10, r11, r12, r0 and turned by stwbrx into the stack, where the block's XORs find it. */
#define TWEAK 88
.macro XTS_BUFFER op
	\op 10, 0, 28
	\op 11, 0, 29
	\op 12, 0, 30
	\op 0, 0, 31
.endm

.macro XTS name, dir, core
	FUNC \name
	ENTER
	KEEP_LR
	stw 9, 8(1)
	SETUP
	lwz 18, 8(1)
	mr 28, 18
	addi 29, 18, 4
	addi 30, 18, 8
	addi 31, 18, 12
	XTS_BUFFER lwbrx
	addi 28, 1, TWEAK
	addi 29, 1, TWEAK + 4
	addi 30, 1, TWEAK + 8
	addi 31, 1, TWEAK + 12
	XTS_BUFFER stwbrx
1:	LOAD4 lwzu, rC0, rC1, rC2, rC3, 4, 16
	LOAD4 lwz, rT0, rT1, rT2, rT3, 1, TWEAK
	WHITEN rC0, rC1, rC2, rC3
	STATE_XOR rT0, rT1, rT2, rT3
	bl \core
	evldd rT2, TWEAK(1)
	evldd rT3, TWEAK + 8(1)
	evldd rKA, 224(3)
	evldd rKB, 232(3)
	evxor rKA, rKA, rT2
	srawi rT0, 0, 31
	evxor rKB, rKB, rT3
	andi. rT0, rT0, 0x87
	addc 10, 10, 10
	adde 11, 11, 11
	adde 12, 12, 12
	adde 0, 0, 0
	xor 10, 10, rT0
	XTS_BUFFER stwbrx
	ROUND_\dir 1, rKA, rKB
	STORE_STATE
	bdnz 1b
	lwz 9, 8(1)
	LOAD4 lwz, rC0, rC1, rC2, rC3, 1, TWEAK
	stw rC0, 0(9)
	stw rC1, 4(9)
	stw rC2, 8(9)
	stw rC3, 12(9)
	LEAVE_LR
.endm

	.section .text.xts, "ax", @progbits
	XTS gw_spe_aes_xts_enc, E, core_enc
	XTS gw_spe_aes_xts_dec, D, core_dec
	.text

/* r3: an AES table, whose 256 cache lines are asked for. */
	FUNC gw_spe_prefetch
	li 0, 32
	mtctr 0
	li 4, 32
	li 5, 64
	li 6, 96
	li 7, 128
	li 8, 160
	li 9, 192
	li 10, 224
1:	dcbt 0, 3
	dcbt 4, 3
	dcbt 5, 3
	dcbt 6, 3
	dcbt 7, 3
	dcbt 8, 3
	dcbt 9, 3
	dcbt 10, 3
	addi 3, 3, 256
	bdnz 1b
	blr

#endif
	.section .note.GNU-stack, "", @progbits
