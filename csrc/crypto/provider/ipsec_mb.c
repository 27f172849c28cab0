/* SPDX-License-Identifier: MIT
 * Finds intel-ipsec-mb (or the file that GWBENCH_LIBIPSEC_MB names), and keeps one manager a thread.
 */
#include "ipsec_mb.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

char gw_ipsec_mb_isa[48];

#define VERSION(a, b) ((unsigned)(a) << 16 | (unsigned)(b) << 8)

static struct {
	imb_mgr *(*alloc)(uint64_t flags);
	void (*free)(imb_mgr *mgr);
	void (*init)(imb_mgr *mgr, int *arch);
} lib;

static const gw_impl *const rows[] = {
	&gw_impl_ecb_aes_ipsec_mb,     &gw_impl_cbc_aes_ipsec_mb,          &gw_impl_ctr_aes_ipsec_mb,
	&gw_impl_gcm_aes_ipsec_mb,     &gw_impl_chacha20poly1305_ipsec_mb, &gw_impl_sha1_ipsec_mb,
	&gw_impl_sha256_ipsec_mb,      &gw_impl_sha512_ipsec_mb,           &gw_impl_hmac_sha1_ipsec_mb,
	&gw_impl_hmac_sha256_ipsec_mb, &gw_impl_hmac_sha512_ipsec_mb,      &gw_impl_authenc_hmac_sha256_cbc_aes_ipsec_mb,
};
#define ROWS (sizeof rows / sizeof rows[0])

/* ---- what a thread has ---- */

typedef struct own {
	imb_mgr *mgr;
	uint8_t *scratch;
	size_t scratch_bytes;
} own;

static pthread_key_t key;
static __thread own *mine;

static void drop(void *p)
{
	own *o = (own *)p;
	if (o->mgr != NULL) lib.free(o->mgr);
	gw_free_wipe(o->scratch, o->scratch_bytes);
	gw_free_wipe(o, sizeof *o);
	mine = NULL;
}

static own *get_own(void)
{
	if (mine != NULL) return mine;
	own *o = (own *)gw_alloc(sizeof *o);
	if (o == NULL) return NULL;
	o->mgr = lib.alloc(0);
	if (o->mgr == NULL || pthread_setspecific(key, o) != 0) {
		drop(o);
		return NULL;
	}
	lib.init(o->mgr, NULL);
	return mine = o;
}

imb_mgr *gw_ipsec_mb(void)
{
	own *o = get_own();
	return o == NULL ? NULL : o->mgr;
}

uint8_t *gw_ipsec_mb_scratch(size_t bytes)
{
	own *o = get_own();
	if (o == NULL || o->scratch_bytes >= bytes) return o == NULL ? NULL : o->scratch;
	gw_free_wipe(o->scratch, o->scratch_bytes);
	o->scratch = (uint8_t *)gw_alloc(bytes);
	o->scratch_bytes = o->scratch == NULL ? 0 : bytes;
	return o->scratch;
}

/* ---- loading ---- */

static int refuse(gw_err *err, const char *why)
{
	snprintf(err->text, sizeof err->text, "%s", why);
	return -ENOENT;
}

static int open_library(gw_err *err)
{
	static const char *const names[] = {"libIPSec_MB.so.1", NULL};
	unsigned (*version)(void);
	void *library = gw_provider_open("GWBENCH_LIBIPSEC_MB", names);
	if (library == NULL) return refuse(err, "libIPSec_MB.so.1 is not installed");
	/* A function pointer read as data: POSIX says that dlsym's result may be used so. */
	*(void **)(void *)&version = dlsym(library, "imb_get_version");
	*(void **)(void *)&lib.alloc = dlsym(library, "alloc_mb_mgr");
	*(void **)(void *)&lib.free = dlsym(library, "free_mb_mgr");
	*(void **)(void *)&lib.init = dlsym(library, "init_mb_mgr_auto");
	if (version == NULL || lib.alloc == NULL || lib.free == NULL || lib.init == NULL)
		return refuse(err, "this libIPSec_MB lacks functions of version 1");
	if ((version() & ~0xffu) != VERSION(1, 3)) {
		snprintf(err->text, sizeof err->text, "libIPSec_MB %u.%u is installed; the layout of 1.3 is known here",
				 version() >> 16, version() >> 8 & 255);
		return -ENOENT;
	}
	snprintf(gw_ipsec_mb_isa, sizeof gw_ipsec_mb_isa, "intel-ipsec-mb %u.%u.%u, its choice", version() >> 16 & 255,
			 version() >> 8 & 255, version() & 255);
	if (pthread_key_create(&key, drop) != 0) return refuse(err, "no thread key is left");
	return 0;
}

int gw_provider_ipsec_mb(gw_err *err)
{
	static bool loaded;
	if (!loaded) {
		const int r = open_library(err);
		if (r != 0) return r;
		if (gw_ipsec_mb() == NULL) return refuse(err, "no memory for its manager");
		loaded = true;
	}
	for (size_t i = 0; i < ROWS; i++)
		if (gw_impl_add(rows[i]) != 0) return -ENOSPC;
	return ROWS;
}

#else

int gw_provider_ipsec_mb(gw_err *err)
{
	snprintf(err->text, sizeof err->text, "it is for x86-64");
	return -ENOENT;
}

#endif
