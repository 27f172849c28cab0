/* SPDX-License-Identifier: MIT
 * Providers: implementations of other people, reached at run time. Each file pair knows one of them. Nothing of
 * theirs is needed to build: what is declared here of their interfaces is what their documentation fixes.
 */
#ifndef GW_CRYPTO_PROVIDER_H
#define GW_CRYPTO_PROVIDER_H

#include <stdio.h>

#include "../impl.h"
#include "../spans.h"

/* Each finds its provider and adds its rows. Returns how many rows there are, or -errno with one line in *err. */
int gw_provider_openssl(gw_err *err);
int gw_provider_ipsec_mb(gw_err *err);
int gw_provider_af_alg(gw_err *err);

/* Has the library that GWBENCH_LIBCRYPTO or the like names, or the first of the NULL-terminated names, been loaded?
 * Returns a dlopen handle that is never closed, or NULL. */
void *gw_provider_open(const char *environment, const char *const *names);

/* The input, in its place in the output, for those who work on one piece of memory. */
static inline void gw_provider_move(const gw_op *op)
{
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (op->in[s].len > 0 && op->in[s].data != out) memmove(out, op->in[s].data, op->in[s].len);
		out += op->in[s].len;
	}
}

#endif
