/* SPDX-License-Identifier: MIT
 * Which providers are loaded is decided by the caller's words; what is absent is said in one line and is no failure
 * while another one is here.
 */
#define _GNU_SOURCE /* secure_getenv */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "provider.h"

static const struct {
	const char *name;
	int (*load)(gw_err *err);
} providers[] = {
	{"openssl", gw_provider_openssl},
	{"ipsec-mb", gw_provider_ipsec_mb},
	{"af_alg", gw_provider_af_alg},
};
#define PROVIDERS (sizeof providers / sizeof providers[0])

void *gw_provider_open(const char *environment, const char *const *names)
{
	const char *named = secure_getenv(environment);
	if (named != NULL && named[0] != '\0') return dlopen(named, RTLD_NOW | RTLD_LOCAL);
	void *handle = NULL;
	for (; handle == NULL && *names != NULL; names++) handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

/* "openssl,af_alg" -> a bit each; 0 when a word is unknown. */
static unsigned parse(const char *which)
{
	unsigned wanted = 0;
	while (*which != '\0') {
		const size_t len = strcspn(which, ",");
		unsigned found = len == 3 && strncmp(which, "all", 3) == 0 ? (1u << PROVIDERS) - 1 : 0;
		for (size_t i = 0; i < PROVIDERS; i++)
			if (strlen(providers[i].name) == len && strncmp(which, providers[i].name, len) == 0) found |= 1u << i;
		if (found == 0) return 0;
		wanted |= found;
		which += len;
		if (*which == ',') which++;
	}
	return wanted;
}

static int load(unsigned wanted, gw_err *err)
{
	int rows = 0, wrong = 0;
	size_t at = 0;
	for (size_t i = 0; i < PROVIDERS; i++) {
		gw_err one = {""};
		if (!(wanted & 1u << i)) continue;
		const int n = providers[i].load(&one);
		if (n > 0) rows += n;
		if (n < 0 && wrong == 0) wrong = n;
		if (one.text[0] != '\0' && err != NULL && at < sizeof err->text)
			at += (size_t)snprintf(err->text + at, sizeof err->text - at, "%s%s: %.120s", at == 0 ? "" : "; ",
								   providers[i].name, one.text);
	}
	return rows > 0 ? rows : wrong;
}

int gw_providers_load(const char *which, gw_err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const unsigned wanted = parse(which);

	if (err != NULL) err->text[0] = '\0';
	if (wanted == 0) {
		if (err != NULL)
			snprintf(err->text, sizeof err->text,
					 "no provider is called \"%.60s\"; there is: openssl, ipsec-mb, af_alg, all", which);
		return -EINVAL;
	}
	pthread_mutex_lock(&lock);
	const int r = load(wanted, err);
	pthread_mutex_unlock(&lock);
	return r;
}
