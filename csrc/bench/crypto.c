/* SPDX-License-Identifier: MIT
 * What one implementation costs in memory: n requests of equal length, one key, out of place, so that the same input
 * can be processed again and again (an open is checked against its tag each time).
 */
#include <stdio.h>
#include <stdlib.h>

#include "../core/clock.h"
#include "../crypto/impl.h"

#define MAX_BYTES (16u << 20)
#define MAX_BATCH 4096u
#define MAX_KEY   128u
#define AAD_BYTES 8u
#define TAG_MAX   64u
/* The clock is read once a section of at least this many bytes. */
#define SECTION_BYTES 32768u

typedef struct crypto_bench {
	const gw_impl *impl;
	gw_key *key;
	gw_op *ops;
	uint8_t *in, *out, *tags;
	size_t batch, stride, total;
} crypto_bench;

static size_t tag_bytes(const gw_impl *impl)
{
	if (impl->kind == GW_KIND_AEAD) return 16;
	if (strstr(impl->alg, "512")) return 64;
	if (strstr(impl->alg, "sha1")) return 20;
	return impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC ? 32 : 0;
}

static int prepare(crypto_bench *b, size_t key_len, size_t bytes, gw_err *err)
{
	uint8_t raw[MAX_KEY];
	int rc;

	b->stride = (bytes + 63) & ~(size_t)63;
	b->total = b->stride * b->batch;
	b->ops = calloc(b->batch, sizeof(gw_op));
	b->in = gw_alloc(b->total);
	b->out = gw_alloc(b->total);
	b->tags = gw_alloc(b->batch * TAG_MAX);
	if (!b->ops || !b->in || !b->out || !b->tags) return -ENOMEM;
	rc = gw_random(raw, sizeof(raw));
	if (rc == 0 && b->impl->kind != GW_KIND_HASH) {
		b->key = gw_key_new(b->impl, raw, key_len, err);
		if (!b->key) rc = -EINVAL;
	}
	if (rc == 0) rc = gw_random(b->in, b->total < 4096 ? b->total : 4096);
	gw_wipe(raw, sizeof(raw));
	return rc;
}

static void point(crypto_bench *b, size_t bytes, uint8_t *from, uint8_t *to, uint8_t *ivs)
{
	static const uint8_t aad[AAD_BYTES] = {0, 0, 16, 0, 0, 0, 0, 1};
	const bool aead = b->impl->kind == GW_KIND_AEAD;

	for (size_t i = 0; i < b->batch; i++) {
		gw_op *op = &b->ops[i];
		memset(op, 0, sizeof(*op));
		op->key = b->key ? gw_key_ctx(b->key) : NULL;
		op->mac_key = op->key;
		op->in[0] = (gw_span){from + i * b->stride, bytes};
		op->n_in = 1;
		op->out = to + i * b->stride;
		op->iv = ivs + i * 16;
		op->iv_len = aead ? 12 : 16;
		op->aad = aead ? aad : NULL;
		op->aad_len = aead ? AAD_BYTES : 0;
		op->tag = b->tags + i * TAG_MAX;
		op->tag_len = (uint32_t)tag_bytes(b->impl);
	}
}

static int measure(crypto_bench *b, int dir, size_t bytes, uint64_t min_ns, gw_bench_sample *out)
{
	const size_t section = SECTION_BYTES / (bytes * b->batch + 1) + 1;
	uint8_t *ivs = calloc(b->batch, 16);
	uint64_t ns = 0, cycles = 0;
	int rc = ivs ? 0 : -ENOMEM;

	if (rc == 0) point(b, bytes, b->in, b->out, ivs);
	/* what is opened must have been sealed; what is sealed needs one round to warm up */
	if (rc == 0) rc = gw_impl_run(b->impl, 1, b->ops, b->batch);
	if (rc == 0 && dir == 0) {
		memset(ivs, 0, b->batch * 16); /* a mode may have written its next IV there */
		point(b, bytes, b->out, b->in, ivs);
		rc = gw_impl_run(b->impl, 0, b->ops, b->batch);
	}
	/* Whole numbers: where there is no floating point, a comparison alone brings 26 KB of emulation. */
	while (rc == 0 && ns < min_ns) {
		const uint64_t t0 = gw_now_ns(), c0 = gw_cycles();
		for (size_t i = 0; i < section; i++) rc |= gw_impl_run(b->impl, dir, b->ops, b->batch);
		cycles += gw_cycles() - c0;
		ns += gw_now_ns() - t0;
		out->ops += section * b->batch;
	}
	for (size_t i = 0; rc == 0 && i < b->batch; i++) rc = b->ops[i].status;
	out->ns = (double)ns;
	out->cycles = (double)cycles;
	out->bytes = out->ops * bytes;
	free(ivs);
	return rc;
}

int gw_bench_impl(const gw_impl *impl, int dir, size_t key_len, size_t bytes, size_t batch, uint64_t min_ns,
				  gw_bench_sample *out, gw_err *err)
{
	crypto_bench b = {.impl = impl, .batch = batch};
	int rc;

	err->text[0] = 0;
	memset(out, 0, sizeof(*out));
	if (bytes == 0 || bytes > MAX_BYTES || batch == 0 || batch > MAX_BATCH || key_len > MAX_KEY) {
		snprintf(err->text, sizeof(err->text),
				 "bench: requests of 1 to %u bytes, batches of 1 to %u, keys up to %u bytes", MAX_BYTES, MAX_BATCH,
				 MAX_KEY);
		return -EINVAL;
	}
	if (impl->kind == GW_KIND_AUTHENC || (dir == 0 && !impl->decrypt)) {
		snprintf(err->text, sizeof(err->text), "bench: %s has no such direction", impl->driver);
		return -EOPNOTSUPP;
	}
	rc = prepare(&b, key_len, bytes, err);
	if (rc == 0) rc = measure(&b, dir, bytes, min_ns, out);
	if (rc != 0 && !err->text[0])
		snprintf(err->text, sizeof(err->text), "bench: %s failed: %s", impl->driver, strerror(-rc));
	gw_key_free(b.key);
	free(b.ops);
	gw_free_wipe(b.in, b.total);
	gw_free_wipe(b.out, b.total);
	gw_free_wipe(b.tags, batch * TAG_MAX);
	return rc;
}
