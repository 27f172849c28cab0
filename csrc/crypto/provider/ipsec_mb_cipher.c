/* SPDX-License-Identifier: MIT
 * intel-ipsec-mb's AES modes: bursts of packets, several abreast. A burst has one key length, so runs of packets with
 * equal key lengths go together. Input in several spans is moved into the output first and worked on there.
 */
#include "ipsec_mb.h"

#if defined(__x86_64__)

int gw_ipsec_mb_aes_setkey(void *ctx, const uint8_t *raw, size_t len)
{
	typedef void (*keyexp_fn)(const void *, void *, void *);
	imb_aes_key *k = (imb_aes_key *)ctx;
	imb_mgr *mgr = gw_ipsec_mb();
	if (mgr == NULL || (len != 16 && len != 24 && len != 32)) return -EINVAL;
	IMB_FN(mgr, keyexp_fn, IMB_KEYEXP + (len - 16) / 8)(raw, k->enc, k->dec);
	k->bytes = (uint32_t)len;
	return 0;
}

static imb_job job_of(const gw_op *op)
{
	const imb_aes_key *k = (const imb_aes_key *)op->key;
	const uint8_t *src = op->in[0].data;
	if (op->n_in > 1) {
		gw_provider_move(op);
		src = op->out;
	}
	return (imb_job){.enc_keys = k->enc,
					 .dec_keys = k->dec,
					 .key_len = k->bytes,
					 .src = src,
					 .dst = op->out,
					 .cipher_len = gw_op_len(op),
					 .iv = op->iv,
					 .iv_len = 16};
}

static void burst(imb_mgr *mgr, imb_job *jobs, size_t n, int cipher, int dir, uint32_t key_bytes)
{
	if (n > 0) IMB_FN(mgr, imb_cipher_burst_fn, IMB_SUBMIT_CIPHER_BURST_NOCHECK)
	(mgr, jobs, (uint32_t)n, cipher, dir, (int)key_bytes);
}

/* CBC of a zero block, with the nonce as IV, is the encrypted nonce. */
void gw_ipsec_mb_encrypt_nonces(imb_mgr *mgr, const gw_op *ops, size_t n, uint32_t bytes)
{
	static const uint8_t zero[16];
	uint8_t nonces[IMB_CHUNK][16];
	imb_job jobs[IMB_CHUNK];
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (!(ops[i].flags & GW_OP_IV_NONCE)) continue;
		memcpy(nonces[m], ops[i].iv, 16);
		jobs[m] = (imb_job){.enc_keys = ((const imb_aes_key *)ops[i].key)->enc,
							.key_len = bytes,
							.src = zero,
							.dst = ops[i].iv,
							.cipher_len = 16,
							.iv = nonces[m],
							.iv_len = 16};
		m++;
	}
	burst(mgr, jobs, m, IMB_CIPHER_CBC, IMB_DIR_ENCRYPT, bytes);
}

/* How many ops from the first on have keys of one length. */
static size_t run_of(const gw_op *ops, size_t n)
{
	const uint32_t bytes = ((const imb_aes_key *)ops[0].key)->bytes;
	size_t i = 1;
	while (i < n && i < IMB_CHUNK && ((const imb_aes_key *)ops[i].key)->bytes == bytes) i++;
	return i;
}

static void bursts(gw_op *ops, size_t n, int cipher, int dir)
{
	imb_mgr *mgr = gw_ipsec_mb();
	imb_job jobs[IMB_CHUNK];
	while (mgr != NULL && n > 0) {
		const size_t m = run_of(ops, n);
		const uint32_t bytes = ((const imb_aes_key *)ops[0].key)->bytes;
		size_t used = 0;
		if (cipher == IMB_CIPHER_CBC && dir == IMB_DIR_ENCRYPT) gw_ipsec_mb_encrypt_nonces(mgr, ops, m, bytes);
		for (size_t i = 0; i < m; i++) {
			jobs[used] = job_of(&ops[i]);
			used += jobs[used].cipher_len > 0;
		}
		burst(mgr, jobs, used, cipher, dir, bytes);
		ops += m;
		n -= m;
	}
}

