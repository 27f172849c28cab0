/* SPDX-License-Identifier: MIT
 * What every SPE routine begins and ends with. For the assembler: GNU as -mspe and clang make the same bytes of it
 * (bare register numbers, no pseudo-operation that pads by taste).
 */
#define FRAME 112
#define FRAME_R14 16

/* Only the low halves of r14-r31 are the caller's; compiled code never uses the upper ones. */
.macro ENTER
	stwu 1, -FRAME(1)
	stmw 14, FRAME_R14(1)
.endm

.macro LEAVE
	lmw 14, FRAME_R14(1)
	addi 1, 1, FRAME
	blr
.endm

.macro FUNC name
	.globl \name
	.hidden \name
	.type \name, @function
	.balignl 32, 0x60000000
\name:
.endm
