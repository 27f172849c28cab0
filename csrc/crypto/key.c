/* SPDX-License-Identifier: MIT
 * One implementation by itself, for vectors, differential tests and benches: its key, and running it.
 */
#include <stdio.h>

#include "slow.h"

struct gw_key {
	size_t ctx_bytes;
	void *ctx;
	void (*unset)(void *ctx);
};

gw_key *gw_key_new(const gw_impl *impl, const uint8_t *key, size_t key_len, gw_err *err)
{
	gw_key *k = (gw_key *)gw_alloc(sizeof *k);
	const char *why = "out of memory";
	if (k == NULL) goto fail;
	if (!gw_impl_runnable(impl)) {
		why = "this CPU cannot run it";
		goto fail;
	}
	k->ctx_bytes = impl->key_ctx_bytes;
	k->ctx = gw_alloc(k->ctx_bytes);
	if (k->ctx == NULL) goto fail;
	k->unset = impl->unsetkey;
	if (impl->setkey != NULL) {
		const int rc = impl->setkey(k->ctx, key, key_len);
		/* A provider may lack something else: descriptors, memory. */
		if (rc != 0) why = rc == -EINVAL ? "this key length does not exist for it" : strerror(-rc);
		if (rc != 0) goto fail;
	}
	return k;
fail:
	gw_key_free(k);
	if (err != NULL) snprintf(err->text, sizeof err->text, "%s: key of %zu bytes: %s", impl->driver, key_len, why);
	return NULL;
}

const void *gw_key_ctx(const gw_key *k)
{
	return k->ctx;
}

void gw_key_free(gw_key *k)
{
	if (k == NULL) return;
	if (k->ctx != NULL && k->unset != NULL) k->unset(k->ctx);
	gw_free_wipe(k->ctx, k->ctx_bytes);
	gw_free_wipe(k, sizeof *k);
}

/* Lengths that an AEAD is defined for: SP 800-38D 5.2.1 (shorter tags as published tests use them), RFC
 * 8439. The dataplane's own callers are fixed by the suite table; this is for everybody else. */
static bool lengths_exist(const gw_impl *impl, const gw_op *ops, size_t n)
{
	const bool chacha = strstr(impl->alg, "chacha20") != NULL;
	if (impl->kind != GW_KIND_AEAD) return true;
	for (size_t i = 0; i < n; i++) {
		if (chacha ? ops[i].iv_len != 12 || ops[i].tag_len != 16
				   : ops[i].iv_len == 0 || ops[i].tag_len == 0 || ops[i].tag_len > 16)
			return false;
	}
	return true;
}

int gw_impl_run(const gw_impl *impl, int dir, gw_op *ops, size_t n)
{
	void (*run)(gw_op *, size_t) = dir ? impl->encrypt : impl->decrypt;
	if (run == NULL || !gw_impl_runnable(impl)) return -EOPNOTSUPP;
	if (!lengths_exist(impl, ops, n)) return -EINVAL;
	if (impl == gw_slowed)
		gw_slow_call(run, ops, n);
	else
		run(ops, n);
	return 0;
}
