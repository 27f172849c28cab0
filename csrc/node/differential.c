/* SPDX-License-Identifier: MIT
 * differential: every implementation against generic on random batches: lengths, span splits, offsets, batch sizes,
 * mixed keys, in place and not, wrong tags, guard bytes around the output. The seed is printed; the same seed makes
 * the same batches.
 */
#include <stdio.h>
#include <stdlib.h>

#include "node.h"

#define MAX_OPS   24
#define MAX_KEYS  4
#define MAX_BYTES 4096
#define FRONT     192 /* room for aad and guard */
#define ROOM      (FRONT + MAX_BYTES + 128)
#define GUARD     0xa5

/* One operation, as both sides get it. */
typedef struct spec {
	size_t len, key, offset, cuts[2];
	bool in_place;
	uint32_t flags, aad_len, tag_len;
	uint8_t aad[64], iv[16], tag[64], esn[4];
	uint8_t data[MAX_BYTES];
} spec;

/* Who runs: one implementation, or generic cipher + generic mac where no generic authenc exists. */
typedef struct side {
	const gw_impl *impl;
	gw_transform pair;
	node_key keys[MAX_KEYS];
	gw_transform_key *pair_keys[MAX_KEYS];
	gw_op ops[MAX_OPS];
	uint8_t *mem, *in_mem; /* MAX_OPS * ROOM each */
	uint8_t iv[MAX_OPS][16], tag[MAX_OPS][64];
} side;

typedef struct test {
	const gw_impl *impl;
	node_alg alg;
	bool hashes, tagged, macs;      /* hash or mac; aead or authenc; mac or authenc */
	size_t key_lens[8], n_key_lens; /* those that setkey accepts; none: no key, or any length (mac) */
	side subject, reference;
	spec *specs; /* MAX_OPS */
	uint64_t rng;
} test;

static size_t below(test *t, size_t n)
{
	return (size_t)(node_random(&t->rng) % n);
}

/* ---- one side -------------------------------------------------------------------------------------------------- */

static bool side_init(side *s, const gw_impl *impl)
{
	s->impl = impl;
	s->mem = gw_alloc(MAX_OPS * ROOM);
	s->in_mem = gw_alloc(MAX_OPS * ROOM);
	return s->mem && s->in_mem;
}

static int side_set_key(side *s, size_t i, const uint8_t *key, size_t len, const uint8_t *mac_key, size_t mac_len)
{
	gw_err err;
	if (s->impl) return node_key_init(&s->keys[i], s->impl, key, len, mac_key, mac_len);
	s->pair_keys[i] = gw_transform_key_new(&s->pair, key, len, mac_key, mac_len, &err);
	return s->pair_keys[i] ? 0 : -EINVAL;
}

static void side_drop_keys(side *s)
{
	for (size_t i = 0; i < MAX_KEYS; i++) {
		node_key_wipe(&s->keys[i]);
		if (s->pair_keys[i]) gw_transform_key_free(s->pair_keys[i]);
		s->pair_keys[i] = NULL;
	}
}

static void side_free(side *s)
{
	side_drop_keys(s);
	if (s->mem) gw_free_wipe(s->mem, MAX_OPS * ROOM);
	if (s->in_mem) gw_free_wipe(s->in_mem, MAX_OPS * ROOM);
}

