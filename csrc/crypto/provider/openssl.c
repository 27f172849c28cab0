/* SPDX-License-Identifier: MIT
 * Finds libcrypto: version 3, then 1.1, or the file that GWBENCH_LIBCRYPTO names.
 */
#include "openssl.h"

#include <dlfcn.h>

gw_openssl_functions gw_openssl;
char gw_openssl_isa[48];

static const gw_impl *const rows[] = {
	&gw_impl_ecb_aes_openssl,   &gw_impl_cbc_aes_openssl,     &gw_impl_ctr_aes_openssl,
	&gw_impl_xts_aes_openssl,   &gw_impl_gcm_aes_openssl,     &gw_impl_chacha20poly1305_openssl,
	&gw_impl_sha1_openssl,      &gw_impl_sha256_openssl,      &gw_impl_sha512_openssl,
	&gw_impl_hmac_sha1_openssl, &gw_impl_hmac_sha256_openssl, &gw_impl_hmac_sha512_openssl,
};
#define ROWS (sizeof rows / sizeof rows[0])

/* A function pointer read as data: POSIX says that dlsym's result may be used so. */
static const char *find(void *library, gw_openssl_functions *out)
{
#define X(type, name, arguments)                                                                                       \
	*(void **)(void *)&out->name = dlsym(library, #name);                                                              \
	if (out->name == NULL) return #name;
	GW_OPENSSL_FUNCTIONS
#undef X
	return NULL;
}

int gw_provider_openssl(gw_err *err)
{
	static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", NULL};
	static bool loaded;
	if (!loaded) {
		gw_openssl_functions found;
		void *library = gw_provider_open("GWBENCH_LIBCRYPTO", names);
		if (library == NULL) {
			snprintf(err->text, sizeof err->text, "neither libcrypto.so.3 nor libcrypto.so.1.1 is installed");
			return -ENOENT;
		}
		const char *lacks = find(library, &found);
		if (lacks != NULL) {
			snprintf(err->text, sizeof err->text, "this libcrypto has no %s", lacks);
			return -ENOENT;
		}
		gw_openssl = found;
		/* "OpenSSL 3.0.15 3 Sep 2024": two words of it */
		const char *version = found.OpenSSL_version(0), *space = strchr(version, ' ');
		const size_t len = space == NULL ? strlen(version) : (size_t)(space - version) + 1 + strcspn(space + 1, " ");
		snprintf(gw_openssl_isa, sizeof gw_openssl_isa, "%.*s, its choice", (int)(len < 30 ? len : 30), version);
		loaded = true;
	}
	for (size_t i = 0; i < ROWS; i++)
		if (gw_impl_add(rows[i]) != 0) return -ENOSPC;
	return ROWS;
}
