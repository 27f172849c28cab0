/* SPDX-License-Identifier: MIT
 * Written by cbc_sha256_spe.py, which explains it: AES-128 CBC decryption interleaved with SHA-256 of two streams.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe_asm.h"

	.text
	FUNC gw_spe_cbc_sha256_dec128
	stwu 1,-624(1); stmw 14,16(1); stw 3,104(1); mr 10,3; lwz 4,4(10); lwz 9,8(10); stw 9,88(1); lwz 7,12(10); mr 8,7
	lwz 15,16(10); lwz 16,20(10); lwz 17,24(10); lwz 18,28(10); lwz 9,32(10); stw 9,92(1); lwz 9,36(10); stw 9,96(1)
	lwz 9,40(10); stw 9,100(1); lwz 6,44(10); evldd 24,48(10); evldd 25,56(10); evldd 26,64(10); evldd 27,72(10)
	evldd 28,80(10); evldd 29,88(10); evldd 30,96(10); evldd 31,104(10); addi 5,1,-16; lwz 3,0(10)
1:	evxor 14,25,26; li 9,2; mtctr 9
/* Rounds 0-15, words loaded. */
2:
	evldd 23,80(3); lwz 9,92(1); rlwimi 7,15,13,19,26; lwz 10,96(1); rlwimi 8,15,21,19,26; evlwwsplat 19,0(7)
	lwz 0,0(9); lwz 11,0(10); lwz 19,4(8); rlwimi 7,16,5,19,26; evlwwsplat 20,12(7); rlwimi 8,16,13,19,26
	evmergelo 11,0,11; evstdd 11,128(5); evaddw 31,31,11; evlwwsplat 0,0(6); lwz 20,0(8); rlwimi 7,15,29,19,26
	evlwwsplat 21,8(7); rlwimi 8,15,5,19,26; evaddw 31,31,0; lwz 21,12(8); evrlwi 0,28,26; rlwimi 7,16,21,19,26
	evlwwsplat 22,4(7); rlwimi 8,16,29,19,26; evxor 16,19,23; evldd 23,88(3); evrlwi 9,28,21; lwz 22,8(8)
	evxor 16,16,20; rlwimi 7,17,29,19,26; evxor 0,0,9; evlwwsplat 19,8(7); evrlwi 9,28,7; rlwimi 8,17,5,19,26
	evxor 21,21,23; lwz 19,12(8); evxor 0,0,9; rlwimi 7,18,21,19,26; evxor 10,29,30; evlwwsplat 20,4(7)
	evxor 21,21,22; rlwimi 8,18,29,19,26; evand 10,10,28; evldd 23,96(3); evxor 10,10,30; lwz 20,8(8); evaddw 31,31,0
	rlwimi 7,17,13,19,26; evxor 16,16,19; evlwwsplat 22,0(7); evaddw 31,31,10; rlwimi 8,17,21,19,26; evaddw 27,27,31
	lwz 10,96(1); evxor 16,16,20; lwz 22,4(8); evmergehi 15,16,16; rlwimi 7,18,5,19,26; evrlwi 0,24,30
	evlwwsplat 19,12(7); evrlwi 9,24,19; rlwimi 8,18,13,19,26; evxor 21,21,22; lwz 11,4(10); evxor 0,0,9; lwz 19,0(8)
	evrlwi 9,24,10; rlwimi 7,15,13,19,26; evxor 0,0,9; rlwimi 8,15,21,19,26; evxor 18,21,19; lwz 9,92(1)
	evmergehi 17,18,18; evlwwsplat 19,0(7); evxor 12,24,25; lwz 19,4(8); evand 14,14,12; rlwimi 7,16,5,19,26
	evlwwsplat 20,12(7); rlwimi 8,16,13,19,26; evaddw 31,31,0; lwz 20,0(8); evxor 14,14,25; rlwimi 7,15,29,19,26
	evlwwsplat 21,8(7); lwz 0,4(9); rlwimi 8,15,5,19,26; lwz 21,12(8); evaddw 31,31,14; rlwimi 7,16,21,19,26
	evlwwsplat 22,4(7); rlwimi 8,16,29,19,26; evxor 16,19,23; evldd 23,104(3); evxor 16,16,20; lwz 22,8(8)
	evmergelo 11,0,11; rlwimi 7,17,29,19,26; evxor 21,21,23; evstdd 11,136(5); evaddw 30,30,11; rlwimi 8,17,5,19,26
	evxor 21,21,22; evlwwsplat 19,8(7); evrlwi 9,27,21; evlwwsplat 0,4(6); evxor 10,28,29; lwz 19,12(8)
	rlwimi 7,18,21,19,26; evlwwsplat 20,4(7); evaddw 30,30,0; rlwimi 8,18,29,19,26; evxor 16,16,19; evldd 23,112(3)
	evrlwi 0,27,26; lwz 20,8(8); evxor 0,0,9; rlwimi 7,17,13,19,26; evrlwi 9,27,7; evlwwsplat 22,0(7); evxor 16,16,20
	rlwimi 8,17,21,19,26; evmergehi 15,16,16; lwz 22,4(8); evxor 0,0,9; rlwimi 7,18,5,19,26; evand 10,10,27
	evlwwsplat 19,12(7); evxor 21,21,22; rlwimi 8,18,13,19,26; evxor 10,10,29; lwz 19,0(8); evaddw 30,30,0
	rlwimi 7,15,13,19,26; evaddw 30,30,10; rlwimi 8,15,21,19,26; evxor 18,21,19; lwz 10,96(1); evmergehi 17,18,18
	evlwwsplat 19,0(7); evaddw 26,26,30; lwz 19,4(8); evrlwi 0,31,30; rlwimi 7,16,5,19,26; evrlwi 9,31,19
	evlwwsplat 20,12(7); evxor 0,0,9; rlwimi 8,16,13,19,26; evrlwi 9,31,10; lwz 20,0(8); rlwimi 7,15,29,19,26
	evlwwsplat 21,8(7); evxor 0,0,9; rlwimi 8,15,5,19,26; evxor 14,31,24; lwz 21,12(8); rlwimi 7,16,21,19,26
	lwz 9,92(1); evlwwsplat 22,4(7); rlwimi 8,16,29,19,26; evxor 16,19,23; lwz 11,8(10); evxor 16,16,20
	evldd 23,120(3); evand 12,12,14; lwz 22,8(8); evaddw 30,30,0; rlwimi 7,17,29,19,26; evxor 21,21,23
	evlwwsplat 19,8(7); evxor 21,21,22; rlwimi 8,17,5,19,26; evxor 12,12,24; lwz 0,8(9); lwz 19,12(8)
	rlwimi 7,18,21,19,26; evaddw 30,30,12; evlwwsplat 20,4(7); evmergelo 11,0,11; rlwimi 8,18,29,19,26
	evxor 16,16,19; evstdd 11,144(5); lwz 20,8(8); rlwimi 7,17,13,19,26; evaddw 29,29,11; evlwwsplat 22,0(7)
	evrlwi 9,26,21; evldd 23,128(3); evxor 16,16,20; rlwimi 8,17,21,19,26; evmergehi 15,16,16; lwz 22,4(8)
	evxor 10,27,28; rlwimi 7,18,5,19,26; evlwwsplat 19,12(7); evlwwsplat 0,8(6); evxor 21,21,22; rlwimi 8,18,13,19,26
	evand 10,10,26; lwz 19,0(8); evaddw 29,29,0; rlwimi 7,15,13,19,26; evrlwi 0,26,26; rlwimi 8,15,21,19,26
	evxor 18,21,19; evlwwsplat 19,0(7); evmergehi 17,18,18; lwz 19,4(8); evxor 0,0,9; rlwimi 7,16,5,19,26
	evrlwi 9,26,7; evlwwsplat 20,12(7); evxor 0,0,9; rlwimi 8,16,13,19,26; evxor 10,10,28; lwz 20,0(8)
	evaddw 29,29,0; rlwimi 7,15,29,19,26; evaddw 29,29,10; evlwwsplat 21,8(7); rlwimi 8,15,5,19,26; lwz 10,96(1)
	evaddw 25,25,29; lwz 21,12(8); rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); evrlwi 0,30,30; rlwimi 8,16,29,19,26
	evxor 16,19,23; lwz 22,8(8); evxor 16,16,20; evldd 23,136(3); evrlwi 9,30,19; rlwimi 7,17,29,19,26; evxor 0,0,9
	rlwimi 8,17,5,19,26; evxor 21,21,23; evlwwsplat 19,8(7); evrlwi 9,30,10; lwz 11,12(10); evxor 21,21,22
	lwz 19,12(8); evxor 0,0,9; rlwimi 7,18,21,19,26; evxor 12,30,31; evlwwsplat 20,4(7); evxor 16,16,19
	rlwimi 8,18,29,19,26; evand 14,14,12; evldd 23,144(3); evaddw 29,29,0; lwz 20,8(8); rlwimi 7,17,13,19,26
	lwz 9,92(1); evlwwsplat 22,0(7); rlwimi 8,17,21,19,26; evxor 16,16,20; lwz 0,12(9); evmergehi 15,16,16
	lwz 22,4(8); evxor 14,14,31; rlwimi 7,18,5,19,26; evaddw 29,29,14; evlwwsplat 19,12(7); evxor 21,21,22
	rlwimi 8,18,13,19,26; evmergelo 11,0,11; lwz 19,0(8); evaddw 28,28,11; rlwimi 7,15,13,19,26; evrlwi 9,25,21
	evstdd 11,152(5); evxor 18,21,19; rlwimi 8,15,21,19,26; evmergehi 17,18,18; evlwwsplat 19,0(7); evxor 10,26,27
	evlwwsplat 0,12(6); evand 10,10,25; lwz 19,4(8); rlwimi 7,16,5,19,26; evlwwsplat 20,12(7); evaddw 28,28,0
	rlwimi 8,16,13,19,26; evrlwi 0,25,26; lwz 20,0(8); rlwimi 7,15,29,19,26; evlwwsplat 21,8(7); evxor 0,0,9
	rlwimi 8,15,5,19,26; evrlwi 9,25,7; lwz 21,12(8); rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); evxor 0,0,9
	rlwimi 8,16,29,19,26; evxor 16,19,23; lwz 22,8(8); evxor 16,16,20; evldd 23,152(3); evxor 10,10,27
	rlwimi 7,17,29,19,26; evaddw 28,28,0; rlwimi 8,17,5,19,26; evxor 21,21,23; evlwwsplat 19,8(7); evxor 21,21,22
	lwz 19,12(8); evaddw 28,28,10; rlwimi 7,18,21,19,26; evaddw 24,24,28; evlwwsplat 20,4(7); evrlwi 0,29,30
	rlwimi 8,18,29,19,26; evxor 16,16,19; lwz 10,96(1); evrlwi 9,29,19; lwz 20,8(8); rlwimi 7,17,13,19,26
	evldd 23,160(3); evxor 0,0,9; evlwwsplat 22,0(7); evxor 16,16,20; rlwimi 8,17,21,19,26; evrlwi 9,29,10
	lwz 11,16(10); evmergehi 15,16,16; lwz 22,4(8); evxor 0,0,9; rlwimi 7,18,5,19,26; evxor 14,29,30
	evlwwsplat 19,12(7); evxor 21,21,22; rlwimi 8,18,13,19,26; evand 12,12,14; lwz 9,92(1); lwz 19,0(8)
	rlwimi 7,15,13,19,26; evaddw 28,28,0; lwz 0,16(9); evxor 18,21,19; rlwimi 8,15,21,19,26; evmergehi 17,18,18
	evlwwsplat 19,0(7); evxor 12,12,30; lwz 19,4(8); evaddw 28,28,12; rlwimi 7,16,5,19,26; evlwwsplat 20,12(7)
	rlwimi 8,16,13,19,26; evmergelo 11,0,11; evstdd 11,160(5); evaddw 27,27,11; lwz 20,0(8); rlwimi 7,15,29,19,26
	evlwwsplat 21,8(7); evrlwi 9,24,21; rlwimi 8,15,5,19,26; evxor 10,25,26; lwz 21,12(8); rlwimi 7,16,21,19,26
	evlwwsplat 22,4(7); evand 10,10,24; rlwimi 8,16,29,19,26; evxor 16,19,23; evlwwsplat 0,16(6); evxor 16,16,20
	lwz 22,8(8); evldd 23,168(3); rlwimi 7,17,29,19,26; evaddw 27,27,0; evlwwsplat 19,8(7); rlwimi 8,17,5,19,26
	lwz 19,12(8); evxor 21,21,23; rlwimi 7,18,21,19,26; evrlwi 0,24,26; evlwwsplat 20,4(7); evxor 21,21,22
	rlwimi 8,18,29,19,26; evxor 0,0,9; evldd 23,176(3); evrlwi 9,24,7; lwz 20,8(8); evxor 16,16,19
	rlwimi 7,17,13,19,26; evxor 0,0,9; evlwwsplat 22,0(7); evxor 10,10,26; rlwimi 8,17,21,19,26; evaddw 27,27,0
	lwz 22,4(8); evxor 16,16,20; rlwimi 7,18,5,19,26; evaddw 27,27,10; evlwwsplat 19,12(7); evaddw 31,31,27
	rlwimi 8,18,13,19,26; evmergehi 15,16,16; lwz 10,96(1); evxor 21,21,22; lwz 19,0(8); evrlwi 0,28,30
	rlwimi 7,15,13,19,26; evrlwi 9,28,19; lwz 11,20(10); evxor 18,21,19; rlwimi 8,15,21,19,26; evmergehi 17,18,18
	evlwwsplat 19,0(7); evxor 0,0,9; lwz 19,4(8); evrlwi 9,28,10; rlwimi 7,16,5,19,26; evxor 0,0,9
	evlwwsplat 20,12(7); evxor 12,28,29; rlwimi 8,16,13,19,26; evand 14,14,12; lwz 20,0(8); rlwimi 7,15,29,19,26
	lwz 9,92(1); evlwwsplat 21,8(7); rlwimi 8,15,5,19,26; evaddw 27,27,0; lwz 21,12(8); evxor 14,14,29
	rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); lwz 0,20(9); rlwimi 8,16,29,19,26; lwz 22,8(8); evxor 16,19,23
	evldd 23,184(3); evxor 16,16,20; rlwimi 7,17,29,19,26; evaddw 27,27,14; rlwimi 8,17,5,19,26; evxor 21,21,23
	evlwwsplat 19,8(7); evmergelo 11,0,11; evstdd 11,168(5); evxor 21,21,22; evlwwsplat 0,20(6); lwz 19,12(8)
	rlwimi 7,18,21,19,26; evaddw 26,26,11; evlwwsplat 20,4(7); evaddw 26,26,0; rlwimi 8,18,29,19,26; evxor 16,16,19
	evldd 23,192(3); evrlwi 0,31,26; lwz 20,8(8); evrlwi 9,31,21; rlwimi 7,17,13,19,26; evxor 0,0,9
	evlwwsplat 22,0(7); evxor 16,16,20; rlwimi 8,17,21,19,26; evmergehi 15,16,16; lwz 22,4(8); evrlwi 9,31,7
	rlwimi 7,18,5,19,26; evxor 0,0,9; evlwwsplat 19,12(7); evxor 21,21,22; rlwimi 8,18,13,19,26; evxor 10,24,25
	lwz 19,0(8); evand 10,10,31; rlwimi 7,15,13,19,26; evxor 10,10,25; rlwimi 8,15,21,19,26; evxor 18,21,19
	evlwwsplat 19,0(7); evmergehi 17,18,18; lwz 19,4(8); evaddw 26,26,0; rlwimi 7,16,5,19,26; evaddw 26,26,10
	evlwwsplat 20,12(7); evaddw 30,30,26; rlwimi 8,16,13,19,26; evrlwi 0,27,30; lwz 20,0(8); evrlwi 9,27,19
	rlwimi 7,15,29,19,26; evxor 0,0,9; evlwwsplat 21,8(7); rlwimi 8,15,5,19,26; lwz 10,96(1); evrlwi 9,27,10
	lwz 21,12(8); rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); evxor 0,0,9; rlwimi 8,16,29,19,26; evxor 16,19,23
	lwz 9,92(1); evxor 16,16,20; lwz 22,8(8); evxor 14,27,28; evldd 23,200(3); rlwimi 7,17,29,19,26; lwz 11,24(10)
	rlwimi 8,17,5,19,26; evlwwsplat 19,8(7); evxor 21,21,23; lwz 19,12(8); evxor 21,21,22; rlwimi 7,18,21,19,26
	evand 12,12,14; evlwwsplat 20,4(7); evaddw 26,26,0; rlwimi 8,18,29,19,26; evxor 12,12,28; lwz 0,24(9)
	evxor 16,16,19; lwz 20,8(8); evaddw 26,26,12; rlwimi 7,17,13,19,26; evmergelo 11,0,11; evlwwsplat 22,0(7)
	evxor 16,16,20; rlwimi 8,17,21,19,26; evmergehi 15,16,16; evstdd 11,176(5); evaddw 25,25,11; lwz 22,4(8)
	rlwimi 7,18,5,19,26; evldd 23,208(3); evrlwi 9,30,21; evlwwsplat 19,12(7); evxor 21,21,22; rlwimi 8,18,13,19,26
	evxor 10,31,24; evlwwsplat 0,24(6); lwz 19,0(8); rlwimi 7,15,13,19,26; evand 10,10,30; rlwimi 8,15,21,19,26
	evaddw 25,25,0; evxor 18,21,19; evmergehi 17,18,18; evlwwsplat 19,0(7); evrlwi 0,30,26; lwz 19,4(8); evxor 0,0,9
	rlwimi 7,16,5,19,26; evlwwsplat 20,12(7); rlwimi 8,16,13,19,26; evrlwi 9,30,7; lwz 20,0(8); evxor 0,0,9
	rlwimi 7,15,29,19,26; evlwwsplat 21,8(7); rlwimi 8,15,5,19,26; evxor 10,10,24; lwz 21,12(8); evaddw 25,25,0
	rlwimi 7,16,21,19,26; evaddw 25,25,10; evlwwsplat 22,4(7); rlwimi 8,16,29,19,26; lwz 10,96(1); evxor 16,19,23
	lwz 22,8(8); evxor 16,16,20; evldd 23,216(3); evaddw 29,29,25; rlwimi 7,17,29,19,26; evrlwi 0,26,30
	rlwimi 8,17,5,19,26; evxor 21,21,23; evlwwsplat 19,8(7); evrlwi 9,26,19; lwz 11,28(10); evxor 21,21,22
	lwz 19,12(8); evxor 0,0,9; rlwimi 7,18,21,19,26; evrlwi 9,26,10; evlwwsplat 20,4(7); evxor 16,16,19
	rlwimi 8,18,29,19,26; evxor 0,0,9; evldd 23,224(3); evxor 12,26,27; lwz 20,8(8); rlwimi 7,17,13,19,26
	lwz 9,92(1); evlwwsplat 22,0(7); rlwimi 8,17,21,19,26; evxor 16,16,20; lwz 22,4(8); evmergehi 15,16,16
	rlwimi 7,18,5,19,26; evand 14,14,12; evlwwsplat 19,12(7); evaddw 25,25,0; rlwimi 8,18,13,19,26; evxor 21,21,22
	lwz 0,28(9); evxor 14,14,27; lwz 19,0(8); evaddw 25,25,14; rlwimi 7,15,13,19,26; evmergelo 11,0,11
	rlwimi 8,15,21,19,26; evxor 18,21,19; evstdd 11,184(5); evmergehi 17,18,18; evlhhesplat 19,18(7); evaddw 24,24,11
	evlwwsplat 0,28(6); evrlwi 9,29,21; lwz 19,17(8); rlwimi 7,16,5,19,26; evlhhousplat 20,22(7); evaddw 24,24,0
	rlwimi 8,16,13,19,26; evrlwi 0,29,26; lwz 20,18(8); rlwimi 7,15,29,19,26; evlhhousplat 21,18(7); evxor 0,0,9
	rlwimi 8,15,5,19,26; evrlwi 9,29,7; lwz 21,20(8); rlwimi 7,16,21,19,26; evlhhesplat 22,22(7); evxor 0,0,9
	rlwimi 8,16,29,19,26; evxor 16,19,23; lwz 22,16(8); evxor 16,16,20; evldd 23,232(3); evxor 10,30,31
	rlwimi 7,17,29,19,26; evand 10,10,29; rlwimi 8,17,5,19,26; evxor 21,21,23; evlhhousplat 19,18(7); evxor 21,21,22
	lwz 19,20(8); evxor 10,10,31; rlwimi 7,18,21,19,26; evaddw 24,24,0; evlhhesplat 20,22(7); evaddw 24,24,10
	rlwimi 8,18,29,19,26; evxor 16,16,19; lwz 20,16(8); evaddw 28,28,24; rlwimi 7,17,13,19,26; evrlwi 0,25,30
	evlhhesplat 22,18(7); evxor 16,16,20; rlwimi 8,17,21,19,26; evrlwi 9,25,19; lwz 20,4(4); evxor 0,0,9
	lwz 22,17(8); evmergehi 15,16,16; rlwimi 7,18,5,19,26; evrlwi 9,25,10; evlhhousplat 19,22(7); evxor 21,21,22
	rlwimi 8,18,13,19,26; evxor 0,0,9; lwz 22,12(4); evxor 14,25,26; lwz 19,18(8); evand 12,12,14; lwz 23,88(1)
	evaddw 24,24,0; xor 16,16,20; evxor 18,21,19; lwz 9,92(1); evmergehi 17,18,18; lwz 19,0(4); evxor 12,12,26
	lwz 21,8(4); evaddw 24,24,12; stw 16,4(23); xor 15,15,19; xor 18,18,22; stw 15,0(23); xor 17,17,21; addi 9,9,32
	stw 17,8(23); stw 18,12(23); stw 9,92(1); addi 23,23,-16; lwz 10,96(1); stw 23,88(1); addi 5,5,64; lwz 23,64(3)
	addi 4,4,-16; addi 10,10,32; addi 6,6,32; stw 10,96(1); xor 15,19,23; lwz 23,68(3); xor 16,20,23; lwz 23,72(3)
	xor 17,21,23; lwz 23,76(3); xor 18,22,23
	bdnz 2b
	li 9,6; mtctr 9
