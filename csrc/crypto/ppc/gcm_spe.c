/* SPDX-License-Identifier: MIT
 * GCM (SP 800-38D) on SPE: counter mode and a table GHASH without shifts, 8 KB a key.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe.h"

#include "../gcm.h"

#define HALF_BYTES  4096 /* of the table, and its alignment */
#define TABLE_BYTES (2 * HALF_BYTES)

typedef struct gcm_key {
	gw_spe_aes_key aes;
	uint8_t room[TABLE_BYTES + HALF_BYTES - 8] __attribute__((aligned(8)));
} gcm_key;

/* The context itself is aligned to 64 bytes only. */
static uint64_t *table_of(const gcm_key *k)
{
	return (uint64_t *)(((uintptr_t)k->room + HALF_BYTES - 1) & ~(uintptr_t)(HALF_BYTES - 1));
}

/* Entry (position, value): value * 256 + position * 16 within the half of positions 0-15 or 16-31. */
static uint64_t *entry(uint64_t *table, uint32_t position, uint32_t value)
{
	return table + (HALF_BYTES * (position / 16) + 256 * value + 16 * (position % 16)) / 8;
}

static __attribute__((cold)) void fill_table(uint64_t *table, const uint8_t h[16])
{
	uint64_t hi = gw_load_be64(h), lo = gw_load_be64(h + 8);

	memset(table, 0, TABLE_BYTES);
	for (uint32_t p = 0; p < 32; p++) {
		for (uint32_t bit = 8; bit > 0; bit >>= 1) {
			uint64_t *e = entry(table, p, bit);
			e[0] = hi, e[1] = lo;
			const uint64_t carry = 0xe100000000000000ull & (0 - (lo & 1)); /* times x, bits reflected */
			lo = lo >> 1 | hi << 63;
			hi = hi >> 1 ^ carry;
		}
		for (uint32_t v = 3; v < 16; v++) {
			const uint64_t *a = entry(table, p, v & (v - 1)), *b = entry(table, p, v & (0 - v));
			uint64_t *e = entry(table, p, v);
			if ((v & (v - 1)) == 0) continue;
			e[0] = a[0] ^ b[0], e[1] = a[1] ^ b[1];
		}
	}
}

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	gcm_key *k = (gcm_key *)ctx;
	uint8_t h[16] = {0};
	if (gw_spe_aes_expand(&k->aes, key, len) != 0) return -EINVAL;
	gw_spe_aes_ecb_enc(k->aes.enc, h, h, 1, gw_spe_aes_te, k->aes.rounds);
	fill_table(table_of(k), h);
	gw_wipe(h, sizeof h);
	return 0;
}

static void block(const void *key, const uint8_t in[16], uint8_t out[16])
{
	const gw_spe_aes_key *k = &((const gcm_key *)key)->aes;
	gw_spe_aes_ecb_enc(k->enc, in, out, 1, gw_spe_aes_te, k->rounds);
}

static void ctr(const void *key, uint8_t counter[16], const uint8_t *in, uint8_t *out, size_t len)
{
	gw_spe_ctr_bytes(&((const gcm_key *)key)->aes, counter, true, in, out, len);
}

static void ghash(const void *key, uint8_t y[16], const uint8_t *data, size_t len)
{
	const size_t blocks = len / 16, tail = len % 16;
	uint64_t *table = table_of(key);
	if (blocks > 0) gw_spe_ghash((uint32_t *)(void *)y, table, data, blocks);
	if (tail > 0) {
		uint8_t last[16] = {0};
		memcpy(last, data + 16 * blocks, tail);
		gw_spe_ghash((uint32_t *)(void *)y, table, last, 1);
	}
}

static const gw_gcm gcm = {.block = block, .ctr = ctr, .ghash = ghash};

static void seal(gw_op *ops, size_t n)
{
	gw_spe_warm(gw_spe_aes_te, ops, n);
	gw_gcm_seal(&gcm, ops, n);
}

static void open_(gw_op *ops, size_t n)
{
	gw_spe_warm(gw_spe_aes_te, ops, n);
	gw_gcm_open(&gcm, ops, n);
}

const gw_impl gw_impl_gcm_aes_spe = {
	.alg = "gcm(aes)",
	.driver = "gcm-aes-spe/gwbench",
	.tag = "spe",
	.isa = "e500 SPE, tables",
	.kind = GW_KIND_AEAD,
	.priority = 300,
	.cpu_needs = GW_CPU_SPE,
	.key_ctx_bytes = sizeof(gcm_key),
	.batch_hint = 1,
	.setkey = setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#else
typedef int gw_gcm_spe_is_elsewhere;
#endif
