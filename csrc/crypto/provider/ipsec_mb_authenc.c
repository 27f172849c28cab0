/* SPDX-License-Identifier: MIT
 * intel-ipsec-mb's CBC and HMAC-SHA-256 in one job, many jobs abreast: its fastest way for the suites that use them.
 *
 * A job hashes one piece of memory. With extended sequence numbers, their high half must stand behind the ciphertext,
 * which is where the ICV stands in a packet: it is put there for the time of the job. Where the tag is elsewhere, the
 * chunk goes by cipher and MAC.
 */
#include "ipsec_mb.h"

#if defined(__x86_64__)

#define TAG_MAX 32

static bool one_piece(const gw_op *op)
{
	return !(op->flags & GW_OP_ESN) || (op->tag == op->out + gw_op_len(op) && op->tag_len >= sizeof op->esn);
}

static void fill(imb_job *job, const gw_op *op, bool seal, uint8_t *tag)
{
	const imb_aes_key *k = (const imb_aes_key *)op->key;
	const imb_hmac_key *mac = (const imb_hmac_key *)op->mac_key;
	const size_t len = gw_op_len(op);
	const uint8_t *src = op->in[0].data;
	if (op->n_in > 1) {
		gw_provider_move(op);
		src = op->out;
	}
	if (op->flags & GW_OP_ESN) memcpy(op->out + len, op->esn, sizeof op->esn);
	*job = (imb_job){.enc_keys = k->enc,
					 .dec_keys = k->dec,
					 .key_len = k->bytes,
					 .src = src,
					 .dst = op->out,
					 .cipher_len = len,
					 .hash_start = (uint64_t)((uintptr_t)op->aad - (uintptr_t)src),
					 .hash_len = op->aad_len + len + (op->flags & GW_OP_ESN ? sizeof op->esn : 0),
					 .iv = op->iv,
					 .iv_len = 16,
					 .tag = tag,
					 .tag_len = TAG_MAX,
					 .auth0 = mac->inner,
					 .auth1 = {.outer = mac->outer},
					 .cipher_mode = IMB_CIPHER_CBC,
					 .direction = seal ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT,
					 .hash_alg = IMB_AUTH_HMAC_SHA256,
					 .chain_order = seal ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER};
}

static void submit(imb_mgr *mgr, const gw_op *ops, size_t n, bool seal, uint8_t (*tags)[TAG_MAX])
{
	for (size_t i = 0; i < n; i++) {
		imb_job *job = IMB_FN(mgr, imb_job_fn, IMB_GET_NEXT_JOB)(mgr);
		fill(job, &ops[i], seal, tags[i]);
		job = IMB_FN(mgr, imb_job_fn, IMB_SUBMIT_JOB_NOCHECK)(mgr);
		while (job != NULL) job = IMB_FN(mgr, imb_job_fn, IMB_GET_COMPLETED_JOB)(mgr);
	}
	while (IMB_FN(mgr, imb_job_fn, IMB_FLUSH_JOB)(mgr) != NULL) continue;
}

static void nonces(imb_mgr *mgr, const gw_op *ops, size_t n)
{
	for (size_t i = 0, m; i < n; i += m) { /* runs of equal key lengths */
		const uint32_t bytes = ((const imb_aes_key *)ops[i].key)->bytes;
		for (m = 1; i + m < n && ((const imb_aes_key *)ops[i + m].key)->bytes == bytes;) m++;
		gw_ipsec_mb_encrypt_nonces(mgr, ops + i, m, bytes);
	}
}

static gw_op mac_view(const gw_op *op, const uint8_t *data, uint8_t *tag)
{
	return (gw_op){.mac_key = op->mac_key,
				   .in = {{data, op->aad_len + gw_op_len(op)}},
				   .n_in = 1,
				   .tag = tag,
				   .tag_len = TAG_MAX,
				   .flags = op->flags & GW_OP_ESN,
				   .esn = {op->esn[0], op->esn[1], op->esn[2], op->esn[3]}};
}

