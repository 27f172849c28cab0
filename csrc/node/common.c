/* SPDX-License-Identifier: MIT
 * What vectors, differential and icount share: keys, facts about algorithms, test data.
 */
#include "node.h"

#include <stdlib.h>

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

int node_key_init(node_key *k, const gw_impl *impl, const uint8_t *key, size_t key_len, const uint8_t *mac_key,
				  size_t mac_key_len)
{
	memset(k, 0, sizeof *k);
	if (!impl->setkey) return key_len ? -EINVAL : 0;
	k->ctx_bytes = impl->key_ctx_bytes;
	k->ctx = gw_alloc(k->ctx_bytes);
	if (!k->ctx) return -ENOMEM;
	int rc = impl->setkey(k->ctx, key, key_len);
	if (!rc && impl->mac_setkey) {
		k->mac_ctx_bytes = impl->mac_ctx_bytes;
		k->mac_ctx = gw_alloc(k->mac_ctx_bytes);
		rc = k->mac_ctx ? impl->mac_setkey(k->mac_ctx, mac_key, mac_key_len) : -ENOMEM;
	}
	if (rc) node_key_wipe(k);
	return rc;
}

void node_key_wipe(node_key *k)
{
	if (k->ctx) gw_free_wipe(k->ctx, k->ctx_bytes);
	if (k->mac_ctx) gw_free_wipe(k->mac_ctx, k->mac_ctx_bytes);
	memset(k, 0, sizeof *k);
}

node_alg node_alg_of(const gw_impl *impl)
{
	node_alg a = {.block = 1};
	const char *alg = impl->alg;
	switch (impl->kind) {
	case GW_KIND_CIPHER:
		a.iv_bytes = starts(alg, "ecb(") ? 0 : 16;
		if (starts(alg, "ecb(") || starts(alg, "cbc(")) a.block = 16;
		if (starts(alg, "xts(")) a.min_bytes = 16;
		break;
	case GW_KIND_AEAD:
		a.iv_bytes = 12;
		a.tag_bytes = 16;
		break;
	case GW_KIND_AUTHENC:
		a.takes_mac_key = 1;
		if (strstr(alg, "cbc(")) a.block = 16;
		if (!strstr(alg, "null")) a.iv_bytes = 16;
		/* fall through */
	default: a.tag_bytes = strstr(alg, "sha512") ? 64 : strstr(alg, "sha1") ? 20 : 32;
	}
	return a;
}

const gw_impl *node_reference(const gw_impl *impl)
{
	for (size_t i = 0; i < gw_impl_count(); i++) {
		const gw_impl *r = gw_impl_at(i);
		if (!strcmp(r->tag, "generic") && !strcmp(r->alg, impl->alg)) return r;
	}
	return NULL;
}

uint64_t node_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void node_random_fill(uint64_t *state, void *to, size_t n)
{
	uint8_t *p = to;
	for (size_t i = 0; i < n; i += 8) {
		uint8_t word[8];
		gw_store_le64(word, node_random(state));
		memcpy(p + i, word, n - i < 8 ? n - i : 8);
	}
}
