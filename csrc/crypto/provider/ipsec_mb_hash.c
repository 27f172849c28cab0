/* SPDX-License-Identifier: MIT
 * intel-ipsec-mb's SHA and HMAC: bursts of packets, several abreast. It takes messages in one piece only: others (and
 * those with the high sequence number behind them) are copied together first, which costs a few percent.
 */
#include "ipsec_mb.h"

#if defined(__x86_64__)

#define BLOCK_MAX 128

typedef struct sha {
	int hash, hmac; /* IMB_AUTH_* */
	int one_block, digest;
	size_t block_bytes, digest_bytes;
} sha;

static const sha sha1 = {IMB_AUTH_SHA1, IMB_AUTH_HMAC_SHA1, IMB_SHA1_ONE_BLOCK, IMB_SHA1, 64, 20};
static const sha sha256 = {IMB_AUTH_SHA256, IMB_AUTH_HMAC_SHA256, IMB_SHA256_ONE_BLOCK, IMB_SHA256, 64, 32};
static const sha sha512 = {IMB_AUTH_SHA512, IMB_AUTH_HMAC_SHA512, IMB_SHA512_ONE_BLOCK, IMB_SHA512, 128, 64};

static bool whole(const gw_op *op)
{
	return op->n_in == 1 && !(op->flags & GW_OP_ESN);
}

static size_t message_len(const gw_op *op)
{
	return gw_op_len(op) + (op->flags & GW_OP_ESN ? sizeof op->esn : 0);
}

static const uint8_t *message(const gw_op *op, uint8_t **scratch)
{
	if (whole(op)) return op->in[0].data;
	uint8_t *to = *scratch;
	const size_t len = gw_op_len(op);
	gw_op_gather(op, 0, to, len);
	if (op->flags & GW_OP_ESN) memcpy(to + len, op->esn, sizeof op->esn);
	*scratch += message_len(op);
	return to;
}

/* Version 1.3 has bursts of HMAC only; plain hashes are jobs that cipher nothing. */
static void submit(imb_mgr *mgr, imb_job *jobs, size_t n, int hash, bool keyed)
{
	if (keyed) {
		(void)IMB_FN(mgr, imb_hash_burst_fn, IMB_SUBMIT_HASH_BURST_NOCHECK)(mgr, jobs, (uint32_t)n, hash);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		imb_job *job = IMB_FN(mgr, imb_job_fn, IMB_GET_NEXT_JOB)(mgr);
		*job = jobs[i];
		job->cipher_mode = IMB_CIPHER_NULL;
		job->hash_alg = hash;
		job->direction = IMB_DIR_ENCRYPT;
		job->chain_order = IMB_ORDER_CIPHER_HASH;
		job = IMB_FN(mgr, imb_job_fn, IMB_SUBMIT_JOB_NOCHECK)(mgr);
		while (job != NULL) job = IMB_FN(mgr, imb_job_fn, IMB_GET_COMPLETED_JOB)(mgr);
	}
	while (IMB_FN(mgr, imb_job_fn, IMB_FLUSH_JOB)(mgr) != NULL) continue;
}

/* Jobs for the messages; an empty one has its answer in the key. */
static size_t fill(const sha *h, const gw_op *ops, size_t n, bool keyed, imb_job *jobs, uint8_t (*digests)[64],
				   uint8_t *scratch)
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		const imb_hmac_key *k = (const imb_hmac_key *)ops[i].mac_key;
		if (keyed && message_len(&ops[i]) == 0) {
			memcpy(digests[i], k->of_nothing, h->digest_bytes);
			continue;
		}
		imb_job *job = &jobs[used++];
		*job = (imb_job){.src = message(&ops[i], &scratch),
						 .hash_len = message_len(&ops[i]),
						 .tag = digests[i],
						 .tag_len = h->digest_bytes};
		if (keyed) job->auth0 = k->inner;
		if (keyed) job->auth1.outer = k->outer;
	}
	return used;
}

