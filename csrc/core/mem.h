/* SPDX-License-Identifier: MIT
 * Loads, stores, wiping, constant-time comparison: the helpers that everything else starts from.
 */
#ifndef GW_CORE_MEM_H
#define GW_CORE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t gw_swap32(uint32_t v)
{
	return __builtin_bswap32(v);
}
static inline uint64_t gw_swap64(uint64_t v)
{
	return __builtin_bswap64(v);
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GW_BE16(v) ((uint16_t)(v))
#define GW_BE32(v) (v)
#define GW_BE64(v) (v)
#define GW_LE16(v) __builtin_bswap16(v)
#define GW_LE32(v) gw_swap32(v)
#define GW_LE64(v) gw_swap64(v)
#else
#define GW_BE16(v) __builtin_bswap16(v)
#define GW_BE32(v) gw_swap32(v)
#define GW_BE64(v) gw_swap64(v)
#define GW_LE16(v) ((uint16_t)(v))
#define GW_LE32(v) (v)
#define GW_LE64(v) (v)
#endif

/* Packet data has no alignment: memcpy is the one portable way, and compiles to a plain load where that is legal. */
static inline uint16_t gw_load_be16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return GW_BE16(v);
}
static inline uint32_t gw_load_be32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return GW_BE32(v);
}
static inline uint64_t gw_load_be64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return GW_BE64(v);
}
static inline uint16_t gw_load_le16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return GW_LE16(v);
}
static inline uint32_t gw_load_le32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return GW_LE32(v);
}
static inline uint64_t gw_load_le64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return GW_LE64(v);
}
static inline void gw_store_be16(void *p, uint16_t v)
{
	v = GW_BE16(v);
	memcpy(p, &v, 2);
}
static inline void gw_store_be32(void *p, uint32_t v)
{
	v = GW_BE32(v);
	memcpy(p, &v, 4);
}
static inline void gw_store_be64(void *p, uint64_t v)
{
	v = GW_BE64(v);
	memcpy(p, &v, 8);
}
static inline void gw_store_le16(void *p, uint16_t v)
{
	v = GW_LE16(v);
	memcpy(p, &v, 2);
}
static inline void gw_store_le32(void *p, uint32_t v)
{
	v = GW_LE32(v);
	memcpy(p, &v, 4);
}
static inline void gw_store_le64(void *p, uint64_t v)
{
	v = GW_LE64(v);
	memcpy(p, &v, 8);
}

/* The barrier keeps the compiler from proving the memory dead. */
static inline void gw_wipe(void *p, size_t n)
{
	memset(p, 0, n);
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

/* 1 when equal, in time that depends on n only. */
static inline int gw_equal_ct(const void *a, const void *b, size_t n)
{
	const uint8_t *x = (const uint8_t *)a, *y = (const uint8_t *)b;
	uint32_t diff = 0;
	for (size_t i = 0; i < n; i++) diff |= (uint32_t)(x[i] ^ y[i]);
	return (int)(1 & ((diff - 1) >> 8));
}

/* Zeroed, 64-byte aligned; kept out of core dumps where the kernel can. gw_free_wipe wipes first; its n is gw_alloc's.
 */
void *gw_alloc(size_t n);
void gw_free_wipe(void *p, size_t n);

/* Cryptographically random bytes (getrandom); 0 or -errno. */
int gw_random(void *p, size_t n);

#endif