void gw_ipsec_mb_cbc_encrypt(gw_op *ops, size_t n)
{
	bursts(ops, n, IMB_CIPHER_CBC, IMB_DIR_ENCRYPT);
}

void gw_ipsec_mb_cbc_decrypt(gw_op *ops, size_t n)
{
	bursts(ops, n, IMB_CIPHER_CBC, IMB_DIR_DECRYPT);
}

/* Its counter has 32 bits. Where these overflow within a packet, the blocks before and after go by themselves. */
static bool split_at_overflow(gw_op *op)
{
	const uint64_t blocks_left = 0x100000000u - gw_load_be32(op->iv + 12);
	const size_t len = gw_op_len(op);
	if (blocks_left >= (len + 15) / 16) return false;
	const size_t first = (size_t)blocks_left * 16;
	gw_op part[2] = {*op, *op};
	uint8_t next[16];
	memcpy(next, op->iv, 12);
	gw_store_be32(next + 12, 0);
	for (int i = 11; i >= 0 && ++next[i] == 0; i--) continue;
	gw_provider_move(op);
	part[0].in[0] = (gw_span){op->out, first};
	part[1].in[0] = (gw_span){op->out + first, len - first};
	part[1].out = op->out + first;
	part[1].iv = next;
	for (int i = 0; i < 2; i++) {
		part[i].n_in = 1;
		bursts(&part[i], 1, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT);
	}
	return true;
}

static void ctr(gw_op *ops, size_t n)
{
	size_t from = 0;
	for (size_t i = 0; i < n; i++) {
		if (!split_at_overflow(&ops[i])) continue;
		bursts(ops + from, i - from, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT);
		from = i + 1;
	}
	bursts(ops + from, n - from, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT);
}

/* There is no burst of ECB: jobs, each done when it was submitted. */
static void ecb(gw_op *ops, size_t n, int dir)
{
	imb_mgr *mgr = gw_ipsec_mb();
	for (size_t i = 0; mgr != NULL && i < n; i++) {
		const imb_job mine = job_of(&ops[i]);
		if (mine.cipher_len == 0) continue;
		imb_job *job = IMB_FN(mgr, imb_job_fn, IMB_GET_NEXT_JOB)(mgr);
		*job = mine;
		job->iv_len = 0;
		job->cipher_mode = IMB_CIPHER_ECB;
		job->direction = dir;
		job->hash_alg = IMB_AUTH_NULL;
		job->chain_order = dir == IMB_DIR_ENCRYPT ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
		(void)IMB_FN(mgr, imb_job_fn, IMB_SUBMIT_JOB_NOCHECK)(mgr);
		while (IMB_FN(mgr, imb_job_fn, IMB_FLUSH_JOB)(mgr) != NULL) continue;
	}
}

static void ecb_encrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, IMB_DIR_ENCRYPT);
}

static void ecb_decrypt(gw_op *ops, size_t n)
{
	ecb(ops, n, IMB_DIR_DECRYPT);
}

#define ROW(mode, enc, dec)                                                                                            \
	const gw_impl gw_impl_##mode##_aes_ipsec_mb = {.alg = #mode "(aes)",                                               \
												   .driver = #mode "-aes-ipsecmb/ipsec-mb",                            \
												   .tag = "ipsec-mb",                                                  \
												   .isa = gw_ipsec_mb_isa,                                             \
												   .kind = GW_KIND_CIPHER,                                             \
												   .priority = 60,                                                     \
												   .constant_time = true,                                              \
												   .by_name_only = true,                                               \
												   .key_ctx_bytes = sizeof(imb_aes_key),                               \
												   .batch_hint = 16,                                                   \
												   .setkey = gw_ipsec_mb_aes_setkey,                                   \
												   .encrypt = enc,                                                     \
												   .decrypt = dec};
ROW(ecb, ecb_encrypt, ecb_decrypt)
ROW(cbc, gw_ipsec_mb_cbc_encrypt, gw_ipsec_mb_cbc_decrypt)
ROW(ctr, ctr, ctr)

#endif