static void run(const sha *h, gw_op *ops, size_t n, bool keyed)
{
	imb_mgr *mgr = gw_ipsec_mb();
	while (n > 0) {
		const size_t m = n < IMB_CHUNK ? n : IMB_CHUNK;
		uint8_t digests[IMB_CHUNK][64];
		imb_job jobs[IMB_CHUNK];
		size_t copied = 64;
		for (size_t i = 0; i < m; i++) copied += whole(&ops[i]) ? 0 : message_len(&ops[i]);
		uint8_t *scratch = mgr == NULL ? NULL : gw_ipsec_mb_scratch(copied);
		if (scratch != NULL) {
			const size_t used = fill(h, ops, m, keyed, jobs, digests, scratch);
			if (used > 0) submit(mgr, jobs, used, keyed ? h->hmac : h->hash, keyed);
		}
		for (size_t i = 0; i < m; i++) {
			const size_t len = ops[i].tag_len < h->digest_bytes ? ops[i].tag_len : h->digest_bytes;
			ops[i].status = scratch == NULL ? -ENOMEM : 0;
			if (scratch != NULL) memcpy(ops[i].tag, digests[i], len);
		}
		ops += m;
		n -= m;
	}
}

typedef void (*digest_fn)(const void *, uint64_t, void *);
typedef void (*one_block_fn)(const void *, void *);

static int setkey(const sha *h, void *ctx, const uint8_t *raw, size_t len)
{
	imb_hmac_key *k = (imb_hmac_key *)ctx;
	imb_mgr *mgr = gw_ipsec_mb();
	uint8_t pad[BLOCK_MAX + 64] = {0}; /* a block, and behind it the inner digest of the empty message */
	if (mgr == NULL) return -ENOMEM;
	const digest_fn digest = IMB_FN(mgr, digest_fn, h->digest);
	const one_block_fn one_block = IMB_FN(mgr, one_block_fn, h->one_block);
	if (len > h->block_bytes)
		digest(raw, len, pad);
	else if (len > 0)
		memcpy(pad, raw, len);
	for (size_t i = 0; i < h->block_bytes; i++) pad[i] ^= 0x36;
	one_block(pad, k->inner);
	digest(pad, h->block_bytes, pad + h->block_bytes);
	for (size_t i = 0; i < h->block_bytes; i++) pad[i] ^= 0x36 ^ 0x5c;
	one_block(pad, k->outer);
	digest(pad, h->block_bytes + h->digest_bytes, k->of_nothing);
	gw_wipe(pad, sizeof pad);
	return 0;
}

int gw_ipsec_mb_hmac_sha256_setkey(void *ctx, const uint8_t *raw, size_t len)
{
	return setkey(&sha256, ctx, raw, len);
}

void gw_ipsec_mb_hmac_sha256(gw_op *ops, size_t n)
{
	run(&sha256, ops, n, true);
}

#define ROW(name)                                                                                                      \
	static void name##_run(gw_op *ops, size_t n)                                                                       \
	{                                                                                                                  \
		run(&name, ops, n, false);                                                                                     \
	}                                                                                                                  \
	static int hmac_##name##_setkey(void *ctx, const uint8_t *raw, size_t len)                                         \
	{                                                                                                                  \
		return setkey(&name, ctx, raw, len);                                                                           \
	}                                                                                                                  \
	static void hmac_##name##_run(gw_op *ops, size_t n)                                                                \
	{                                                                                                                  \
		run(&name, ops, n, true);                                                                                      \
	}                                                                                                                  \
	const gw_impl gw_impl_##name##_ipsec_mb = {.alg = #name,                                                           \
											   .driver = #name "-ipsecmb/ipsec-mb",                                    \
											   .tag = "ipsec-mb",                                                      \
											   .isa = gw_ipsec_mb_isa,                                                 \
											   .kind = GW_KIND_HASH,                                                   \
											   .priority = 60,                                                         \
											   .constant_time = true,                                                  \
											   .by_name_only = true,                                                   \
											   .batch_hint = 16,                                                       \
											   .encrypt = name##_run};                                                 \
	const gw_impl gw_impl_hmac_##name##_ipsec_mb = {.alg = "hmac(" #name ")",                                          \
													.driver = "hmac-" #name "-ipsecmb/ipsec-mb",                       \
													.tag = "ipsec-mb",                                                 \
													.isa = gw_ipsec_mb_isa,                                            \
													.kind = GW_KIND_MAC,                                               \
													.priority = 60,                                                    \
													.constant_time = true,                                             \
													.by_name_only = true,                                              \
													.key_ctx_bytes = sizeof(imb_hmac_key),                             \
													.batch_hint = 16,                                                  \
													.setkey = hmac_##name##_setkey,                                    \
													.encrypt = hmac_##name##_run};

ROW(sha1)
ROW(sha256)
ROW(sha512)

#endif