static void side_place(side *s, size_t i, const spec *p)
{
	gw_op *op = &s->ops[i];
	uint8_t *base = s->mem + i * ROOM, *out = base + FRONT + p->offset;
	uint8_t *in = p->in_place ? out : s->in_mem + i * ROOM + p->offset / 2;
	const node_key *k = &s->keys[p->key];
	memset(base, GUARD, ROOM);
	*op = (gw_op){.out = out,
				  .aad = memcpy(out - p->aad_len, p->aad, p->aad_len),
				  .aad_len = p->aad_len,
				  .iv = memcpy(s->iv[i], p->iv, sizeof p->iv),
				  .tag = memcpy(s->tag[i], p->tag, sizeof p->tag),
				  .tag_len = p->tag_len,
				  .flags = p->flags};
	op->key = s->impl ? k->ctx : gw_transform_cipher_key(s->pair_keys[p->key]);
	op->mac_key = !s->impl ? gw_transform_mac_key(s->pair_keys[p->key]) : k->mac_ctx ? k->mac_ctx : k->ctx;
	memcpy(op->esn, p->esn, sizeof op->esn);
	memcpy(in, p->data, p->len);
	for (size_t at = 0, c = 0; c < 3; c++) {
		size_t end = c < 2 ? p->cuts[c] : p->len;
		if (end == at && !(c == 2 && !op->n_in)) continue;
		op->in[op->n_in++] = (gw_span){in + at, end - at};
		at = end;
	}
}

static void side_iv_len(side *s, size_t n, size_t iv_len)
{
	for (size_t i = 0; i < n; i++) s->ops[i].iv_len = (uint32_t)iv_len;
}

static int side_run(side *s, int dir, size_t n)
{
	if (s->impl) return gw_impl_run(s->impl, dir, s->ops, n);
	if (dir)
		gw_transform_seal(&s->pair, s->ops, n);
	else
		gw_transform_open(&s->pair, s->ops, n);
	return 0;
}

/* ---- random batches -------------------------------------------------------------------------------------------- */

static size_t pick_length(test *t)
{
	size_t n = 0;
	switch (below(t, 4)) {
	case 0: n = below(t, 130); break;
	case 1: n = 16 * below(t, 40); break;
	case 2: n = 1300 + below(t, 200); break;
	case 3: n = below(t, MAX_BYTES + 1); break;
	}
	n -= n % t->alg.block;
	return n < t->alg.min_bytes ? t->alg.min_bytes : n;
}

static bool set_keys(test *t, size_t n_keys)
{
	uint8_t key[256], mac_key[32];
	for (size_t k = 0; k < n_keys; k++) {
		size_t len = t->impl->kind == GW_KIND_MAC ? 1 + below(t, 200) : 0;
		if (t->n_key_lens) len = t->key_lens[below(t, t->n_key_lens)];
		node_random_fill(&t->rng, key, sizeof key);
		node_random_fill(&t->rng, mac_key, sizeof mac_key);
		if (side_set_key(&t->subject, k, key, len, mac_key, sizeof mac_key)) return false;
		if (side_set_key(&t->reference, k, key, len, mac_key, sizeof mac_key)) return false;
	}
	return true;
}

static void pick_spec(test *t, spec *p, size_t len, size_t n_keys, uint32_t flags, bool opening)
{
	p->len = len;
	p->key = below(t, n_keys);
	p->offset = below(t, 17);
	p->in_place = below(t, 2) || opening;
	p->flags = flags;
	p->aad_len = t->impl->kind == GW_KIND_AUTHENC ? 24 : t->impl->kind == GW_KIND_AEAD ? (uint32_t)below(t, 40) : 0;
	p->tag_len = (uint32_t)(t->macs && below(t, 2) ? 16 : t->alg.tag_bytes);
	node_random_fill(&t->rng, p->data, len);
	node_random_fill(&t->rng, p->aad, sizeof p->aad);
	node_random_fill(&t->rng, p->iv, sizeof p->iv);
	node_random_fill(&t->rng, p->esn, sizeof p->esn);
	if (!below(t, 4)) memset(p->iv + 4, 0xff, 11); /* a counter that is about to wrap */
	memset(p->tag, 0, sizeof p->tag);
	for (int c = 0; c < 2; c++) p->cuts[c] = !opening && below(t, 2) ? below(t, len / 64 + 1) * 64 : 0;
	if (p->cuts[0] > p->cuts[1]) p->cuts[1] = p->cuts[0];
}

