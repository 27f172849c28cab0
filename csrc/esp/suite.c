/* SPDX-License-Identifier: MIT
 * The one suite table. Python reads it and never recomputes what it says.
 *
 * A row says what goes over the wire; whether anything here can run it is asked of the implementation table, so a
 * suite whose algorithms nobody has written yet is known, and says that it cannot run.
 */
#include "suite.h"

#include <errno.h>
#include <stdio.h>

/*             name, enc_alg, auth_alg, key, salt, auth key, iv, block, icv, bench_only, legacy */
#define GCM(bits)                                                                                                      \
	{                                                                                                                  \
		{"aes" #bits "gcm16", "gcm(aes)", "", bits / 8, 4, 0, 8, 4, 16, 0, 0}, GW_IV_AEAD,                             \
		{                                                                                                              \
			8, 12                                                                                                      \
		}                                                                                                              \
	}
#define CBC(bits, mac, alg, mac_key, icv, also, legacy)                                                                \
	{                                                                                                                  \
		{"aes" #bits "-" mac, "cbc(aes)", alg, bits / 8, 0, mac_key, 16, 16, icv, 0, legacy}, GW_IV_CBC,               \
		{                                                                                                              \
			also, 0                                                                                                    \
		}                                                                                                              \
	}
#define CTR(bits)                                                                                                      \
	{                                                                                                                  \
		{"aes" #bits "-ctr-sha256", "ctr(aes)", "hmac(sha256)", bits / 8, 4, 32, 8, 4, 16, 0, 0}, GW_IV_CTR,           \
		{                                                                                                              \
			12, 0                                                                                                      \
		}                                                                                                              \
	}
#define CBC_ALONE(bits)                                                                                                \
	{                                                                                                                  \
		{"aes" #bits "-none", "cbc(aes)", "", bits / 8, 0, 0, 16, 16, 0, 1, 0}, GW_IV_CBC,                             \
		{                                                                                                              \
			0, 0                                                                                                       \
		}                                                                                                              \
	}
#define CTR_ALONE(bits)                                                                                                \
	{                                                                                                                  \
		{"aes" #bits "-ctr-none", "ctr(aes)", "", bits / 8, 4, 0, 8, 4, 0, 1, 0}, GW_IV_CTR,                           \
		{                                                                                                              \
			0, 0                                                                                                       \
		}                                                                                                              \
	}

static const gw_suite suites[] = {
	GCM(128),
	GCM(192),
	GCM(256),
	/* 96-bit ICVs: Linux before 2.6.33 and what still talks to it */
	CBC(128, "sha256", "hmac(sha256)", 32, 16, 12, 0),
	CBC(192, "sha256", "hmac(sha256)", 32, 16, 12, 0),
	CBC(256, "sha256", "hmac(sha256)", 32, 16, 12, 0),
	{{"chacha20poly1305", "rfc7539(chacha20,poly1305)", "", 32, 4, 0, 8, 4, 16, 0, 0}, GW_IV_AEAD, {0, 0}},
	{{"null-sha256", "null", "hmac(sha256)", 0, 0, 32, 0, 4, 16, 0, 0}, GW_IV_NONE, {12, 0}},
	CTR(128),
	CTR(192),
	CTR(256),
	CBC(128, "sha512", "hmac(sha512)", 64, 32, 0, 0),
	CBC(192, "sha512", "hmac(sha512)", 64, 32, 0, 0),
	CBC(256, "sha512", "hmac(sha512)", 64, 32, 0, 0),
	CBC(128, "sha1", "hmac(sha1)", 20, 12, 0, 1),
	CBC(192, "sha1", "hmac(sha1)", 20, 12, 0, 1),
	CBC(256, "sha1", "hmac(sha1)", 20, 12, 0, 1),
	/* neither cipher nor integrity: the cost of the path alone */
	{{"null", "null", "", 0, 0, 0, 0, 4, 0, 1, 0}, GW_IV_NONE, {0, 0}},
	/* a cipher without integrity: what it costs by itself */
	CBC_ALONE(128),
	CBC_ALONE(192),
	CBC_ALONE(256),
	CTR_ALONE(128),
	CTR_ALONE(192),
	CTR_ALONE(256),
};

size_t gw_suite_count(void)
{
	return sizeof(suites) / sizeof(suites[0]);
}

const gw_suite *gw_suite_row(int suite)
{
	return suite >= 0 && (size_t)suite < gw_suite_count() ? &suites[suite] : NULL;
}

int gw_suite_at(size_t i, gw_suite_info *out)
{
	if (i >= gw_suite_count()) return -ENOENT;
	*out = suites[i].info;
	return 0;
}

int gw_suite_find(const char *name)
{
	for (size_t i = 0; i < gw_suite_count(); i++)
		if (strcmp(suites[i].info.name, name) == 0) return (int)i;
	return -ENOENT;
}

int gw_suite_icv(const gw_suite *s, uint32_t icv_bytes)
{
	if (icv_bytes == 0 || icv_bytes == s->info.icv_bytes) return (int)s->info.icv_bytes;
	if (icv_bytes == s->icv_also[0] || icv_bytes == s->icv_also[1]) return (int)icv_bytes;
	return -EINVAL;
}

static bool implemented(const char *alg)
{
	if (!alg[0] || strcmp(alg, "null") == 0) return true;
	for (size_t i = 0; i < gw_impl_count(); i++)
		if (strcmp(gw_impl_at(i)->alg, alg) == 0 && gw_impl_selectable(gw_impl_at(i))) return true;
	return false;
}

int gw_suite_transform(const gw_suite *s, const char *wish, gw_transform *out, gw_err *err)
{
	int rc;

	err->text[0] = 0;
	rc = gw_transform_resolve(s->info.enc_alg, s->info.auth_alg, wish ? wish : "auto", out, err);
	if (rc == 0) return 0;
	/* That no wish could be met says more than that this one was not. */
	const char *missing = !implemented(s->info.enc_alg)    ? s->info.enc_alg
						  : !implemented(s->info.auth_alg) ? s->info.auth_alg
														   : NULL;
	if (missing) {
		snprintf(err->text, sizeof(err->text), "suite %s cannot run here: no implementation of %s", s->info.name,
				 missing);
		return -EOPNOTSUPP;
	}
	return rc;
}

int gw_suite_resolve(int suite, const char *wish, char *text, size_t text_len, gw_err *err)
{
	const gw_suite *s = gw_suite_row(suite);
	gw_transform t;
	int rc;

	if (!s) {
		snprintf(err->text, sizeof(err->text), "no suite has the number %d", suite);
		return -ENOENT;
	}
	rc = gw_suite_transform(s, wish, &t, err);
	if (rc == 0) gw_transform_name(&t, text, text_len);
	return rc;
}

int gw_suite_check_keys(int suite, size_t enc_key_bytes, size_t auth_key_bytes, size_t salt_bytes, gw_err *err)
{
	const gw_suite *s = gw_suite_row(suite);

	if (!s) {
		snprintf(err->text, sizeof(err->text), "no suite has the number %d", suite);
		return -EINVAL;
	}
	const struct {
		const char *what;
		size_t got, want;
	} keys[] = {{"encryption key", enc_key_bytes, s->info.enc_key_bytes},
				{"authentication key", auth_key_bytes, s->info.auth_key_bytes},
				{"salt", salt_bytes, s->info.salt_bytes}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].got == keys[i].want) continue;
		snprintf(err->text, sizeof(err->text), "%s takes a %s of %zu bytes, not %zu", s->info.name, keys[i].what,
				 keys[i].want, keys[i].got);
		return -EINVAL;
	}
	return 0;
}
