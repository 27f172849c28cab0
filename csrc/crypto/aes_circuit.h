/* SPDX-License-Identifier: MIT
 * The circuit of bit-sliced AES, for words of any width: S-box, MixColumns and what makes their inverses of them. p[i]
 * holds bit i of all bytes; how these stand in a word is the includer's, who defines before it includes this:
 *
 *   v                    the word: an integer or a vector, with the operators of C
 *   CIRCUIT_FN           qualifiers of a function that may be inlined or not
 *   CIRCUIT_INLINE       of one that must be
 *   CIRCUIT_UNROLL       pragma before a loop over the eight planes
 *   TURN1(x), TURN2(x)   x with its columns turned by one and by two rows, in the scope of TURNS
 *   TURNS                further parameters of who turns columns, after a comma; may be empty
 */

/* SubBytes less its constant 0x63, which the round keys carry: 115 gates (Boyar and Peralta, "A new combinational logic
 * minimization technique with applications to cryptology", 2010). x0 and the first output are the highest bits. */
CIRCUIT_FN void sub_bytes(v *p)
{
	const v x0 = p[7], x1 = p[6], x2 = p[5], x3 = p[4], x4 = p[3], x5 = p[2], x6 = p[1], x7 = p[0];
	/* linear: into the tower field */
	const v y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3;
	const v y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1;
	const v y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
	const v y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
	/* inversion */
	const v t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16, t9 = (y5 & y1) ^ t7;
	const v t11 = (y2 & y7) ^ t7, t12 = y9 & y11, t14 = (y14 & y17) ^ t12, t16 = (y8 & y10) ^ t12;
	const v t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21, t24 = t11 ^ t16 ^ y18;
	const v t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22, t30 = t23 ^ t24;
	const v t33 = ((t22 ^ t26) & t30) ^ t24, t36 = t24 & (t27 ^ t33), t37 = t36 ^ t23 ^ t33, t38 = t27 ^ t36;
	const v t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37;
	const v t45 = t42 ^ t41;
	const v z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11;
	const v z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13;
	const v z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
	/* linear: back */
	const v t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12, t51 = z2 ^ z5;
	const v t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
	const v t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58;
	const v t64 = z4 ^ t59, t65 = t61 ^ t62, t66 = z1 ^ t63, s3 = t53 ^ t66;
	p[7] = t59 ^ t63;
	p[6] = t64 ^ s3;
	p[5] = t55 ^ t64 ^ t65;
	p[4] = s3;
	p[3] = t51 ^ t66;
	p[2] = t47 ^ t65;
	p[1] = t56 ^ t62;
	p[0] = t48 ^ t60;
}

/* The inverse of SubBytes' linear half: bit i is the sum of bits i + 2, i + 5 and i + 7. */
CIRCUIT_FN void unmix_bits(v *p)
{
	v out[8];
	CIRCUIT_UNROLL for (int k = 0; k < 8; k += 2)
	{
		const v both = p[k] ^ p[(k + 3) & 7];
		out[(k + 6) & 7] = both ^ p[(k + 5) & 7];
		out[(k + 1) & 7] = both ^ p[(k + 6) & 7];
	}
	CIRCUIT_UNROLL for (int i = 0; i < 8; i++) p[i] = out[i];
}

/* ---- rounds ---- */

/* 2 t ^ r1 ^ r2(t) with t = a ^ r1; doubling moves planes up, and the highest comes back as 0x1b. */
CIRCUIT_FN void mix_columns(v *p TURNS)
{
	v r[8], t[8];
	CIRCUIT_UNROLL for (int i = 0; i < 8; i++)
	{
		r[i] = TURN1(p[i]);
		t[i] = p[i] ^ r[i];
	}
	CIRCUIT_UNROLL for (int i = 0; i < 8; i++)
	{
		p[i] = r[i] ^ TURN2(t[i]) ^ t[(i + 7) & 7];
		if (i == 1 || i == 3 || i == 4) p[i] ^= t[7];
	}
}

/* a ^ 4 (a ^ r2(a)): what makes InvMixColumns of MixColumns. */
CIRCUIT_INLINE void before_unmixing(v *p TURNS)
{
	v u[8];
	CIRCUIT_UNROLL for (int i = 0; i < 8; i++) u[i] = p[i] ^ TURN2(p[i]);
	const v u67 = u[6] ^ u[7];
	p[0] ^= u[6];
	p[1] ^= u67;
	p[2] ^= u[0] ^ u[7];
	p[3] ^= u[1] ^ u[6];
	p[4] ^= u[2] ^ u67;
	p[5] ^= u[3] ^ u[7];
	p[6] ^= u[4];
	p[7] ^= u[5];
}
