/* SPDX-License-Identifier: MIT
 * Known answers of encrypt-then-MAC in one pass: a batch of unequal packets under several keys against the generic
 * cipher and the generic MAC, whose published answers were checked before; then opened, then forged.
 */
#include <stdio.h>

#include "known_answers.h"
#include "spans.h"

#define OPS     13
#define MAX     1456
#define HEADER  24 /* SPI, sequence number, IV */
#define TAG     16
#define KEYS    2
#define MAC_KEY 32
#define COLD    __attribute__((cold, noinline)) /* runs once: small, not fast */

typedef struct side {
	void *key[KEYS], *mac_key[KEYS]; /* expanded */
	gw_op ops[OPS];
	uint8_t packet[OPS][HEADER + MAX], tag[OPS][TAG], iv[OPS][16];
} side;

static COLD int fail(const gw_impl *impl, gw_err *err, const char *what)
{
	if (err != NULL)
		snprintf(err->text, sizeof err->text, "%s gives a wrong answer (%s): not used", impl->driver, what);
	return -EBADMSG;
}

/* "authenc(MAC,CIPHER)" -> the first of each in the table, which is the generic one. */
static COLD const gw_impl *named(const char *alg, char end)
{
	for (size_t i = 0; i < gw_impl_table_len; i++) {
		const size_t len = strlen(gw_impl_table[i]->alg);
		if (strncmp(alg, gw_impl_table[i]->alg, len) == 0 && alg[len] == end) return gw_impl_table[i];
	}
	return NULL;
}

static COLD bool find_halves(const gw_impl *impl, const gw_impl **cipher, const gw_impl **mac)
{
	const char *names = impl->alg + strlen("authenc(");
	*mac = named(names, ',');
	*cipher = *mac == NULL ? NULL : named(names + strlen((*mac)->alg) + 1, ')');
	return *cipher != NULL;
}

static size_t length_of(size_t i)
{
	static const uint16_t lens[] = {1408, 1408, 64, 16, 1440, 1408, 32, 1024, 272, 1408, 1392, 128, 48};
	return lens[i % (sizeof lens / sizeof lens[0])];
}

static COLD void place(side *s, const uint8_t *data)
{
	for (size_t i = 0; i < OPS; i++) {
		const size_t len = length_of(i), first = (len / 2) & ~(size_t)63;
		uint8_t *out = s->packet[i] + HEADER;
		memcpy(s->packet[i], data + i, HEADER);
		memcpy(s->iv[i], data + i + 8, 16);
		s->ops[i] = (gw_op){.key = s->key[i % 3 == 1],
							.mac_key = s->mac_key[i % 3 == 1],
							.in = {{data + i, first}, {data + i + first, len - first}},
							.n_in = 2,
							.out = out,
							.aad = s->packet[i],
							.aad_len = HEADER,
							.iv = s->iv[i],
							.iv_len = 16,
							.tag = s->tag[i],
							.tag_len = TAG,
							.flags = i % 2 ? GW_OP_ESN : 0,
							.esn = {1, 2, 3, (uint8_t)i}};
	}
}

static COLD void seal_by_halves(side *s, const gw_impl *cipher, const gw_impl *mac)
{
	cipher->encrypt(s->ops, OPS);
	for (size_t i = 0; i < OPS; i++) {
		gw_op hash = s->ops[i];
		hash.in[0] = (gw_span){s->packet[i], HEADER + length_of(i)};
		hash.n_in = 1;
		mac->encrypt(&hash, 1);
	}
}

static COLD int compare(const gw_impl *impl, side *got, const side *want, const uint8_t *data, gw_err *err)
{
	for (size_t i = 0; i < OPS; i++)
		if (got->ops[i].status != 0 || memcmp(got->tag[i], want->tag[i], TAG) != 0 ||
			memcmp(got->packet[i], want->packet[i], HEADER + length_of(i)) != 0)
			return fail(impl, err, "a batch");
	for (size_t i = 0; i < OPS; i++) {
		got->ops[i].in[0] = (gw_span){got->ops[i].out, length_of(i)}; /* in place, as packets are opened */
		got->ops[i].n_in = 1;
	}
	got->tag[4][0] ^= 0x40;
	impl->decrypt(got->ops, OPS);
	for (size_t i = 0; i < OPS; i++) {
		if (i == 4 && got->ops[i].status != -EBADMSG) return fail(impl, err, "a forged tag was accepted");
		if (i == 4) continue;
		if (got->ops[i].status != 0 || memcmp(got->ops[i].out, data + i, length_of(i)) != 0)
			return fail(impl, err, "a batch, decryption");
	}
	return 0;
}

static COLD int set_keys(side *s, const gw_impl *cipher, const gw_impl *mac, const uint8_t *raw, size_t key_len)
{
	int r = 0;
	for (int k = 0; k < KEYS && r == 0; k++) {
		const uint8_t *mac_raw = raw + 128 + MAC_KEY * k;
		r = cipher->setkey(s->key[k], raw + 32 * k, key_len);
		if (r == 0) r = (mac == NULL ? cipher->mac_setkey : mac->setkey)(s->mac_key[k], mac_raw, MAC_KEY);
	}
	return r;
}

COLD int gw_known_answers_authenc(const gw_impl *impl, bool spoil, gw_err *err)
{
	const gw_impl *cipher, *mac;
	uint8_t data[MAX + OPS + HEADER];
	uint32_t x = 2463534242u;
	int r = 0;

	if (!find_halves(impl, &cipher, &mac)) return fail(impl, err, "no known answer exists");
	side *s = (side *)gw_alloc(2 * sizeof *s);
	if (s == NULL) return -ENOMEM;
	for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)((x = x * 1103515245u + 12345u) >> 16);
	const size_t key_bytes[2] = {impl->key_ctx_bytes, cipher->key_ctx_bytes};
	const size_t mac_bytes[2] = {impl->mac_ctx_bytes, mac->key_ctx_bytes};
	for (int i = 0; i < 2 * KEYS && r == 0; i++) {
		s[i / 2].key[i % 2] = gw_alloc(key_bytes[i / 2]);
		s[i / 2].mac_key[i % 2] = gw_alloc(mac_bytes[i / 2]);
		if (s[i / 2].key[i % 2] == NULL || s[i / 2].mac_key[i % 2] == NULL) r = -ENOMEM;
	}
	for (size_t key_len = 16; key_len <= 32 && r == 0; key_len += 8) {
		if (set_keys(&s[0], impl, NULL, data, key_len) != 0 || set_keys(&s[1], cipher, mac, data, key_len) != 0) {
			r = fail(impl, err, "a key was refused");
			break;
		}
		place(&s[0], data);
		place(&s[1], data);
		impl->encrypt(s[0].ops, OPS);
		seal_by_halves(&s[1], cipher, mac);
		if (spoil) s[0].tag[0][0] ^= 1;
		r = compare(impl, &s[0], &s[1], data, err);
	}
	for (int i = 0; i < KEYS; i++) {
		if (s[0].key[i] != NULL && impl->unsetkey != NULL) impl->unsetkey(s[0].key[i]);
		if (s[0].mac_key[i] != NULL && impl->mac_unsetkey != NULL) impl->mac_unsetkey(s[0].mac_key[i]);
	}
	for (int i = 0; i < 2 * KEYS; i++) {
		gw_free_wipe(s[i / 2].key[i % 2], key_bytes[i / 2]);
		gw_free_wipe(s[i / 2].mac_key[i % 2], mac_bytes[i / 2]);
	}
	gw_free_wipe(s, 2 * sizeof *s);
	return r;
}
