/* SPDX-License-Identifier: MIT
 * What an SA runs: an AEAD as it is, or a cipher and a MAC composed. Composition goes in chunks of packets, so that
 * the second pass finds the first one's output still in the cache.
 */
#include <stdio.h>
#include <stdlib.h>

#include "slow.h"
#include "spans.h"

#define CHUNK_OPS 32
/* Output bytes of a chunk: within the L2 of a PC, and within twice the 32 KiB L1 of a router. */
#define CHUNK_BYTES (48u * 1024)

struct gw_transform_key {
	size_t bytes;
	void *cipher, *mac;
	void (*unset_cipher)(void *ctx);
	void (*unset_mac)(void *ctx);
};

/* ---- choice ---- */

static bool has_word(const char *wish, const char *driver)
{
	const size_t len = strlen(driver);
	for (const char *p = wish; (p = strstr(p, driver)) != NULL; p += len) {
		const bool starts = p == wish || p[-1] == '+' || p[-1] == ' ';
		if (starts && (p[len] == '\0' || p[len] == '+' || p[len] == ' ')) return true;
	}
	return false;
}

typedef enum wish_kind { AUTO, ACCELERATED, TAG, DRIVERS } wish_kind;

static wish_kind kind_of(const char *wish)
{
	if (strcmp(wish, "auto") == 0) return AUTO;
	if (strcmp(wish, "accelerated") == 0) return ACCELERATED;
	return strchr(wish, '/') != NULL ? DRIVERS : TAG;
}

/* Does a precede b under this wish? A wished tag first; then, without one, constant time; then priority. */
static bool better(const gw_impl *a, const gw_impl *b, wish_kind kind, const char *wish)
{
	if (b == NULL) return true;
	if (kind == TAG) {
		const bool ta = strcmp(a->tag, wish) == 0, tb = strcmp(b->tag, wish) == 0;
		if (ta != tb) return ta;
	}
	if (kind == ACCELERATED) {
		const bool ga = strcmp(a->tag, "generic") == 0, gb = strcmp(b->tag, "generic") == 0;
		if (ga != gb) return gb;
	} else if (a->constant_time != b->constant_time) {
		return a->constant_time;
	}
	/* What was measured decides among equals; nothing was measured across algorithms. */
	if (strcmp(a->alg, b->alg) == 0 && gw_impl_preferred(a) != gw_impl_preferred(b)) return gw_impl_preferred(a);
	return a->priority > b->priority;
}

static const gw_impl *best(const char *alg, wish_kind kind, const char *wish)
{
	const gw_impl *found = NULL;
	for (size_t i = 0; i < gw_impl_count(); i++) {
		const gw_impl *impl = gw_impl_at(i);
		if (strcmp(impl->alg, alg) != 0 || !gw_impl_selectable(impl)) continue;
		if (kind == DRIVERS && !has_word(wish, impl->driver)) continue;
		if (impl->by_name_only && kind != DRIVERS && (kind != TAG || strcmp(impl->tag, wish) != 0)) continue;
		if (better(impl, found, kind, wish)) found = impl;
	}
	return found;
}

/* Names what could have been wished for: the tags of one or two algorithms. */
static void list_choices(const char *a, const char *b, char *text, size_t len)
{
	size_t at = 0;
	for (size_t i = 0; i < gw_impl_count() && at + 32 < len; i++) {
		const gw_impl *impl = gw_impl_at(i);
		bool listed = !gw_impl_selectable(impl) || (strcmp(impl->alg, a) != 0 && strcmp(impl->alg, b) != 0);
		for (const char *p = text; !listed && *p == ','; p += strcspn(p + 2, ",") + 2)
			listed = strncmp(p + 2, impl->tag, strlen(impl->tag)) == 0 && strcspn(p + 2, ",") == strlen(impl->tag);
		if (!listed) at += (size_t)snprintf(text + at, len - at, ", %s", impl->tag);
	}
}

static int refuse(gw_err *err, int code, const char *enc, const char *auth, const char *wish)
{
	if (err == NULL) return code;
	char choices[160] = "";
	list_choices(enc, auth, choices, sizeof choices);
	snprintf(err->text, sizeof err->text, "%s '%.40s'; there are: auto, accelerated%.140s",
			 code == -ENOENT ? "no implementation is called" : "this machine cannot run", wish, choices);
	return code;
}

