/* SPDX-License-Identifier: MIT
 * What is used of Linux's AF_ALG (Documentation/crypto/userspace-if.rst), declared here because not every libc has it.
 */
#ifndef GW_CRYPTO_PROVIDER_AF_ALG_H
#define GW_CRYPTO_PROVIDER_AF_ALG_H

#include "provider.h"

#ifndef AF_ALG
#define AF_ALG 38
#endif
#ifndef SOL_ALG
#define SOL_ALG 279
#endif

enum { GW_ALG_SET_KEY = 1, GW_ALG_SET_IV = 2, GW_ALG_SET_OP = 3, GW_ALG_SET_ASSOCLEN = 4, GW_ALG_SET_AUTHSIZE = 5 };

typedef struct gw_alg_address {
	uint16_t family;
	uint8_t type[14];
	uint32_t features, mask;
	uint8_t name[64];
} gw_alg_address;

#define GW_ALG_ROWS 96

typedef struct gw_alg_row {
	gw_impl impl;
	char name[64];   /* the kernel's */
	char driver[80]; /* name/kernel */
	uint32_t tag_bytes;
	int hash_fd; /* plain hashes have no key to keep a socket in */
} gw_alg_row;

extern gw_alg_row gw_alg_rows[GW_ALG_ROWS];

int gw_alg_bind(const gw_alg_row *row);
/* af_alg_run.c: the functions of row number i, by the kind that stands in row->impl. */
void gw_alg_fill(gw_alg_row *row, size_t i);

#endif
