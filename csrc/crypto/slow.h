/* SPDX-License-Identifier: MIT
 * The test hook GWBENCH_SLOW_DOWN: one implementation is made to take more cycles, so that it can be shown that a
 * comparison of results finds it. Costs everybody else a comparison of pointers a batch.
 */
#ifndef GW_CRYPTO_SLOW_H
#define GW_CRYPTO_SLOW_H

#include "impl.h"

extern const gw_impl *gw_slowed; /* NULL: none. Written by gw_init, before any loop runs */

/* Runs it, and spins for so many percent of the cycles that it took. */
void gw_slow_call(void (*run)(gw_op *, size_t), gw_op *ops, size_t n);
/* "DRIVER=PERCENT" of the environment. 0; -EINVAL with *err when it is something else, or no driver is called so. */
int gw_slow_init(gw_err *err);

static inline void gw_impl_encrypt(const gw_impl *impl, gw_op *ops, size_t n)
{
	if (__builtin_expect(impl != gw_slowed, 1))
		impl->encrypt(ops, n);
	else
		gw_slow_call(impl->encrypt, ops, n);
}

static inline void gw_impl_decrypt(const gw_impl *impl, gw_op *ops, size_t n)
{
	if (__builtin_expect(impl != gw_slowed, 1))
		impl->decrypt(ops, n);
	else
		gw_slow_call(impl->decrypt, ops, n);
}

#endif
