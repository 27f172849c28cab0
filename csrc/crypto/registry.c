/* SPDX-License-Identifier: MIT
 * The implementations as the outside sees them: which there are, which run here, and what the known answers said.
 */
#include <pthread.h>
#include <stdio.h>

#include "impl.h"
#include "known_answers.h"
#include "slow.h"

#ifndef GW_VERSION
#define GW_VERSION "0.1.0"
#endif

const char *gw_version(void)
{
	return GW_VERSION;
}

#define MAX_IMPLS 256

/* 1 passed, 0 not run, -1 failed; by table index. Written by gw_init, read-only while loops run. */
static int8_t checked[MAX_IMPLS];
static bool faulty[MAX_IMPLS]; /* the test hook */

/* Rows of providers stand behind those that are compiled in. */
static const gw_impl *added[MAX_IMPLS];
static size_t added_len;

static int index_of(const gw_impl *impl)
{
	for (size_t i = 0; i < gw_impl_count(); i++)
		if (gw_impl_at(i) == impl) return (int)i;
	return -1;
}

size_t gw_impl_count(void)
{
	return gw_impl_table_len + added_len;
}

const gw_impl *gw_impl_at(size_t i)
{
	if (i < gw_impl_table_len) return gw_impl_table[i];
	i -= gw_impl_table_len;
	return i < added_len ? added[i] : NULL;
}

const gw_impl *gw_impl_find(const char *driver)
{
	for (size_t i = 0; driver != NULL && i < gw_impl_count(); i++)
		if (strcmp(gw_impl_at(i)->driver, driver) == 0) return gw_impl_at(i);
	return NULL;
}

int gw_impl_add(const gw_impl *impl)
{
	if (index_of(impl) >= 0) return 0;
	if (gw_impl_count() >= MAX_IMPLS) return -ENOSPC;
	added[added_len++] = impl;
	(void)gw_impl_selftest(impl, NULL); /* a row that fails stays visible as failed and is never selected */
	return 0;
}

void gw_impl_describe(const gw_impl *impl, gw_impl_info *out)
{
	const int i = index_of(impl);
	*out = (gw_impl_info){
		.alg = impl->alg,
		.driver = impl->driver,
		.tag = impl->tag,
		.isa = impl->isa,
		.kind = impl->kind,
		.priority = impl->priority,
		.constant_time = impl->constant_time,
		.runnable = gw_impl_runnable(impl),
		.checked = i < 0 ? 0 : checked[i],
		.key_ctx_bytes = impl->key_ctx_bytes,
		.batch_hint = impl->batch_hint,
	};
}

bool gw_impl_selectable(const gw_impl *impl)
{
	const int i = index_of(impl);
	return i >= 0 && checked[i] == 1 && gw_impl_runnable(impl);
}

int gw_impl_selftest(const gw_impl *impl, gw_err *err)
{
	const int i = index_of(impl);
	if (i < 0 || !gw_impl_runnable(impl)) {
		if (err != NULL) snprintf(err->text, sizeof err->text, "%s cannot run on this CPU", impl->driver);
		return -EOPNOTSUPP;
	}
	const int r = gw_known_answers(impl, faulty[i], err);
	checked[i] = r == 0 ? 1 : -1;
	return r;
}

int gw_impl_inject_fault(const char *driver)
{
	const gw_impl *impl = gw_impl_find(driver);
	if (impl == NULL) return -ENOENT;
	const int i = index_of(impl);
	faulty[i] = true;
	if (checked[i] == 1) (void)gw_impl_selftest(impl, NULL);
	return 0;
}

int gw_init(gw_err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	int failed = 0;

	if (gw_impl_table_len > MAX_IMPLS) return -E2BIG;
	size_t len;
	const char *unknown = gw_cpu_unknown(&len);
	if (unknown != NULL) {
		char names[192];
		gw_cpu_names(names, sizeof names);
		if (err != NULL)
			snprintf(err->text, sizeof err->text, "GWBENCH_CPU_DISABLE: no CPU feature is called '%.*s'; there are: %s",
					 len < 32 ? (int)len : 32, unknown, names);
		return -EINVAL;
	}
	pthread_mutex_lock(&lock);
	if (err != NULL) err->text[0] = '\0';
	if (!done && gw_slow_init(err) != 0) {
		pthread_mutex_unlock(&lock);
		return -EINVAL;
	}
	for (size_t i = 0; i < gw_impl_table_len; i++) {
		const gw_impl *impl = gw_impl_table[i];
		gw_err one;
		if (!gw_impl_runnable(impl)) continue;
		if (!done && gw_impl_selftest(impl, &one) != 0 && failed == 0 && err != NULL) *err = one;
		failed += checked[i] != 1;
	}
	done = true;
	pthread_mutex_unlock(&lock);
	return failed;
}
