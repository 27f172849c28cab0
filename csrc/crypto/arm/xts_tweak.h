/* SPDX-License-Identifier: MIT
 * The next XTS tweak (IEEE 1619, 5.2) in one register. Include after neon.h.
 */
#ifndef GW_CRYPTO_ARM_XTS_TWEAK_H
#define GW_CRYPTO_ARM_XTS_TWEAK_H

/* As gw_xts_next: each half doubled, its top bit to the other half: as 1, or as 0x87. */
static inline uint8x16_t gw_xts_tweak_next(uint8x16_t tweak)
{
	const uint64x2_t ones = vcombine_u64(vcreate_u64(1), vcreate_u64(0x87));
	const uint64x2_t t = vreinterpretq_u64_u8(tweak);
	const uint64x2_t carry = vandq_u64(vreinterpretq_u64_s64(vshrq_n_s64(vreinterpretq_s64_u64(t), 63)), ones);
	return vreinterpretq_u8_u64(veorq_u64(vaddq_u64(t, t), vextq_u64(carry, carry, 1)));
}

#endif