/* Is the wish known for this algorithm at all, runnable or not? */
static bool known(const char *alg, wish_kind kind, const char *wish)
{
	for (size_t i = 0; i < gw_impl_count(); i++) {
		const gw_impl *impl = gw_impl_at(i);
		if (strcmp(impl->alg, alg) != 0) continue;
		if (kind == TAG ? strcmp(impl->tag, wish) == 0 : kind == DRIVERS && has_word(wish, impl->driver)) return true;
	}
	return false;
}

static bool serves(const gw_impl *impl, wish_kind kind, const char *wish)
{
	if (impl == NULL) return false;
	return kind == TAG ? strcmp(impl->tag, wish) == 0 : true;
}

int gw_transform_resolve(const char *enc_alg, const char *auth_alg, const char *wish, gw_transform *out, gw_err *err)
{
	const bool null_enc = strcmp(enc_alg, "null") == 0, null_auth = auth_alg[0] == '\0';
	*out = (gw_transform){0};
	if (wish == NULL || wish[0] == '\0') wish = "auto";
	const wish_kind kind = kind_of(wish);
	if (null_enc && null_auth) return 0;

	char both[64];
	snprintf(both, sizeof both, "authenc(%s,%s)", auth_alg, enc_alg);
	const gw_impl *authenc = null_enc || null_auth ? NULL : best(both, kind, wish);
	const gw_impl *cipher = null_enc ? NULL : best(enc_alg, kind, wish);
	const gw_impl *mac = null_auth ? NULL : best(auth_alg, kind, wish);

	const bool parts = (null_enc || cipher != NULL) && (null_auth || mac != NULL);
	bool good = serves(cipher, kind, wish) || serves(mac, kind, wish);
	/* "auto" and "accelerated" take the fused one where its priority is above the cipher's. */
	if (authenc != NULL && serves(authenc, kind, wish) &&
		(kind == DRIVERS || !parts || !good || better(authenc, cipher, kind, wish))) {
		out->cipher = authenc;
		return 0;
	}
	if (kind == DRIVERS) good = parts;
	if (parts && good) {
		out->cipher = cipher;
		out->mac = mac;
		return 0;
	}
	const bool exists = kind == AUTO || kind == ACCELERATED || known(enc_alg, kind, wish) ||
						known(auth_alg, kind, wish) || known(both, kind, wish);
	return refuse(err, exists ? -EOPNOTSUPP : -ENOENT, enc_alg, auth_alg, wish);
}

void gw_transform_name(const gw_transform *t, char *text, size_t len)
{
	if (t->cipher != NULL && t->mac != NULL)
		snprintf(text, len, "%s + %s", t->cipher->driver, t->mac->driver);
	else if (t->cipher != NULL || t->mac != NULL)
		snprintf(text, len, "%s", t->cipher != NULL ? t->cipher->driver : t->mac->driver);
	else
		snprintf(text, len, "null");
}

/* ---- keys ---- */

gw_transform_key *gw_transform_key_new(const gw_transform *t, const uint8_t *enc_key, size_t enc_len,
									   const uint8_t *auth_key, size_t auth_len, gw_err *err)
{
	const size_t head = (sizeof(gw_transform_key) + 63) & ~(size_t)63;
	const size_t cipher_bytes = t->cipher == NULL ? 0 : (t->cipher->key_ctx_bytes + 63) & ~(size_t)63;
	const bool authenc = t->cipher != NULL && t->cipher->mac_setkey != NULL;
	const size_t mac_bytes = authenc ? t->cipher->mac_ctx_bytes : t->mac == NULL ? 0 : t->mac->key_ctx_bytes;
	const size_t bytes = head + cipher_bytes + mac_bytes;
	uint8_t *p = (uint8_t *)gw_alloc(bytes);
	if (p == NULL) {
		if (err != NULL) snprintf(err->text, sizeof err->text, "out of memory for a key of %zu bytes", bytes);
		return NULL;
	}
	gw_transform_key *k = (gw_transform_key *)(void *)p;
	k->bytes = bytes;
	k->cipher = cipher_bytes ? p + head : NULL;
	k->mac = mac_bytes ? p + head + cipher_bytes : NULL;
	k->unset_cipher = t->cipher == NULL ? NULL : t->cipher->unsetkey;
	k->unset_mac = authenc ? t->cipher->mac_unsetkey : t->mac == NULL ? NULL : t->mac->unsetkey;

	const char *bad = NULL;
	if (t->cipher != NULL && t->cipher->setkey(k->cipher, enc_key, enc_len) != 0) bad = t->cipher->alg;
	if (authenc && t->cipher->mac_setkey(k->mac, auth_key, auth_len) != 0) bad = t->cipher->alg;
	if (t->mac != NULL && t->mac->setkey(k->mac, auth_key, auth_len) != 0) bad = t->mac->alg;
	if (bad == NULL) return k;
	if (err != NULL) snprintf(err->text, sizeof err->text, "%s: no such key length (%zu, %zu)", bad, enc_len, auth_len);
	gw_transform_key_free(k);
	return NULL;
}