/* Opening needs something sealed: by the reference; a quarter of the tags are then damaged. */
static void seal_specs(test *t, size_t n)
{
	for (size_t i = 0; i < n; i++) side_place(&t->reference, i, &t->specs[i]);
	side_iv_len(&t->reference, n, t->alg.iv_bytes);
	side_run(&t->reference, 1, n);
	for (size_t i = 0; i < n; i++) {
		spec *p = &t->specs[i];
		memcpy(p->data, t->reference.ops[i].out, p->len);
		memcpy(p->tag, t->reference.ops[i].tag, sizeof p->tag);
		if (!below(t, 4)) p->tag[below(t, p->tag_len)] ^= (uint8_t)(1u << below(t, 8));
	}
}

static const char *compare_op(const test *t, size_t i, bool opening)
{
	const gw_op *a = &t->subject.ops[i], *b = &t->reference.ops[i];
	const uint8_t *base = t->subject.mem + i * ROOM, *end = base + ROOM;
	size_t len = t->hashes ? 0 : t->specs[i].len;
	if (a->status != b->status) return "status";
	if (t->alg.tag_bytes && !opening && memcmp(a->tag, b->tag, a->tag_len)) return "tag";
	if ((a->flags & GW_OP_IV_NONCE) && memcmp(a->iv, b->iv, 16)) return "iv";
	if (!a->status && memcmp(a->out, b->out, len)) return "output";
	if (memcmp(a->out - a->aad_len, t->specs[i].aad, a->aad_len)) return "aad changed";
	for (const uint8_t *p = base; p < a->out - a->aad_len; p++)
		if (*p != GUARD) return "bytes before the output changed";
	for (const uint8_t *p = a->out + t->specs[i].len; p < end; p++)
		if (*p != GUARD) return "bytes after the output changed";
	return NULL;
}