static void tags_by_mac(const gw_op *ops, size_t n, uint8_t (*tags)[TAG_MAX])
{
	gw_op macs[IMB_CHUNK];
	for (size_t i = 0; i < n; i++) macs[i] = mac_view(&ops[i], ops[i].aad, tags[i]);
	gw_ipsec_mb_hmac_sha256(macs, n);
}

static bool all_in_one_piece(const gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!one_piece(&ops[i])) return false;
	return true;
}

static void seal_chunk(imb_mgr *mgr, gw_op *ops, size_t n)
{
	uint8_t tags[IMB_CHUNK][TAG_MAX];
	if (all_in_one_piece(ops, n)) {
		nonces(mgr, ops, n);
		submit(mgr, ops, n, true, tags);
	} else {
		gw_ipsec_mb_cbc_encrypt(ops, n);
		tags_by_mac(ops, n, tags);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(ops[i].tag, tags[i], ops[i].tag_len < TAG_MAX ? ops[i].tag_len : TAG_MAX);
		ops[i].status = 0;
	}
}

/* Opens in place. A job decrypts whatever its hash says, so what was forged is wiped afterwards. */
static void open_chunk(imb_mgr *mgr, gw_op *ops, size_t n)
{
	uint8_t tags[IMB_CHUNK][TAG_MAX], behind[IMB_CHUNK][4];
	const bool fused = all_in_one_piece(ops, n);
	if (fused) {
		for (size_t i = 0; i < n; i++)
			if (ops[i].flags & GW_OP_ESN) memcpy(behind[i], ops[i].tag, sizeof behind[i]);
		submit(mgr, ops, n, false, tags);
		for (size_t i = 0; i < n; i++)
			if (ops[i].flags & GW_OP_ESN) memcpy(ops[i].tag, behind[i], sizeof behind[i]);
	} else {
		tags_by_mac(ops, n, tags);
		gw_ipsec_mb_cbc_decrypt(ops, n);
	}
	for (size_t i = 0; i < n; i++) {
		const size_t len = ops[i].tag_len < TAG_MAX ? ops[i].tag_len : TAG_MAX;
		ops[i].status = gw_equal_ct(tags[i], ops[i].tag, len) ? 0 : -EBADMSG;
		if (ops[i].status != 0) gw_wipe(ops[i].out, gw_op_len(&ops[i]));
	}
}

static void run(gw_op *ops, size_t n, void (*chunk)(imb_mgr *, gw_op *, size_t))
{
	imb_mgr *mgr = gw_ipsec_mb();
	while (n > 0) {
		const size_t m = n < IMB_CHUNK ? n : IMB_CHUNK;
		if (mgr != NULL)
			chunk(mgr, ops, m);
		else
			for (size_t i = 0; i < m; i++) ops[i].status = -ENOMEM;
		ops += m;
		n -= m;
	}
}

static void seal(gw_op *ops, size_t n)
{
	run(ops, n, seal_chunk);
}

static void open_packets(gw_op *ops, size_t n)
{
	run(ops, n, open_chunk);
}

const gw_impl gw_impl_authenc_hmac_sha256_cbc_aes_ipsec_mb = {.alg = "authenc(hmac(sha256),cbc(aes))",
															  .driver = "authenc-hmac-sha256-cbc-aes-ipsecmb/ipsec-mb",
															  .tag = "ipsec-mb",
															  .isa = gw_ipsec_mb_isa,
															  .kind = GW_KIND_AUTHENC,
															  .priority = 70,
															  .constant_time = true,
															  .by_name_only = true,
															  .key_ctx_bytes = sizeof(imb_aes_key),
															  .batch_hint = 16,
															  .setkey = gw_ipsec_mb_aes_setkey,
															  .mac_ctx_bytes = sizeof(imb_hmac_key),
															  .mac_setkey = gw_ipsec_mb_hmac_sha256_setkey,
															  .encrypt = seal,
															  .decrypt = open_packets};

#endif
