/* SPDX-License-Identifier: MIT
 * Measures the constant-time implementations of each algorithm against each other and prefers the fastest: a few
 * milliseconds, for the start of a program. See crypto/select.c.
 */
#include <stdio.h>

#include "../crypto/impl.h"

#define REQUEST_BYTES  1408
#define BATCH          16
#define ROUNDS         4 /* interleaved; the best of each counts, for noise only adds */
#define MAX_CANDIDATES 8
#define TIE_PERCENT    95 /* what is closer than this is equal, and priority decides: noise must not */

static size_t key_bytes(const gw_impl *impl)
{
	if (strncmp(impl->alg, "xts(speck128", 12) == 0 || strcmp(impl->alg, "xts(aes)") == 0) return 64;
	return 32;
}

static bool candidate(const gw_impl *impl, const char *alg)
{
	return strcmp(impl->alg, alg) == 0 && impl->constant_time && !impl->by_name_only && impl->kind != GW_KIND_AUTHENC &&
		   gw_impl_selectable(impl);
}

static size_t candidates(const char *alg, const gw_impl **out)
{
	size_t n = 0;
	for (size_t i = 0; i < gw_impl_count() && n < MAX_CANDIDATES; i++)
		if (candidate(gw_impl_at(i), alg)) out[n++] = gw_impl_at(i);
	return n;
}

/* Femtoseconds a byte of both directions together: an integer, for processors without floating point. */
static int cost(const gw_impl *impl, uint64_t ns, uint64_t *out, gw_err *err)
{
	const int directions = impl->decrypt == NULL ? 1 : 2;
	*out = 0;
	for (int dir = 1; dir >= 2 - directions; dir--) {
		gw_bench_sample sample;
		const int rc =
			gw_bench_impl(impl, dir, key_bytes(impl), REQUEST_BYTES, BATCH, ns / (uint64_t)directions, &sample, err);
		if (rc != 0) return rc;
		*out += (uint64_t)sample.ns * 1000000 / sample.bytes;
	}
	return 0;
}

static int settle(const gw_impl *const *some, size_t n, uint64_t alg_ns, gw_err *err)
{
	uint64_t best[MAX_CANDIDATES];
	size_t fastest = 0;
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n; i++) {
			uint64_t fs;
			const int rc = cost(some[i], alg_ns / (ROUNDS * n) + 1, &fs, err);
			if (rc != 0) return rc;
			if (round == 0 || fs < best[i]) best[i] = fs;
		}
	for (size_t i = 1; i < n; i++)
		if (best[i] * 100 < best[fastest] * TIE_PERCENT ||
			(best[i] * TIE_PERCENT < best[fastest] * 100 && some[i]->priority > some[fastest]->priority))
			fastest = i;
	return gw_select_prefer(some[fastest]->driver);
}

int gw_select_measure(uint64_t alg_ns, gw_err *err)
{
	int settled = 0;
	for (size_t i = 0; i < gw_impl_table_len; i++) {
		const gw_impl *some[MAX_CANDIDATES], *impl = gw_impl_table[i];
		bool seen = false;
		for (size_t j = 0; j < i; j++) seen |= strcmp(gw_impl_table[j]->alg, impl->alg) == 0;
		const size_t n = seen ? 0 : candidates(impl->alg, some);
		if (n < 2) continue;
		const int rc = settle(some, n, alg_ns, err);
		if (rc != 0) return rc;
		settled++;
	}
	return settled;
}