/* One batch in one direction; NULL when both sides agree. */
static const char *one_round(test *t, int dir, size_t *ops)
{
	size_t n = 1 + below(t, below(t, 2) ? MAX_OPS : 3), n_keys = 1 + below(t, MAX_KEYS), common = pick_length(t);
	bool even = below(t, 2), opening = t->tagged && !dir; /* even: one length, as full-sized packets are */
	uint32_t flags = 0;
	const char *wrong = NULL;
	if (t->macs && below(t, 2)) flags |= GW_OP_ESN;
	if (dir && strstr(t->impl->alg, "cbc(") && below(t, 2)) flags |= GW_OP_IV_NONCE;
	if (!set_keys(t, n_keys)) wrong = "setkey";
	for (size_t i = 0; i < n && !wrong; i++)
		pick_spec(t, &t->specs[i], even ? common : pick_length(t), n_keys, flags, opening);
	if (!wrong && opening) seal_specs(t, n);
	for (size_t i = 0; i < n && !wrong; i++) {
		side_place(&t->subject, i, &t->specs[i]);
		side_place(&t->reference, i, &t->specs[i]);
	}
	if (!wrong) {
		side_iv_len(&t->subject, n, t->alg.iv_bytes);
		side_iv_len(&t->reference, n, t->alg.iv_bytes);
		if (side_run(&t->subject, dir, n) || side_run(&t->reference, dir, n)) wrong = "no such operation";
	}
	for (size_t i = 0; i < n && !wrong; i++)
		if ((wrong = compare_op(t, i, opening)))
			printf("op %zu of %zu: %zu bytes, offset %zu, cuts %zu %zu, flags %u\n", i, n, t->specs[i].len,
				   t->specs[i].offset, t->specs[i].cuts[0], t->specs[i].cuts[1], (unsigned)flags);
	side_drop_keys(&t->subject);
	side_drop_keys(&t->reference);
	*ops += n;
	return wrong;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* "authenc(hmac(sha256),cbc(aes))" -> the generic implementations of its two halves. */
static bool find_pair(const char *alg, gw_transform *pair)
{
	char mac[48], cipher[48];
	const char *comma = strchr(alg, ','), *open = strchr(alg, '(');
	if (!comma || !open || strlen(alg) >= sizeof mac) return false;
	snprintf(mac, sizeof mac, "%.*s", (int)(comma - open - 1), open + 1);
	snprintf(cipher, sizeof cipher, "%.*s", (int)(strlen(comma + 1) - 1), comma + 1);
	gw_impl want_mac = {.alg = mac}, want_cipher = {.alg = cipher};
	pair->mac = node_reference(&want_mac);
	pair->cipher = node_reference(&want_cipher);
	return pair->mac && pair->cipher;
}

static void find_key_lengths(test *t)
{
	static const uint8_t zero[64];
	static const size_t lens[] = {16, 24, 32, 36, 48, 64};
	for (size_t i = 0; i < sizeof lens / sizeof lens[0] && t->impl->kind != GW_KIND_MAC; i++) {
		node_key k;
		if (node_key_init(&k, t->impl, zero, lens[i], zero, 32)) continue;
		node_key_wipe(&k);
		t->key_lens[t->n_key_lens++] = lens[i];
	}
}

static int test_impl(const gw_impl *impl, uint64_t seed, size_t rounds)
{
	test *t = calloc(1, sizeof *t);
	const char *wrong = NULL;
	size_t ops = 0, round = 0;
	const gw_impl *reference = node_reference(impl);
	if (!t) return -ENOMEM;
	t->impl = impl;
	t->alg = node_alg_of(impl);
	t->macs = impl->kind == GW_KIND_MAC || impl->kind == GW_KIND_AUTHENC;
	t->tagged = impl->kind == GW_KIND_AEAD || impl->kind == GW_KIND_AUTHENC;
	t->hashes = impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC;
	t->rng = seed;
	t->specs = calloc(MAX_OPS, sizeof *t->specs);
	if (impl->setkey) find_key_lengths(t);
	if (!reference && !find_pair(impl->alg, &t->reference.pair))
		wrong = "no generic implementation to compare with";
	else if (!t->specs || !side_init(&t->subject, impl) || !side_init(&t->reference, reference))
		wrong = "no memory";
	for (; round < rounds && !wrong; round++) {
		wrong = one_round(t, 1, &ops);
		if (!wrong && impl->decrypt) wrong = one_round(t, 0, &ops);
	}
	printf("%s %s seed=%llu rounds=%zu ops=%zu%s%s\n", wrong ? "FAILED" : "ok", impl->driver, (unsigned long long)seed,
		   round, ops, wrong ? ": " : "", wrong ? wrong : "");
	side_free(&t->subject);
	side_free(&t->reference);
	free(t->specs);
	free(t);
	return wrong ? 1 : 0;
}

int node_differential(int argc, char **argv)
{
	uint64_t seed = 1;
	size_t rounds = 40, tested = 0;
	const char *only = NULL;
	int failed = 0;
	gw_err err = {""};
	if (argc % 2) return 2;
	for (; argc; argc -= 2, argv += 2) {
		if (!strcmp(argv[0], "--seed"))
			seed = strtoull(argv[1], NULL, 10);
		else if (!strcmp(argv[0], "--rounds"))
			rounds = strtoul(argv[1], NULL, 10);
		else if (!strcmp(argv[0], "--impl"))
			only = argv[1];
		else
			return 2;
	}
	if (gw_init(&err) < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < gw_impl_count(); i++) {
		const gw_impl *impl = gw_impl_at(i);
		gw_impl_info info;
		gw_impl_describe(impl, &info);
		if (!info.runnable || !strcmp(impl->tag, "generic") || (only && strcmp(only, impl->driver))) continue;
		failed |= test_impl(impl, seed, rounds);
		tested++;
	}
	if (only && !tested) {
		fprintf(stderr, "gwnode: %s does not exist or this CPU cannot run it\n", only);
		return 2;
	}
	printf("%zu implementations\n", tested);
	return failed ? 1 : 0;
}