/* Rounds 16-63, words computed. */
3:
	evldd 23,80(3); evldd 11,0(5); rlwimi 7,15,13,19,26; evldd 0,8(5); rlwimi 8,15,21,19,26; evlwwsplat 19,0(7)
	evrlwi 9,0,25; lwz 19,4(8); evrlwi 10,0,14; rlwimi 7,16,5,19,26; evxor 9,9,10; evlwwsplat 20,12(7); evsrwiu 0,0,3
	rlwimi 8,16,13,19,26; evxor 9,9,0; lwz 20,0(8); evaddw 11,11,9; rlwimi 7,15,29,19,26; evlwwsplat 21,8(7)
	evldd 0,72(5); rlwimi 8,15,5,19,26; lwz 21,12(8); evaddw 11,11,0; rlwimi 7,16,21,19,26; evldd 0,112(5)
	evlwwsplat 22,4(7); rlwimi 8,16,29,19,26; lwz 22,8(8); evxor 16,19,23; evldd 23,88(3); evrlwi 9,0,15
	rlwimi 7,17,29,19,26; evrlwi 10,0,13; rlwimi 8,17,5,19,26; evxor 9,9,10; evlwwsplat 19,8(7); evsrwiu 0,0,10
	lwz 19,12(8); evxor 9,9,0; evlwwsplat 0,0(6); evxor 16,16,20; rlwimi 7,18,21,19,26; evaddw 11,11,9
	rlwimi 8,18,29,19,26; evaddw 31,31,11; evstdd 11,128(5); evxor 21,21,23; evlwwsplat 20,4(7); evaddw 31,31,0
	lwz 20,8(8); evrlwi 0,28,26; evldd 23,96(3); evxor 21,21,22; rlwimi 7,17,13,19,26; evrlwi 9,28,21
	rlwimi 8,17,21,19,26; evxor 0,0,9; evlwwsplat 22,0(7); evrlwi 9,28,7; lwz 22,4(8); evxor 0,0,9
	rlwimi 7,18,5,19,26; evxor 10,29,30; evldd 11,8(5); evxor 16,16,19; rlwimi 8,18,13,19,26; evand 10,10,28
	evlwwsplat 19,12(7); evxor 16,16,20; lwz 19,0(8); evxor 10,10,30; evmergehi 15,16,16; evaddw 31,31,0
	rlwimi 7,15,13,19,26; evaddw 31,31,10; rlwimi 8,15,21,19,26; evaddw 27,27,31; evxor 21,21,22; evxor 18,21,19
	evlwwsplat 19,0(7); evrlwi 0,24,30; lwz 19,4(8); evrlwi 9,24,19; rlwimi 7,16,5,19,26; evxor 0,0,9
	evlwwsplat 20,12(7); evrlwi 9,24,10; rlwimi 8,16,13,19,26; evxor 0,0,9; lwz 20,0(8); evmergehi 17,18,18
	rlwimi 7,15,29,19,26; evxor 12,24,25; evlwwsplat 21,8(7); evand 14,14,12; rlwimi 8,15,5,19,26; evaddw 31,31,0
	lwz 21,12(8); evxor 14,14,25; rlwimi 7,16,21,19,26; evaddw 31,31,14; evlwwsplat 22,4(7); rlwimi 8,16,29,19,26
	evldd 0,16(5); evxor 16,19,23; lwz 22,8(8); evxor 16,16,20; evldd 23,104(3); evrlwi 9,0,25; rlwimi 7,17,29,19,26
	evrlwi 10,0,14; rlwimi 8,17,5,19,26; evxor 9,9,10; evlwwsplat 19,8(7); evsrwiu 0,0,3; lwz 19,12(8); evxor 9,9,0
	evldd 0,80(5); evxor 21,21,23; rlwimi 7,18,21,19,26; evaddw 11,11,9; rlwimi 8,18,29,19,26; evaddw 11,11,0
	evlwwsplat 20,4(7); evxor 21,21,22; evldd 0,120(5); evxor 16,16,19; evldd 23,112(3); evrlwi 9,0,15; lwz 20,8(8)
	evrlwi 10,0,13; rlwimi 7,17,13,19,26; evxor 9,9,10; evlwwsplat 22,0(7); evsrwiu 0,0,10; rlwimi 8,17,21,19,26
	evxor 9,9,0; lwz 22,4(8); evaddw 11,11,9; rlwimi 7,18,5,19,26; evaddw 30,30,11; evlwwsplat 19,12(7)
	evxor 16,16,20; evstdd 11,136(5); evmergehi 15,16,16; evlwwsplat 0,4(6); evxor 21,21,22; rlwimi 8,18,13,19,26
	evrlwi 9,27,21; lwz 19,0(8); evaddw 30,30,0; rlwimi 7,15,13,19,26; evrlwi 0,27,26; rlwimi 8,15,21,19,26
	evxor 18,21,19; evlwwsplat 19,0(7); evxor 0,0,9; lwz 19,4(8); evrlwi 9,27,7; rlwimi 7,16,5,19,26; evxor 0,0,9
	evlwwsplat 20,12(7); evxor 10,28,29; rlwimi 8,16,13,19,26; evand 10,10,27; evldd 11,16(5); evmergehi 17,18,18
	lwz 20,0(8); evxor 10,10,29; rlwimi 7,15,29,19,26; evaddw 30,30,0; evlwwsplat 21,8(7); evaddw 30,30,10
	rlwimi 8,15,5,19,26; evaddw 26,26,30; lwz 21,12(8); evrlwi 0,31,30; rlwimi 7,16,21,19,26; evrlwi 9,31,19
	evlwwsplat 22,4(7); evxor 0,0,9; rlwimi 8,16,29,19,26; evxor 16,19,23; lwz 22,8(8); evxor 16,16,20
	evldd 23,120(3); evrlwi 9,31,10; rlwimi 7,17,29,19,26; evxor 0,0,9; rlwimi 8,17,5,19,26; evxor 14,31,24
	evlwwsplat 19,8(7); evand 12,12,14; lwz 19,12(8); evxor 21,21,23; rlwimi 7,18,21,19,26; evaddw 30,30,0
	evlwwsplat 20,4(7); evxor 12,12,24; rlwimi 8,18,29,19,26; evaddw 30,30,12; evldd 0,24(5); evxor 21,21,22
	lwz 20,8(8); evxor 16,16,19; rlwimi 7,17,13,19,26; evrlwi 9,0,25; evlwwsplat 22,0(7); evrlwi 10,0,14
	rlwimi 8,17,21,19,26; evxor 9,9,10; evldd 23,128(3); evsrwiu 0,0,3; lwz 22,4(8); evxor 9,9,0; rlwimi 7,18,5,19,26
	evaddw 11,11,9; evlwwsplat 19,12(7); evxor 16,16,20; evldd 0,88(5); evmergehi 15,16,16; rlwimi 8,18,13,19,26
	evxor 21,21,22; lwz 19,0(8); evaddw 11,11,0; rlwimi 7,15,13,19,26; evldd 0,128(5); rlwimi 8,15,21,19,26
	evxor 18,21,19; evlwwsplat 19,0(7); evmergehi 17,18,18; lwz 19,4(8); evrlwi 9,0,15; rlwimi 7,16,5,19,26
	evrlwi 10,0,13; evlwwsplat 20,12(7); evxor 9,9,10; rlwimi 8,16,13,19,26; evsrwiu 0,0,10; lwz 20,0(8); evxor 9,9,0
	rlwimi 7,15,29,19,26; evaddw 11,11,9; evlwwsplat 0,8(6); evaddw 29,29,11; evstdd 11,144(5); evrlwi 9,26,21
	rlwimi 8,15,5,19,26; evaddw 29,29,0; evlwwsplat 21,8(7); evrlwi 0,26,26; lwz 21,12(8); evxor 0,0,9
	rlwimi 7,16,21,19,26; evrlwi 9,26,7; evlwwsplat 22,4(7); evxor 0,0,9; rlwimi 8,16,29,19,26; evxor 16,19,23
	lwz 22,8(8); evxor 16,16,20; evldd 23,136(3); evxor 10,27,28; rlwimi 7,17,29,19,26; evand 10,10,26
	rlwimi 8,17,5,19,26; evxor 10,10,28; evlwwsplat 19,8(7); evaddw 29,29,0; evldd 11,24(5); evxor 21,21,23
	lwz 19,12(8); evaddw 29,29,10; rlwimi 7,18,21,19,26; evxor 21,21,22; evlwwsplat 20,4(7); evaddw 25,25,29
	rlwimi 8,18,29,19,26; evrlwi 0,30,30; evldd 23,144(3); evrlwi 9,30,19; lwz 20,8(8); evxor 0,0,9
	rlwimi 7,17,13,19,26; evrlwi 9,30,10; evlwwsplat 22,0(7); evxor 16,16,19; rlwimi 8,17,21,19,26; evxor 0,0,9
	lwz 22,4(8); evxor 12,30,31; rlwimi 7,18,5,19,26; evand 14,14,12; evlwwsplat 19,12(7); evaddw 29,29,0
	rlwimi 8,18,13,19,26; evxor 16,16,20; evldd 0,32(5); evmergehi 15,16,16; lwz 19,0(8); evxor 14,14,31
	rlwimi 7,15,13,19,26; evaddw 29,29,14; rlwimi 8,15,21,19,26; evrlwi 9,0,25; evxor 21,21,22; evxor 18,21,19
	evlwwsplat 19,0(7); evrlwi 10,0,14; lwz 19,4(8); evxor 9,9,10; rlwimi 7,16,5,19,26; evsrwiu 0,0,3
	evlwwsplat 20,12(7); evxor 9,9,0; rlwimi 8,16,13,19,26; evaddw 11,11,9; evldd 0,96(5); evmergehi 17,18,18
	lwz 20,0(8); rlwimi 7,15,29,19,26; evlwwsplat 21,8(7); evaddw 11,11,0; evldd 0,136(5); rlwimi 8,15,5,19,26
	lwz 21,12(8); rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); evrlwi 9,0,15; rlwimi 8,16,29,19,26; evrlwi 10,0,13
	lwz 22,8(8); evxor 9,9,10; rlwimi 7,17,29,19,26; evsrwiu 0,0,10; rlwimi 8,17,5,19,26; evxor 9,9,0
	evlwwsplat 0,12(6); evxor 16,19,23; evldd 23,152(3); evaddw 11,11,9; evlwwsplat 19,8(7); evxor 16,16,20
	evstdd 11,152(5); evaddw 28,28,11; lwz 19,12(8); evxor 21,21,23; rlwimi 7,18,21,19,26; evaddw 28,28,0
	evlwwsplat 20,4(7); evrlwi 0,25,26; rlwimi 8,18,29,19,26; evrlwi 9,25,21; lwz 20,8(8); evxor 0,0,9
	rlwimi 7,17,13,19,26; evrlwi 9,25,7; evldd 23,160(3); evxor 21,21,22; rlwimi 8,17,21,19,26; evxor 0,0,9
	evlwwsplat 22,0(7); evxor 10,26,27; evldd 11,32(5); evxor 16,16,19; lwz 22,4(8); evand 10,10,25
	rlwimi 7,18,5,19,26; evxor 10,10,27; evlwwsplat 19,12(7); evaddw 28,28,0; rlwimi 8,18,13,19,26; evxor 16,16,20
	lwz 19,0(8); evaddw 28,28,10; evmergehi 15,16,16; evaddw 24,24,28; rlwimi 7,15,13,19,26; evrlwi 0,29,30
	rlwimi 8,15,21,19,26; evrlwi 9,29,19; evxor 21,21,22; evxor 18,21,19; evlwwsplat 19,0(7); evxor 0,0,9
	lwz 19,4(8); evrlwi 9,29,10; rlwimi 7,16,5,19,26; evxor 0,0,9; evlwwsplat 20,12(7); evxor 14,29,30
	rlwimi 8,16,13,19,26; evand 12,12,14; lwz 20,0(8); evaddw 28,28,0; rlwimi 7,15,29,19,26; evmergehi 17,18,18
	evldd 0,40(5); evxor 12,12,30; rlwimi 8,15,5,19,26; evaddw 28,28,12; evlwwsplat 21,8(7); evrlwi 9,0,25
	lwz 21,12(8); evrlwi 10,0,14; rlwimi 7,16,21,19,26; evxor 9,9,10; evlwwsplat 22,4(7); evsrwiu 0,0,3
	rlwimi 8,16,29,19,26; evxor 16,19,23; lwz 22,8(8); evxor 16,16,20; evldd 23,168(3); evxor 9,9,0
	rlwimi 7,17,29,19,26; evaddw 11,11,9; rlwimi 8,17,5,19,26; evxor 21,21,23; evldd 0,104(5); evxor 21,21,22
	evlwwsplat 19,8(7); evaddw 11,11,0; evldd 0,144(5); lwz 19,12(8); rlwimi 7,18,21,19,26; evlwwsplat 20,4(7)
	rlwimi 8,18,29,19,26; evrlwi 9,0,15; evldd 23,176(3); evrlwi 10,0,13; lwz 20,8(8); evxor 9,9,10
	rlwimi 7,17,13,19,26; evsrwiu 0,0,10; evlwwsplat 22,0(7); evxor 9,9,0; rlwimi 8,17,21,19,26; evaddw 11,11,9
	evlwwsplat 0,16(6); evxor 16,16,19; lwz 22,4(8); evaddw 27,27,11; rlwimi 7,18,5,19,26; evaddw 27,27,0
	evlwwsplat 19,12(7); evxor 16,16,20; evstdd 11,160(5); evrlwi 0,24,26; rlwimi 8,18,13,19,26; evmergehi 15,16,16
	lwz 19,0(8); evrlwi 9,24,21; rlwimi 7,15,13,19,26; evxor 0,0,9; rlwimi 8,15,21,19,26; evrlwi 9,24,7
	evxor 21,21,22; evxor 0,0,9; evxor 18,21,19; evmergehi 17,18,18; evlwwsplat 19,0(7); evxor 10,25,26
	evldd 11,40(5); evand 10,10,24; lwz 19,4(8); evxor 10,10,26; rlwimi 7,16,5,19,26; evaddw 27,27,0
	evlwwsplat 20,12(7); evaddw 27,27,10; rlwimi 8,16,13,19,26; evaddw 31,31,27; lwz 20,0(8); evrlwi 0,28,30
	rlwimi 7,15,29,19,26; evrlwi 9,28,19; evlwwsplat 21,8(7); evxor 0,0,9; rlwimi 8,15,5,19,26; evrlwi 9,28,10
	lwz 21,12(8); rlwimi 7,16,21,19,26; evlwwsplat 22,4(7); evxor 0,0,9; rlwimi 8,16,29,19,26; evxor 16,19,23
	lwz 22,8(8); evxor 16,16,20; evldd 23,184(3); evxor 12,28,29; rlwimi 7,17,29,19,26; evand 14,14,12
	rlwimi 8,17,5,19,26; evaddw 27,27,0; evlwwsplat 19,8(7); evxor 14,14,29; evldd 0,48(5); evxor 21,21,23
	lwz 19,12(8); evaddw 27,27,14; rlwimi 7,18,21,19,26; evxor 21,21,22; evlwwsplat 20,4(7); evrlwi 9,0,25
	rlwimi 8,18,29,19,26; evrlwi 10,0,14; evldd 23,192(3); evxor 9,9,10; lwz 20,8(8); evsrwiu 0,0,3
	rlwimi 7,17,13,19,26; evxor 9,9,0; evlwwsplat 22,0(7); evxor 16,16,19; evldd 0,112(5); evaddw 11,11,9
	rlwimi 8,17,21,19,26; evxor 16,16,20; lwz 22,4(8); evaddw 11,11,0; rlwimi 7,18,5,19,26; evmergehi 15,16,16
	evldd 0,152(5); evxor 21,21,22; rlwimi 8,18,13,19,26; evlwwsplat 19,12(7); lwz 19,0(8); evrlwi 9,0,15
	rlwimi 7,15,13,19,26; evrlwi 10,0,13; rlwimi 8,15,21,19,26; evxor 9,9,10; evsrwiu 0,0,10; evxor 9,9,0
	evlwwsplat 0,20(6); evxor 18,21,19; evlwwsplat 19,0(7); evmergehi 17,18,18; lwz 19,4(8); evaddw 11,11,9
	evstdd 11,168(5); evaddw 26,26,11; rlwimi 7,16,5,19,26; evaddw 26,26,0; rlwimi 8,16,13,19,26; evrlwi 0,31,26
	evlwwsplat 20,12(7); evrlwi 9,31,21; lwz 20,0(8); evxor 0,0,9; rlwimi 7,15,29,19,26; evrlwi 9,31,7
	evlwwsplat 21,8(7); evxor 0,0,9; rlwimi 8,15,5,19,26; evxor 10,24,25; lwz 21,12(8); rlwimi 7,16,21,19,26
	evlwwsplat 22,4(7); evand 10,10,31; rlwimi 8,16,29,19,26; evxor 16,19,23; evldd 11,48(5); evxor 16,16,20
	lwz 22,8(8); evxor 10,10,25; evldd 23,200(3); evaddw 26,26,0; rlwimi 7,17,29,19,26; evaddw 26,26,10
	rlwimi 8,17,5,19,26; evxor 21,21,23; evlwwsplat 19,8(7); evaddw 30,30,26; lwz 19,12(8); evrlwi 0,27,30
	rlwimi 7,18,21,19,26; evxor 21,21,22; evlwwsplat 20,4(7); evrlwi 9,27,19; rlwimi 8,18,29,19,26; evxor 0,0,9
	evldd 23,208(3); evrlwi 9,27,10; lwz 20,8(8); evxor 0,0,9; rlwimi 7,17,13,19,26; evxor 14,27,28
	evlwwsplat 22,0(7); evand 12,12,14; rlwimi 8,17,21,19,26; evxor 16,16,19; lwz 22,4(8); evaddw 26,26,0
	rlwimi 7,18,5,19,26; evxor 12,12,28; evlwwsplat 19,12(7); evaddw 26,26,12; rlwimi 8,18,13,19,26; evxor 16,16,20
	evldd 0,56(5); evmergehi 15,16,16; lwz 19,0(8); evxor 21,21,22; rlwimi 7,15,13,19,26; evrlwi 9,0,25
	rlwimi 8,15,21,19,26; evrlwi 10,0,14; evxor 18,21,19; evxor 9,9,10; evlwwsplat 19,0(7); evsrwiu 0,0,3
	lwz 19,4(8); evxor 9,9,0; evldd 0,120(5); evmergehi 17,18,18; rlwimi 7,16,5,19,26; evaddw 11,11,9
	rlwimi 8,16,13,19,26; evaddw 11,11,0; evlwwsplat 20,12(7); evldd 0,160(5); lwz 20,0(8); rlwimi 7,15,29,19,26
	evlwwsplat 21,8(7); evrlwi 9,0,15; rlwimi 8,15,5,19,26; evrlwi 10,0,13; lwz 21,12(8); evxor 9,9,10
	rlwimi 7,16,21,19,26; evsrwiu 0,0,10; evlwwsplat 22,4(7); evxor 9,9,0; rlwimi 8,16,29,19,26; evaddw 11,11,9
	evlwwsplat 0,24(6); evxor 16,19,23; lwz 22,8(8); evxor 16,16,20; evstdd 11,176(5); evaddw 25,25,11
	evldd 23,216(3); evaddw 25,25,0; rlwimi 7,17,29,19,26; evrlwi 0,30,26; rlwimi 8,17,5,19,26; evxor 21,21,23
	evlwwsplat 19,8(7); evrlwi 9,30,21; lwz 19,12(8); evxor 0,0,9; rlwimi 7,18,21,19,26; evxor 21,21,22
	evlwwsplat 20,4(7); evrlwi 9,30,7; rlwimi 8,18,29,19,26; evxor 0,0,9; evldd 23,224(3); evxor 10,31,24
	lwz 20,8(8); evand 10,10,30; rlwimi 7,17,13,19,26; evxor 10,10,24; evlwwsplat 22,0(7); evaddw 25,25,0
	rlwimi 8,17,21,19,26; evxor 16,16,19; evldd 11,56(5); evaddw 25,25,10; lwz 22,4(8); evxor 16,16,20
	rlwimi 7,18,5,19,26; evaddw 29,29,25; evlwwsplat 19,12(7); evrlwi 0,26,30; rlwimi 8,18,13,19,26
	evmergehi 15,16,16; lwz 19,0(8); evrlwi 9,26,19; rlwimi 7,15,13,19,26; evxor 0,0,9; rlwimi 8,15,21,19,26
	evrlwi 9,26,10; evxor 21,21,22; evxor 0,0,9; evxor 18,21,19; evmergehi 17,18,18; evlhhesplat 19,18(7)
	evxor 12,26,27; lwz 19,17(8); evand 14,14,12; rlwimi 7,16,5,19,26; evaddw 25,25,0; evlhhousplat 20,22(7)
	evxor 14,14,27; rlwimi 8,16,13,19,26; evaddw 25,25,14; evldd 0,64(5); lwz 20,18(8); rlwimi 7,15,29,19,26
	evlhhousplat 21,18(7); rlwimi 8,15,5,19,26; evrlwi 9,0,25; lwz 21,20(8); evrlwi 10,0,14; rlwimi 7,16,21,19,26
	evxor 9,9,10; evlhhesplat 22,22(7); evsrwiu 0,0,3; rlwimi 8,16,29,19,26; evxor 9,9,0; lwz 22,16(8)
	evxor 16,19,23; evldd 0,128(5); evxor 16,16,20; evldd 23,232(3); evaddw 11,11,9; rlwimi 7,17,29,19,26
	evaddw 11,11,0; rlwimi 8,17,5,19,26; evxor 21,21,23; evldd 0,168(5); evxor 21,21,22; evlhhousplat 19,18(7)
	evrlwi 9,0,15; lwz 19,20(8); evrlwi 10,0,13; rlwimi 7,18,21,19,26; evxor 9,9,10; evlhhesplat 20,22(7)
	evsrwiu 0,0,10; rlwimi 8,18,29,19,26; evxor 9,9,0; lwz 20,16(8); evaddw 11,11,9; rlwimi 7,17,13,19,26
	evaddw 24,24,11; evlhhesplat 22,18(7); evxor 16,16,19; evstdd 11,184(5); evrlwi 9,29,21; rlwimi 8,17,21,19,26
	evxor 16,16,20; lwz 22,17(8); evxor 10,30,31; rlwimi 7,18,5,19,26; evmergehi 15,16,16; evlwwsplat 0,28(6)
	evxor 21,21,22; rlwimi 8,18,13,19,26; evand 10,10,29; evlhhousplat 19,22(7); evaddw 24,24,0; lwz 20,4(4)
	evrlwi 0,29,26; lwz 22,12(4); evxor 0,0,9; lwz 19,18(8); evrlwi 9,29,7; lwz 23,88(1); evxor 0,0,9; xor 16,16,20
	evxor 18,21,19; addi 5,5,64; evmergehi 17,18,18; lwz 19,0(4); evxor 10,10,31; lwz 21,8(4); evaddw 24,24,0
	stw 16,4(23); evaddw 24,24,10; xor 15,15,19; evaddw 28,28,24; stw 15,0(23); evrlwi 0,25,30; xor 17,17,21
	evrlwi 9,25,19; stw 17,8(23); evxor 0,0,9; xor 18,18,22; evrlwi 9,25,10; stw 18,12(23); evxor 0,0,9
	addi 23,23,-16; evxor 14,25,26; stw 23,88(1); evand 12,12,14; lwz 23,64(3); evaddw 24,24,0; addi 4,4,-16
	evxor 12,12,26; addi 6,6,32; xor 15,19,23; lwz 23,68(3); evaddw 24,24,12; xor 16,20,23; lwz 23,72(3)
	xor 17,21,23; lwz 23,76(3); xor 18,22,23
	bdnz 3b
	addi 5,5,-512; addi 6,6,-256; lwz 10,104(1); evldd 0,48(10); evaddw 24,24,0; evstdd 24,48(10); evldd 11,56(10)
	evaddw 25,25,11; evstdd 25,56(10); evldd 0,64(10); evaddw 26,26,0; evstdd 26,64(10); evldd 11,72(10)
	evaddw 27,27,11; evstdd 27,72(10); evldd 0,80(10); evaddw 28,28,0; evstdd 28,80(10); evldd 11,88(10)
	evaddw 29,29,11; evstdd 29,88(10); evldd 0,96(10); evaddw 30,30,0; evstdd 30,96(10); evldd 11,104(10)
	evaddw 31,31,11; evstdd 31,104(10); lwz 9,100(1); addic. 9,9,-1; stw 9,100(1); bne 1b
	stw 4,4(10); lwz 9,88(1); stw 9,8(10); stw 15,16(10); stw 16,20(10); stw 17,24(10); stw 18,28(10); lwz 9,92(1)
	stw 9,32(10); lwz 9,96(1); stw 9,36(10); lmw 14,16(1); addi 1,1,624; blr
#endif
	.section .note.GNU-stack, "", @progbits