void gw_transform_key_free(gw_transform_key *k)
{
	if (k == NULL) return;
	if (k->unset_cipher != NULL) k->unset_cipher(k->cipher);
	if (k->unset_mac != NULL) k->unset_mac(k->mac);
	gw_free_wipe(k, k->bytes);
}

const void *gw_transform_cipher_key(const gw_transform_key *k)
{
	return k->cipher;
}
const void *gw_transform_mac_key(const gw_transform_key *k)
{
	return k->mac;
}

/* ---- running ---- */

static size_t chunk(const gw_op *ops, size_t n)
{
	size_t i = 0, bytes = 0;
	for (; i < n && i < CHUNK_OPS && bytes < CHUNK_BYTES; i++) bytes += gw_op_len(&ops[i]);
	return i;
}

static void copy_out(const gw_op *op)
{
	uint8_t *out = op->out;
	for (uint32_t s = 0; s < op->n_in; s++) {
		if (out != op->in[s].data && op->in[s].len > 0) memmove(out, op->in[s].data, op->in[s].len);
		out += op->in[s].len;
	}
}

/* The MAC's view of an op: SPI | seq | IV stand right before the ciphertext, so it is one span. Field by field, and
 * only what a MAC reads: clearing the whole op for each packet took 15 to 20 ns. */
static inline void mac_view(gw_op *view, const gw_op *op, size_t len, uint8_t *tag)
{
	view->mac_key = op->mac_key;
	view->in[0].data = op->aad;
	view->in[0].len = op->aad_len + len;
	view->n_in = 1;
	view->tag = tag;
	view->tag_len = op->tag_len;
	view->flags = op->flags & GW_OP_ESN;
	memcpy(view->esn, op->esn, sizeof view->esn);
}

static bool whole(const gw_transform *t)
{
	return t->cipher != NULL && (t->cipher->kind == GW_KIND_AEAD || t->cipher->kind == GW_KIND_AUTHENC);
}

void gw_transform_seal(const gw_transform *t, gw_op *ops, size_t n)
{
	if (whole(t)) {
		gw_impl_encrypt(t->cipher, ops, n);
		return;
	}
	while (n > 0) {
		const size_t m = chunk(ops, n);
		gw_op mac[CHUNK_OPS];
		if (t->cipher != NULL) gw_impl_encrypt(t->cipher, ops, m);
		for (size_t i = 0; i < m; i++) {
			if (t->cipher == NULL) copy_out(&ops[i]);
			ops[i].status = 0;
			mac_view(&mac[i], &ops[i], gw_op_len(&ops[i]), ops[i].tag);
		}
		if (t->mac != NULL) gw_impl_encrypt(t->mac, mac, m);
		ops += m;
		n -= m;
	}
}

void gw_transform_open(const gw_transform *t, gw_op *ops, size_t n)
{
	if (whole(t)) {
		gw_impl_decrypt(t->cipher, ops, n);
		return;
	}
	while (n > 0) {
		const size_t m = chunk(ops, n);
		gw_op view[CHUNK_OPS];
		uint8_t tags[CHUNK_OPS][64];
		size_t good = 0;
		for (size_t i = 0; i < m; i++) {
			ops[i].status = 0;
			mac_view(&view[i], &ops[i], gw_op_len(&ops[i]), tags[i]);
		}
		if (t->mac != NULL) {
			gw_impl_encrypt(t->mac, view, m);
			for (size_t i = 0; i < m; i++)
				if (!gw_equal_ct(tags[i], ops[i].tag, ops[i].tag_len)) ops[i].status = -EBADMSG;
		}
		/* Only what is authentic is decrypted. */
		for (size_t i = 0; i < m; i++)
			if (ops[i].status == 0) view[good++] = ops[i];
		if (t->cipher != NULL)
			gw_impl_decrypt(t->cipher, view, good);
		else
			for (size_t i = 0; i < good; i++) copy_out(&view[i]);
		ops += m;
		n -= m;
	}
}
