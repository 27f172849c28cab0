/* SPDX-License-Identifier: MIT
 * Four tables of 1 KiB a direction, SubBytes, ShiftRows and MixColumns in one look-up (Rijndael proposal, 5.2.1).
 */
#include "aes_table.h"

#include "aes_sbox.h"

#define X2(a)            ((((a) << 1) ^ ((a)&0x80 ? 0x1b : 0)) & 0xff)
#define X4(a)            X2(X2(a))
#define X8(a)            X2(X4(a))
#define WORD(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

#define E0(s)   WORD(X2(s), s, s, X2(s) ^ (s))
#define MUL9(s) (X8(s) ^ (s))
#define MULB(s) (X8(s) ^ X2(s) ^ (s))
#define MULD(s) (X8(s) ^ X4(s) ^ (s))
#define MULE(s) (X8(s) ^ X4(s) ^ X2(s))
#define D0(s)   WORD(MULE(s), MUL9(s), MULD(s), MULB(s))
#define BYTE(s) s

static const uint8_t sbox[256] __attribute__((aligned(64))) = {GW_AES_SBOX(BYTE)};
static const uint8_t inv_sbox[256] __attribute__((aligned(64))) = {GW_AES_INV_SBOX(BYTE)};

/* Filled at start: 8 KiB that a router's flash need not hold. */
static uint32_t te[4][256] __attribute__((aligned(64))), td[4][256] __attribute__((aligned(64)));

static __attribute__((constructor, cold)) void fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t s = sbox[i], v = inv_sbox[i], e = E0(s), d = D0(v);
		for (uint32_t j = 0; j < 4; j++) { /* table j stands j bytes further */
			te[j][i] = e >> 8 * j | (uint32_t)((uint64_t)e << (32 - 8 * j));
			td[j][i] = d >> 8 * j | (uint32_t)((uint64_t)d << (32 - 8 * j));
		}
	}
}

static uint32_t sub_word(uint32_t w)
{
	return WORD(sbox[w >> 24], sbox[w >> 16 & 0xff], sbox[w >> 8 & 0xff], sbox[w & 0xff]);
}

static uint32_t inv_mix_column(uint32_t w)
{
	return td[0][sbox[w >> 24]] ^ td[1][sbox[w >> 16 & 0xff]] ^ td[2][sbox[w >> 8 & 0xff]] ^ td[3][sbox[w & 0xff]];
}

int gw_aes_table_expand(gw_aes_table_key *k, const uint8_t *key, size_t len)
{
	if (len != 16 && len != 24 && len != 32) return -EINVAL;
	const uint32_t nk = (uint32_t)len / 4, words = 4 * (nk + 7);
	uint32_t rcon = 1;

	k->rounds = nk + 6;
	for (uint32_t i = 0; i < nk; i++) k->enc[i] = gw_load_be32(key + 4 * i);
	for (uint32_t i = nk; i < words; i++) {
		uint32_t t = k->enc[i - 1];
		if (i % nk == 0) {
			t = sub_word(t << 8 | t >> 24) ^ rcon << 24;
			rcon = X2(rcon);
		} else if (nk == 8 && i % nk == 4) {
			t = sub_word(t);
		}
		k->enc[i] = k->enc[i - nk] ^ t;
	}
	for (uint32_t r = 0; r <= k->rounds; r++)
		for (uint32_t c = 0; c < 4; c++) {
			const uint32_t w = k->enc[4 * (k->rounds - r) + c];
			k->dec[4 * r + c] = r == 0 || r == k->rounds ? w : inv_mix_column(w);
		}
	return 0;
}

#define COLUMN(t, a, b, c, d) (t[0][(a) >> 24] ^ t[1][(b) >> 16 & 0xff] ^ t[2][(c) >> 8 & 0xff] ^ t[3][(d)&0xff])
#define LAST(s, a, b, c, d)   WORD(s[(a) >> 24], s[(b) >> 16 & 0xff], s[(c) >> 8 & 0xff], s[(d)&0xff])

__attribute__((noinline)) void gw_aes_table_encrypt(const gw_aes_table_key *k, const uint8_t *in, uint8_t *out)
{
	const uint32_t *rk = k->enc;
	uint32_t a = gw_load_be32(in) ^ rk[0], b = gw_load_be32(in + 4) ^ rk[1];
	uint32_t c = gw_load_be32(in + 8) ^ rk[2], d = gw_load_be32(in + 12) ^ rk[3];

	for (uint32_t r = k->rounds - 1; r > 0; r--) {
		rk += 4;
		const uint32_t e = COLUMN(te, a, b, c, d) ^ rk[0], f = COLUMN(te, b, c, d, a) ^ rk[1];
		const uint32_t g = COLUMN(te, c, d, a, b) ^ rk[2], h = COLUMN(te, d, a, b, c) ^ rk[3];
		a = e, b = f, c = g, d = h;
	}
	rk += 4;
	gw_store_be32(out, LAST(sbox, a, b, c, d) ^ rk[0]);
	gw_store_be32(out + 4, LAST(sbox, b, c, d, a) ^ rk[1]);
	gw_store_be32(out + 8, LAST(sbox, c, d, a, b) ^ rk[2]);
	gw_store_be32(out + 12, LAST(sbox, d, a, b, c) ^ rk[3]);
}

__attribute__((noinline)) void gw_aes_table_decrypt(const gw_aes_table_key *k, const uint8_t *in, uint8_t *out)
{
	const uint32_t *rk = k->dec;
	uint32_t a = gw_load_be32(in) ^ rk[0], b = gw_load_be32(in + 4) ^ rk[1];
	uint32_t c = gw_load_be32(in + 8) ^ rk[2], d = gw_load_be32(in + 12) ^ rk[3];

	for (uint32_t r = k->rounds - 1; r > 0; r--) {
		rk += 4;
		const uint32_t e = COLUMN(td, a, d, c, b) ^ rk[0], f = COLUMN(td, b, a, d, c) ^ rk[1];
		const uint32_t g = COLUMN(td, c, b, a, d) ^ rk[2], h = COLUMN(td, d, c, b, a) ^ rk[3];
		a = e, b = f, c = g, d = h;
	}
	rk += 4;
	gw_store_be32(out, LAST(inv_sbox, a, d, c, b) ^ rk[0]);
	gw_store_be32(out + 4, LAST(inv_sbox, b, a, d, c) ^ rk[1]);
	gw_store_be32(out + 8, LAST(inv_sbox, c, b, a, d) ^ rk[2]);
	gw_store_be32(out + 12, LAST(inv_sbox, d, c, b, a) ^ rk[3]);
}
