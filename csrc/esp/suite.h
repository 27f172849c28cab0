/* SPDX-License-Identifier: MIT
 * The one suite table, as esp/ sees it. Names follow IKE's; sizes follow RFC 4106, 3602, 3686, 4868, 7634, 2404.
 */
#ifndef GW_ESP_SUITE_H
#define GW_ESP_SUITE_H

#include "../crypto/impl.h"

/* How the 8 or 16 IV bytes on the wire become what the algorithm wants. */
typedef enum gw_iv_style {
	GW_IV_NONE, /* null encryption */
	GW_IV_CBC,  /* 16 bytes: a nonce, encrypted in place by the cipher */
	GW_IV_AEAD, /* salt(4) || IV(8): RFC 4106, RFC 7634 */
	GW_IV_CTR,  /* salt(4) || IV(8) || 00000001: RFC 3686 */
} gw_iv_style;

typedef struct gw_suite {
	gw_suite_info info;
	gw_iv_style iv_style;
	uint8_t icv_also[2]; /* permitted beside the default, 0 = none */
} gw_suite;

const gw_suite *gw_suite_row(int suite); /* NULL when out of range */
/* icv 0 = the suite's default. Returns the length in force, or -EINVAL when the suite does not know it. */
int gw_suite_icv(const gw_suite *s, uint32_t icv_bytes);

/* What would run, as gw_suite_resolve; *err says which algorithm nothing here implements. */
int gw_suite_transform(const gw_suite *s, const char *wish, gw_transform *out, gw_err *err);

/* ESP bytes (SPI..ICV) that carry `plain` bytes of payload and TFC padding. */
static inline size_t gw_esp_len(uint32_t iv, uint32_t block, uint32_t icv, size_t plain)
{
	return 8 + iv + ((plain + 2 + block - 1) & ~(size_t)(block - 1)) + icv;
}

#endif
