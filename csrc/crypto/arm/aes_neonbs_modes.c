/* SPDX-License-Identifier: MIT
 * ECB, CBC and CTR (SP 800-38A) on the bit-sliced core. Long stretches go through eight blocks at a time; what is
 * left of each packet shares slots with its neighbours in the batch.
 */
#if defined(__arm__) && !defined(__ARMEB__) && !defined(__SOFTFP__)
#include "neon.h"

#include "aes_neonbs.h"
#include "copy.h"
#include "ctr_groups.h"

#include "../block.h"
#include "../spans.h"
#include "aes_neonbs_slots.h"

static void ecb(gw_op *ops, size_t n, bool decrypt)
{
	gw_neonbs_slots s;
	gw_neonbs_slots_init(&s, decrypt);
	for (; n > 0; n--, ops++) {
		const gw_neonbs_key *k = (const gw_neonbs_key *)ops->key;
		uint8_t *out = ops->out;
		gw_neonbs_slots_key(&s, k);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			const uint8_t *in = ops->in[j].data;
			size_t left = ops->in[j].len;
			const size_t groups = left / 128;
			if (groups > 0) {
				(decrypt ? gw_neonbs_decrypt : gw_neonbs_encrypt)(k->slices, k->rounds, out, in, groups);
				in += groups * 128, out += groups * 128, left -= groups * 128;
			}
			for (; left >= 16; in += 16, out += 16, left -= 16)
				vst1q_u8(s.in[gw_neonbs_slots_take(&s, out)], vld1q_u8(in));
		}
	}
	gw_neonbs_slots_run(&s);
	gw_neonbs_slots_wipe(&s);
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, false);
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, true);
}

/* Eight blocks: plain is D(in). Backwards, because in may be out. */
static uint8x16_t unchain(uint8_t *out, const uint8_t *in, const uint8_t *plain, uint8x16_t chain)
{
	const uint8x16_t last = vld1q_u8(in + 112);
	for (int i = 7; i > 0; i--) vst1q_u8(out + 16 * i, veorq_u8(vld1q_u8(plain + 16 * i), vld1q_u8(in + 16 * i - 16)));
	vst1q_u8(out, veorq_u8(vld1q_u8(plain), chain));
	return last;
}

static void cbc_decrypt(gw_op *ops, size_t n)
{
	gw_neonbs_slots s;
	uint8_t plain[128] __attribute__((aligned(16)));
	gw_neonbs_slots_init(&s, true);
	for (; n > 0; n--, ops++) {
		const gw_neonbs_key *k = (const gw_neonbs_key *)ops->key;
		uint8_t *out = ops->out;
		uint8x16_t chain = vld1q_u8(ops->iv);
		gw_neonbs_slots_key(&s, k);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			const uint8_t *in = ops->in[j].data;
			size_t left = ops->in[j].len;
			for (; left >= 128; in += 128, out += 128, left -= 128) {
				gw_neonbs_decrypt(k->slices, k->rounds, plain, in, 1);
				chain = unchain(out, in, plain, chain);
			}
			for (; left >= 16; in += 16, out += 16, left -= 16) {
				const uint8x16_t block = vld1q_u8(in);
				gw_neonbs_slots_put(&s, out, block, chain);
				chain = block;
			}
		}
	}
	gw_neonbs_slots_run(&s);
	gw_neonbs_slots_wipe(&s);
	gw_wipe_few(plain, sizeof plain);
}

#define CACHED_PAYS 4 /* groups; fewer do not earn the cache */

static void ctr_core_groups(const void *key, uint8_t *out, const uint8_t *in, size_t groups, const uint8_t counter[16])
{
	const gw_neonbs_key *k = (const gw_neonbs_key *)key;
	uint32_t w[4] __attribute__((aligned(16))) = {gw_load_be32(counter), gw_load_be32(counter + 8),
												  gw_load_be32(counter + 4), gw_load_be32(counter + 12)};
	while (groups > 0) {
		const size_t before_wrap = (256 - (w[3] & 255)) / 8;
		size_t n = groups < before_wrap ? groups : before_wrap;
		if (n > 16) n = 16;
		if (n >= CACHED_PAYS) {
			gw_neonbs_ctr_cached(k->slices, k->rounds, out, in, n, w);
			w[3] += (uint32_t)(8 * n);
		} else {
			if (n == 0) n = 1;
			gw_neonbs_ctr(k->slices, k->rounds, out, in, n, w);
		}
		out += 128 * n, in += 128 * n, groups -= n;
	}
}

static void ctr_core_encrypt8(const void *key, uint8_t blocks[128])
{
	const gw_neonbs_key *k = (const gw_neonbs_key *)key;
	gw_neonbs_encrypt(k->slices, k->rounds, blocks, blocks, 1);
}

void gw_neonbs_ctr_groups(const gw_neonbs_key *k, uint8_t *out, const uint8_t *in, size_t groups, uint8_t counter[16],
						  bool carry)
{
	static const gw_ctr_core core = {ctr_core_groups, ctr_core_encrypt8};
	gw_ctr_groups(&core, k, out, in, groups, counter, carry);
}

static void ctr(gw_op *ops, size_t n)
{
	gw_neonbs_slots s;
	gw_neonbs_slots_init(&s, false);
	for (; n > 0; n--, ops++) {
		const gw_neonbs_key *k = (const gw_neonbs_key *)ops->key;
		uint8_t *out = ops->out, counter[16];
		memcpy(counter, ops->iv, 16);
		gw_neonbs_slots_key(&s, k);
		for (uint32_t j = 0; j < ops->n_in; j++) {
			const uint8_t *in = ops->in[j].data;
			size_t left = ops->in[j].len;
			const size_t groups = left / 128;
			if (groups > 0) {
				gw_neonbs_ctr_groups(k, out, in, groups, counter, true);
				in += groups * 128, out += groups * 128, left -= groups * 128;
			}
			for (; left >= 16; in += 16, out += 16, left -= 16) {
				gw_neonbs_slots_put(&s, out, vld1q_u8(counter), vld1q_u8(in));
				gw_ctr128_add(counter, 1);
			}
			if (left > 0) gw_neonbs_slots_put_part(&s, out, vld1q_u8(counter), in, (uint32_t)left);
		}
	}
	gw_neonbs_slots_run(&s);
	gw_neonbs_slots_wipe(&s);
}

void gw_neonbs_cbc_batch(gw_op *ops, size_t n); /* aes_neonbs_cbc.c */

#define IMPL(mode, enc, dec)                                                                                           \
	const gw_impl gw_impl_##mode##_aes_neonbs = {                                                                      \
		.alg = #mode "(aes)",                                                                                          \
		.driver = #mode "-aes-neonbs/gwbench",                                                                         \
		.tag = "neonbs",                                                                                               \
		.isa = "ARMv7 NEON, bit-sliced",                                                                               \
		.kind = GW_KIND_CIPHER,                                                                                        \
		.priority = 300,                                                                                               \
		.constant_time = true,                                                                                         \
		.cpu_needs = GW_CPU_NEON,                                                                                      \
		.key_ctx_bytes = sizeof(gw_neonbs_key),                                                                        \
		.batch_hint = 16,                                                                                              \
		.setkey = gw_neonbs_setkey,                                                                                    \
		.encrypt = enc,                                                                                                \
		.decrypt = dec,                                                                                                \
	}

IMPL(ecb, ecb_encrypt, ecb_decrypt);
IMPL(cbc, gw_neonbs_cbc_batch, cbc_decrypt);
IMPL(ctr, ctr, ctr);

#include "neon_end.h"
#else
typedef int gw_neonbs_modes_not_here;
#endif
