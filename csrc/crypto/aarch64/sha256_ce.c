/* SPDX-License-Identifier: MIT
 * SHA-256 (FIPS 180-4 6.2) and its HMAC by the Crypto Extensions, two messages abreast: SHA256H waits for the one
 * before it, so a second message fills the gaps and shares the loads of the constants.
 */
#if defined(__aarch64__)

#include <arm_neon.h>

#include "aes_ce.h"
#include "sha256_lanes.h"

#define LANES 2

CE_INLINE void run_lanes(sha256_lane *l, int lanes, size_t blocks)
{
	uint32x4_t abcd[LANES], efgh[LANES];
	const uint8_t *p[LANES];
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		abcd[i] = vld1q_u32(l[i].state);
		efgh[i] = vld1q_u32(l[i].state + 4);
		p[i] = l[i].data;
	}
	CE_ROLLED for (size_t n = 0; n < blocks; n++)
	{
		uint32x4_t w[LANES][4], abcd0[LANES], efgh0[LANES];
		CE_UNROLL for (int i = 0; i < lanes; i++)
		{
			CE_UNROLL for (int j = 0; j < 4; j++) w[i][j] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p[i] + 16 * j)));
			p[i] += 64;
			abcd0[i] = abcd[i];
			efgh0[i] = efgh[i];
		}
		CE_UNROLL for (int r = 0; r < 16; r++)
		{
			const uint32x4_t k = vld1q_u32(gw_sha256_k + 4 * r);
			CE_UNROLL for (int i = 0; i < lanes; i++)
			{
				uint32x4_t *v = w[i];
				const uint32x4_t wk = vaddq_u32(v[r & 3], k), before = abcd[i];
				if (r < 12)
					v[r & 3] =
						vsha256su1q_u32(vsha256su0q_u32(v[r & 3], v[(r + 1) & 3]), v[(r + 2) & 3], v[(r + 3) & 3]);
				abcd[i] = vsha256hq_u32(abcd[i], efgh[i], wk);
				efgh[i] = vsha256h2q_u32(efgh[i], before, wk);
			}
		}
		CE_UNROLL for (int i = 0; i < lanes; i++)
		{
			abcd[i] = vaddq_u32(abcd[i], abcd0[i]);
			efgh[i] = vaddq_u32(efgh[i], efgh0[i]);
		}
	}
	CE_UNROLL for (int i = 0; i < lanes; i++)
	{
		vst1q_u32(l[i].state, abcd[i]);
		vst1q_u32(l[i].state + 4, efgh[i]);
		l[i].data = p[i];
		l[i].blocks -= blocks;
	}
}

CE static void run(sha256_lane *l, size_t busy, size_t blocks)
{
	if (busy == LANES)
		run_lanes(l, LANES, blocks);
	else
		run_lanes(l, 1, blocks);
}

/* For the two blocks of a key. */
CE static void blocks(void *state, const uint8_t *data, size_t n)
{
	sha256_lane l = {.data = data, .blocks = n};
	memcpy(l.state, state, 32);
	run_lanes(&l, 1, n);
	memcpy(state, l.state, 32);
}

static __attribute__((noinline)) void schedule_lanes(gw_op *ops, size_t n, bool hmac)
{
	sha256_schedule(ops, n, hmac, LANES, run);
}

static void hash(gw_op *ops, size_t n)
{
	schedule_lanes(ops, n, false);
}

static void hmac(gw_op *ops, size_t n)
{
	schedule_lanes(ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	static const gw_md md = {
		.block_bytes = 64, .word_bytes = 4, .digest_bytes = 32, .iv = gw_sha256_iv, .blocks = blocks};
	return gw_md_hmac_setkey(&md, ctx, key, len);
}

const gw_impl gw_impl_sha256_ce = {
	.alg = "sha256",
	.driver = "sha256-ce/gwbench",
	.tag = "ce",
	.isa = "AArch64 Crypto Extensions",
	.kind = GW_KIND_HASH,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_SHA2,
	.batch_hint = LANES,
	.encrypt = hash,
};

const gw_impl gw_impl_hmac_sha256_ce = {
	.alg = "hmac(sha256)",
	.driver = "hmac-sha256-ce/gwbench",
	.tag = "ce",
	.isa = "AArch64 Crypto Extensions",
	.kind = GW_KIND_MAC,
	.priority = 400,
	.constant_time = true,
	.cpu_needs = GW_CPU_NEON | GW_CPU_ARM_SHA2,
	.key_ctx_bytes = sizeof(gw_hmac_ctx),
	.batch_hint = LANES,
	.setkey = hmac_setkey,
	.encrypt = hmac,
};

#endif
