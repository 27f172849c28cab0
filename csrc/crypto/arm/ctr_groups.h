/* SPDX-License-Identifier: MIT
 * Counter mode in groups of eight blocks: cores count in a 32-bit register; here are the carries.
 */
#ifndef GW_CRYPTO_ARM_CTR_GROUPS_H
#define GW_CRYPTO_ARM_CTR_GROUPS_H

#include "../block.h"
#include "../impl.h"

typedef struct gw_ctr_core {
	/* Groups of which the last word of the counter does not wrap; counter stays as it is. */
	void (*groups)(const void *key, uint8_t *out, const uint8_t *in, size_t groups, const uint8_t counter[16]);
	/* Eight blocks in place. */
	void (*encrypt8)(const void *key, uint8_t blocks[128]);
} gw_ctr_core;

static inline void gw_ctr_add(uint8_t counter[16], size_t blocks, bool carry)
{
	if (carry)
		gw_ctr128_add(counter, blocks);
	else
		gw_ctr32_add(counter, (uint32_t)blocks);
}

/* counter moves on: all of it (carry), or its last word alone, as GCM counts. */
static inline void gw_ctr_groups(const gw_ctr_core *core, const void *key, uint8_t *out, const uint8_t *in,
								 size_t groups, uint8_t counter[16], bool carry)
{
	while (groups > 0) {
		const uint64_t before_wrap = (0x100000000 - gw_load_be32(counter + 12)) / 8;
		size_t n = groups < before_wrap ? groups : (size_t)before_wrap;
		if (n > 0) {
			core->groups(key, out, in, n, counter);
			gw_ctr_add(counter, 8 * n, carry);
		} else {
			uint8_t stream[128] __attribute__((aligned(16)));
			for (uint32_t i = 0; i < 8; i++) {
				memcpy(stream + 16 * i, counter, 16);
				gw_ctr_add(counter, 1, carry);
			}
			core->encrypt8(key, stream);
			gw_xor_bytes(out, in, stream, 128);
			gw_wipe(stream, sizeof stream);
			n = 1;
		}
		out += 128 * n, in += 128 * n, groups -= n;
	}
}

#endif
