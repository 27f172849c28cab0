/* SPDX-License-Identifier: MIT
 * An implementation is data. Adding one touches its own file and the table in table.c.
 *
 * Each implementation file defines `const gw_impl gw_impl_<driver with _>` and nothing else that is global. Files
 * of an ISA compile to nothing on other architectures (`#if defined(__x86_64__)`), and are built with per-function
 * target attributes or assembler directives, never per-file flags, so that plain `pip install .` and one
 * `zig cc csrc/...` work. Little buffers live on the stack; no allocation, no global state after gw_init.
 */
#ifndef GW_CRYPTO_IMPL_H
#define GW_CRYPTO_IMPL_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "../core/cpu.h"
#include "../core/mem.h"
#include "../gwdp.h"

struct gw_impl {
	const char *alg, *driver, *tag, *isa;
	int kind;
	int priority; /* generic 100, ct 150, first accelerated 300, better ones above */
	bool constant_time;
	uint64_t cpu_needs; /* all of these GW_CPU_* bits */
	size_t key_ctx_bytes;
	int batch_hint;
	/* Expands into key_ctx_bytes at ctx (64-byte aligned). -EINVAL: key length. NULL for a plain hash.
	 * authenc: key is the cipher's, the MAC's context is expanded by mac_setkey. */
	int (*setkey)(void *ctx, const uint8_t *key, size_t len);
	size_t mac_ctx_bytes;                                         /* authenc only */
	int (*mac_setkey)(void *ctx, const uint8_t *key, size_t len); /* authenc only */
	/* n ops, any n >= 0, keys may differ from op to op, statuses written by aead and authenc. */
	void (*encrypt)(gw_op *ops, size_t n); /* also seal, hash, mac */
	void (*decrypt)(gw_op *ops, size_t n); /* also open; NULL for hash and mac */
	/* For contexts that own something beyond their bytes (providers): called before these are wiped, also on a context
	 * that is all zero or whose setkey failed. NULL: nothing owned. */
	void (*unsetkey)(void *ctx);
	void (*mac_unsetkey)(void *ctx); /* authenc only */
	bool by_name_only;               /* providers: a wish must name the tag or the driver */
};

/* table.c: what is compiled in. Walk gw_impl_count and gw_impl_at to see providers too. */
extern const gw_impl *const gw_impl_table[];
extern const size_t gw_impl_table_len;
/* registry.c */
bool gw_impl_selectable(const gw_impl *impl); /* runnable here, and its known answers passed */
/* Adds a row of a provider (kept by pointer) and runs its known answers; a second time is no error. -ENOSPC. */
int gw_impl_add(const gw_impl *impl);
/* select.c */
bool gw_impl_preferred(const gw_impl *impl);

static inline bool gw_impl_runnable(const gw_impl *impl) /* this CPU has what it needs */
{
	return (impl->cpu_needs & ~gw_cpu()) == 0;
}

/* What an SA runs: one AEAD or authenc, or cipher + mac composed by transform.c in cache-sized chunks. */
typedef struct gw_transform {
	const gw_impl *cipher; /* aead, authenc or cipher; NULL for null encryption */
	const gw_impl *mac;    /* NULL for aead, authenc and "null" */
} gw_transform;

typedef struct gw_transform_key gw_transform_key; /* both contexts, 64-byte aligned, wiped on free */

/* wish as gw_suite_resolve. */
int gw_transform_resolve(const char *enc_alg, const char *auth_alg, const char *wish, gw_transform *out, gw_err *err);
void gw_transform_name(const gw_transform *t, char *text, size_t len);
gw_transform_key *gw_transform_key_new(const gw_transform *t, const uint8_t *enc_key, size_t enc_len,
									   const uint8_t *auth_key, size_t auth_len, gw_err *err);
void gw_transform_key_free(gw_transform_key *k);
/* The pointers an op carries. */
const void *gw_transform_cipher_key(const gw_transform_key *k);
const void *gw_transform_mac_key(const gw_transform_key *k);
/* All ops run under transform t; each has its own keys. Sealing reads in[], writes out and tag; opening is in place. */
void gw_transform_seal(const gw_transform *t, gw_op *ops, size_t n);
void gw_transform_open(const gw_transform *t, gw_op *ops, size_t n);

#endif
