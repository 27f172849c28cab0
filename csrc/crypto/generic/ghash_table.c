/* SPDX-License-Identifier: MIT */
#include "ghash_table.h"

/* Bits that leave on the right come back by the polynomial: r[i] = i * (x^7 + x^2 + x + 1), reflected, << 48. */
static const uint16_t reduce[16] = {0x0000, 0x1c20, 0x3840, 0x2460, 0x7080, 0x6ca0, 0x48c0, 0x54e0,
									0xe100, 0xfd20, 0xd940, 0xc560, 0x9180, 0x8da0, 0xa9c0, 0xb5e0};

void gw_ghash_table_init(gw_ghash_table *t, const uint8_t h[16])
{
	uint64_t hi = gw_load_be64(h), lo = gw_load_be64(h + 8);

	t->hi[0] = t->lo[0] = 0;
	for (int i = 8; i > 0; i >>= 1) {
		t->hi[i] = hi;
		t->lo[i] = lo;
		const uint64_t carry = 0xe100000000000000ull & (0 - (lo & 1));
		lo = lo >> 1 | hi << 63;
		hi = hi >> 1 ^ carry;
	}
	for (int i = 2; i < 16; i <<= 1)
		for (int j = 1; j < i; j++) {
			t->hi[i + j] = t->hi[i] ^ t->hi[j];
			t->lo[i + j] = t->lo[i] ^ t->lo[j];
		}
}

static void multiply(const gw_ghash_table *t, uint8_t y[16])
{
	uint32_t nibble = y[15] & 15;
	uint64_t hi = t->hi[nibble], lo = t->lo[nibble];

	for (int i = 31; i > 0; i--) { /* from the last nibble to the first */
		const uint32_t out = (uint32_t)lo & 15;
		nibble = i & 1 ? y[i >> 1] >> 4 : y[(i >> 1) - 1] & 15;
		lo = (lo >> 4 | hi << 60) ^ t->lo[nibble];
		hi = hi >> 4 ^ (uint64_t)reduce[out] << 48 ^ t->hi[nibble];
	}
	gw_store_be64(y, hi);
	gw_store_be64(y + 8, lo);
}

void gw_ghash_table_update(const gw_ghash_table *t, uint8_t y[16], const uint8_t *data, size_t len)
{
	while (len > 0) {
		const size_t n = len < 16 ? len : 16;
		for (size_t i = 0; i < n; i++) y[i] ^= data[i];
		multiply(t, y);
		data += n;
		len -= n;
	}
}
