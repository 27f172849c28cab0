/* SPDX-License-Identifier: MIT
 * What was measured to be the fastest of several constant-time implementations, or taken from an earlier measurement
 * (csrc/bench/select.c measures). Nothing here by default: then priority decides, the same on every machine.
 */
#include "impl.h"

#define MAX_ALGS 32

static const gw_impl *preferred[MAX_ALGS]; /* one an algorithm; written before loops run */
static size_t preferred_len;

static size_t slot_of(const char *alg)
{
	size_t i = 0;
	while (i < preferred_len && strcmp(preferred[i]->alg, alg) != 0) i++;
	return i;
}

bool gw_impl_preferred(const gw_impl *impl)
{
	const size_t i = slot_of(impl->alg);
	return i < preferred_len && preferred[i] == impl;
}

int gw_select_prefer(const char *driver)
{
	const gw_impl *impl = gw_impl_find(driver);
	if (impl == NULL) return -ENOENT;
	if (!gw_impl_selectable(impl) || !impl->constant_time || impl->by_name_only) return -EOPNOTSUPP;
	const size_t i = slot_of(impl->alg);
	if (i == MAX_ALGS) return -ENOSPC;
	preferred[i] = impl;
	if (i == preferred_len) preferred_len++;
	return 0;
}

const char *gw_select_preferred(const char *alg)
{
	const size_t i = slot_of(alg);
	return i < preferred_len ? preferred[i]->driver : NULL;
}

void gw_select_reset(void)
{
	preferred_len = 0;
}
