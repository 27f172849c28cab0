/* SPDX-License-Identifier: MIT
 * CBC encryption with VAES: sixteen packets abreast, a packet in each 128-bit lane of four registers. Packets of
 * several SAs mix: the round keys are laid out lane by lane once a run, which a run of one packet's span pays for.
 */
#if defined(__x86_64__)
#include "aes_vaes.h"
#include "cbc_lanes.h"

void gw_cbc_encrypt_aesni(gw_op *ops, size_t n);
void gw_cbc_encrypt_vaes(gw_op *ops, size_t n);

typedef struct lane_keys {
	__m512i k[15][4];
} lane_keys;

GW_INLINE GW_TARGET_VAES __m512i gather_key(const gw_cbc_lanes *l, int reg, uint32_t r)
{
	__m512i v = _mm512_castsi128_si512(gw_key128(l->key[4 * reg]->enc[r]));
	v = _mm512_inserti64x2(v, gw_key128(l->key[4 * reg + 1]->enc[r]), 1);
	v = _mm512_inserti64x2(v, gw_key128(l->key[4 * reg + 2]->enc[r]), 2);
	return _mm512_inserti64x2(v, gw_key128(l->key[4 * reg + 3]->enc[r]), 3);
}

GW_INLINE GW_TARGET_VAES __m512i gather_block(const gw_cbc_lanes *l, int reg, size_t at)
{
	__m512i v = _mm512_castsi128_si512(gw_load128(l->in[4 * reg] + at));
	v = _mm512_inserti64x2(v, gw_load128(l->in[4 * reg + 1] + at), 1);
	v = _mm512_inserti64x2(v, gw_load128(l->in[4 * reg + 2] + at), 2);
	return _mm512_inserti64x2(v, gw_load128(l->in[4 * reg + 3] + at), 3);
}

GW_INLINE GW_TARGET_VAES void scatter_block(const gw_cbc_lanes *l, int reg, size_t at, __m512i v)
{
	gw_store128(l->out[4 * reg] + at, _mm512_castsi512_si128(v));
	gw_store128(l->out[4 * reg + 1] + at, _mm512_extracti64x2_epi64(v, 1));
	gw_store128(l->out[4 * reg + 2] + at, _mm512_extracti64x2_epi64(v, 2));
	gw_store128(l->out[4 * reg + 3] + at, _mm512_extracti64x2_epi64(v, 3));
}

GW_TARGET_VAES static void run16(gw_cbc_lanes *l, size_t blocks)
{
	const uint32_t rounds = l->key[0]->rounds;
	uint32_t same_rounds = 1, same_key = 1;
	lane_keys lk;

	for (int i = 1; i < 16; i++) {
		same_rounds &= l->key[i]->rounds == rounds;
		same_key &= l->key[i] == l->key[0];
	}
	if (!same_rounds) { /* AES-128 beside AES-256: rare, lane by lane */
		gw_cbc_run_each(l, 16, blocks);
		return;
	}
	for (uint32_t r = 0; r <= rounds; r++)
		for (int i = 0; i < 4; i++) lk.k[r][i] = same_key ? gw_key512(l->key[0]->enc[r]) : gather_key(l, i, r);

	gw_four v = gw_load256bytes(l->chain[0]);
	const size_t bytes = 16 * blocks;
	for (size_t at = 0; at < bytes; at += 16) {
		v.a = _mm512_ternarylogic_epi64(v.a, gather_block(l, 0, at), lk.k[0][0], 0x96);
		v.b = _mm512_ternarylogic_epi64(v.b, gather_block(l, 1, at), lk.k[0][1], 0x96);
		v.c = _mm512_ternarylogic_epi64(v.c, gather_block(l, 2, at), lk.k[0][2], 0x96);
		v.d = _mm512_ternarylogic_epi64(v.d, gather_block(l, 3, at), lk.k[0][3], 0x96);
#define R(r)                                                                                                           \
	do {                                                                                                               \
		v.a = _mm512_aesenc_epi128(v.a, lk.k[r][0]);                                                                   \
		v.b = _mm512_aesenc_epi128(v.b, lk.k[r][1]);                                                                   \
		v.c = _mm512_aesenc_epi128(v.c, lk.k[r][2]);                                                                   \
		v.d = _mm512_aesenc_epi128(v.d, lk.k[r][3]);                                                                   \
	} while (0)
		GW_AES_ROUNDS(rounds, R);
#undef R
		v.a = _mm512_aesenclast_epi128(v.a, lk.k[rounds][0]);
		v.b = _mm512_aesenclast_epi128(v.b, lk.k[rounds][1]);
		v.c = _mm512_aesenclast_epi128(v.c, lk.k[rounds][2]);
		v.d = _mm512_aesenclast_epi128(v.d, lk.k[rounds][3]);
		scatter_block(l, 0, at, v.a);
		scatter_block(l, 1, at, v.b);
		scatter_block(l, 2, at, v.c);
		scatter_block(l, 3, at, v.d);
	}
	gw_store256bytes(l->chain[0], v);
	for (int i = 0; i < 16; i++) {
		l->in[i] += bytes;
		l->out[i] += bytes;
	}
	gw_wipe(&lk, sizeof lk.k[0] * (rounds + 1));
}

/* Below that many packets the narrower lanes win: they have no keys to lay out. */
#define FEW 6

GW_TARGET_VAES void gw_cbc_encrypt_vaes(gw_op *ops, size_t n)
{
	if (n < FEW)
		gw_cbc_encrypt_aesni(ops, n);
	else
		gw_cbc_schedule(ops, n, 16, run16);
}
#endif
