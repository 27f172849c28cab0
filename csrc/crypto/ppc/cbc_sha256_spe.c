/* SPDX-License-Identifier: MIT
 * authenc(hmac(sha256),cbc(aes)) on SPE: the cipher of one packet runs beside the hashes of two others, see
 * cbc_sha256_spe.py. Sealing, a packet is hashed when it is encrypted; opening, it is decrypted when it is verified.
 * A batch shorter than three packets, an AES-192 key or an input in pieces is served one algorithm after the other.
 */
#if defined(__powerpc__) && !defined(__powerpc64__)
#include "spe.h"

#include "../md.h"
#include "../spans.h"

#define UNIT_BLOCKS 8
#define BLOCK       64
#define DIGEST      32

_Static_assert(offsetof(gw_spe_mix, chain) == 16 && offsetof(gw_spe_mix, data) == 32 &&
				   offsetof(gw_spe_mix, units) == 40 && offsetof(gw_spe_mix, state) == 48,
			   "known to the assembly");

/* One of the two streams: a packet's HMAC in three phases of whole blocks. */
typedef struct lane {
	gw_op *op; /* NULL: idle */
	const uint8_t *data;
	size_t blocks, tail_blocks;
	enum { PACKET, TAIL, OUTER } phase;
	uint8_t tail[2 * BLOCK];
} lane;

/* The packet that is being encrypted or decrypted. */
typedef struct cipher {
	gw_op *op;     /* NULL: none */
	uint32_t span; /* of its input */
	size_t blocks; /* that remain in the span */
	size_t units;  /* of these, what may run beside hashes */
	bool whole;    /* all of them may */
} cipher;

typedef struct pump {
	gw_spe_mix m;
	lane lanes[2];
	cipher c;
	bool decrypt;
	gw_op *ops;
	size_t n, ciphered, hashed; /* of n packets, how many were taken so far, in order */
} pump;

static bool done_or_failed(const gw_op *op)
{
	return op->status != -EINPROGRESS;
}

/* ---- HMAC of one packet, in a lane ---- */

static void set_state(pump *p, int l, const gw_md_state *s)
{
	for (int i = 0; i < 8; i++) p->m.state[i][l] = s->w32[i];
}

/* Pads used bytes of the lane's tail: 0x80, zeros, the length in bits of everything hashed. */
static void pad_tail(lane *x, size_t used, uint64_t total_bytes)
{
	x->tail_blocks = used + 9 <= BLOCK ? 1 : 2;
	x->tail[used] = 0x80;
	memset(x->tail + used + 1, 0, x->tail_blocks * BLOCK - used - 9);
	gw_store_be64(x->tail + x->tail_blocks * BLOCK - 8, total_bytes * 8);
}

static void finish_lane(pump *p, int l)
{
	lane *x = &p->lanes[l];
	gw_op *op = x->op;
	uint32_t digest[8];
	for (int i = 0; i < 8; i++) digest[i] = p->m.state[i][l];
	if (!p->decrypt) memcpy(op->tag, digest, op->tag_len);
	op->status = !p->decrypt || gw_equal_ct(digest, op->tag, op->tag_len) ? 0 : -EBADMSG;
	x->op = NULL;
}

static void next_phase(pump *p, int l)
{
	lane *x = &p->lanes[l];
	const gw_hmac_ctx *k = (const gw_hmac_ctx *)x->op->mac_key;
	if (x->phase == PACKET) {
		x->phase = TAIL;
		x->blocks = x->tail_blocks;
	} else if (x->phase == TAIL) {
		for (int i = 0; i < 8; i++) gw_store_be32(x->tail + 4 * i, p->m.state[i][l]);
		pad_tail(x, DIGEST, BLOCK + DIGEST);
		set_state(p, l, &k->outer);
		x->phase = OUTER;
		x->blocks = 1;
	} else {
		finish_lane(p, l);
		return;
	}
	x->data = x->tail;
}

static void settle(pump *p, int l)
{
	while (p->lanes[l].op != NULL && p->lanes[l].blocks == 0) next_phase(p, l);
}

static void begin_lane(pump *p, int l, gw_op *op)
{
	lane *x = &p->lanes[l];
	const gw_hmac_ctx *k = (const gw_hmac_ctx *)op->mac_key;
	const size_t len = op->aad_len + gw_op_len(op), rest = len % BLOCK;
	size_t used = rest;
	x->op = op;
	x->phase = PACKET;
	x->data = op->aad; /* ends where the ciphertext begins */
	x->blocks = len / BLOCK;
	memcpy(x->tail, op->aad + len - rest, rest);
	if (op->flags & GW_OP_ESN) {
		memcpy(x->tail + used, op->esn, 4); /* fits: tail holds two blocks */
		used += 4;
	}
	pad_tail(x, used, BLOCK + len + used - rest);
	set_state(p, l, &k->inner);
	settle(p, l);
}

/* What a lane has to do, alone. */
static void hash_alone(pump *p, int l)
{
	lane *x = &p->lanes[l];
	uint32_t s[8];
	while (x->op != NULL) {
		for (int i = 0; i < 8; i++) s[i] = p->m.state[i][l];
		gw_spe_sha256_blocks(s, x->data, x->blocks, gw_sha256_k);
		for (int i = 0; i < 8; i++) p->m.state[i][l] = s[i];
		x->blocks = 0;
		settle(p, l);
	}
}

/* ---- CBC of one packet ---- */

static const gw_spe_aes_key *key_of(const gw_op *op)
{
	return (const gw_spe_aes_key *)op->key;
}

/* Whole units from the start of the span run beside hashes, the rest after them alone. */
static void begin_span(pump *p)
{
	p->m.in = p->c.op->in[p->c.span].data;
	p->c.blocks = p->c.op->in[p->c.span].len / 16;
	p->c.units = p->c.blocks / UNIT_BLOCKS;
}

/* From the end, one span. The first block's IV is taken for what stands before it: in place, the end of the header,
 * which is the IV already, or is exchanged for it at the end. Elsewhere the first blocks are left for the rest. */
static void begin_decrypt(pump *p)
{
	const gw_op *op = p->c.op;
	const uint8_t *data = op->in[0].data;
	const uint32_t *whitening = key_of(op)->dec + 56 - 4 * key_of(op)->rounds;
	const size_t blocks = op->in[0].len / 16;
	p->c.whole = data == op->out && op->aad_len >= 16;
	p->c.blocks = blocks;
	p->c.units = (blocks - !p->c.whole) / UNIT_BLOCKS;
	p->m.in = data + 16 * blocks - 32;
	p->m.out = op->out + 16 * blocks - 16;
	for (int i = 0; i < 4; i++) p->m.chain[i] = gw_load_be32(data + 16 * blocks - 16 + 4 * i) ^ whitening[i];
}

static void begin_cipher(pump *p, gw_op *op)
{
	const gw_spe_aes_key *k = key_of(op);
	p->c = (cipher){.op = op};
	p->m.rk = p->decrypt ? k->dec : k->enc;
	if (p->decrypt) {
		begin_decrypt(p);
		return;
	}
	if (op->flags & GW_OP_IV_NONCE) gw_spe_aes_ecb_enc(k->enc, op->iv, op->iv, 1, gw_spe_aes_te, k->rounds);
	memcpy(p->m.chain, op->iv, 16);
	p->m.out = op->out;
	begin_span(p);
}

/* A span that ends within a unit and those after it (a packet and its trailer) become one, copied to where they are
 * going to be encrypted: 128 bytes, so that a unit more runs beside hashes. */
static bool join_spans(pump *p)
{
	const gw_op *op = p->c.op;
	const size_t done = (size_t)(p->m.out - op->out), rest = gw_op_len(op) - done;
	if (p->c.units > 0 || p->c.blocks == 0 || p->c.span + 1 == op->n_in) return false;
	for (uint32_t i = 0; i < op->n_in; i++)
		if ((uintptr_t)op->in[i].data - (uintptr_t)op->out < done + rest) return false; /* in place */
	gw_op_gather(op, done, p->m.out, rest);
	p->m.in = p->m.out;
	p->c.blocks = rest / 16;
	p->c.units = p->c.blocks / UNIT_BLOCKS;
	p->c.span = op->n_in - 1;
	return true;
}

/* What is left of the span, alone. */
static void finish_span(pump *p)
{
	const gw_op *op = p->c.op;
	const gw_spe_aes_key *k = key_of(op);
	if (p->decrypt) {
		if (p->c.blocks > 0)
			gw_spe_aes_cbc_dec(k->dec, op->in[0].data, op->out, p->c.blocks, gw_spe_aes_td, k->rounds, op->iv);
		else
			for (int i = 0; i < 16; i++) op->out[i] ^= op->out[i - 16] ^ op->iv[i];
		p->c.op = NULL;
		return;
	}
	uint8_t *chain = (uint8_t *)p->m.chain;
	if (p->c.blocks > 0) {
		gw_spe_aes_cbc_enc(k->enc, p->m.in, p->m.out, p->c.blocks, gw_spe_aes_te, k->rounds, chain, chain);
		p->m.out += 16 * p->c.blocks;
	}
	if (++p->c.span < op->n_in)
		begin_span(p);
	else
		p->c.op = NULL;
}

/* ---- both ---- */

static void run_beside(pump *p)
{
	const size_t a = p->lanes[0].blocks, b = p->lanes[1].blocks, c = p->c.units;
	const size_t units = a < b ? (a < c ? a : c) : (b < c ? b : c);
	const bool wide = key_of(p->c.op)->rounds == 14;
	p->m.units = (uint32_t)units;
	for (int l = 0; l < 2; l++) p->m.data[l] = p->lanes[l].data;
	if (p->decrypt)
		(wide ? gw_spe_cbc_sha256_dec256 : gw_spe_cbc_sha256_dec128)(&p->m);
	else
		(wide ? gw_spe_cbc_sha256_enc256 : gw_spe_cbc_sha256_enc128)(&p->m);
	p->c.units -= units;
	p->c.blocks -= units * UNIT_BLOCKS;
	for (int l = 0; l < 2; l++) {
		p->lanes[l].data += BLOCK * units;
		p->lanes[l].blocks -= units;
		settle(p, l);
	}
}

/* Takes the next packet whose turn in the cipher has come: all when sealing, the verified ones when opening. */
static bool take_cipher(pump *p)
{
	while (p->ciphered < p->n) {
		gw_op *op = &p->ops[p->ciphered];
		if (p->decrypt && !done_or_failed(op)) return false;
		p->ciphered++;
		if (p->decrypt && op->status != 0) continue;
		begin_cipher(p, op);
		return true;
	}
	return false;
}

static bool take_lanes(pump *p)
{
	const size_t ready = p->decrypt ? p->n : p->ciphered - (p->c.op != NULL);
	for (int l = 0; l < 2; l++)
		if (p->lanes[l].op == NULL && p->hashed < ready) begin_lane(p, l, &p->ops[p->hashed++]);
	return p->lanes[0].op != NULL && p->lanes[1].op != NULL;
}

static void run(pump *p)
{
	for (;;) {
		const bool ciphers = p->c.op != NULL || take_cipher(p);
		const bool hashes = take_lanes(p);
		if (ciphers && hashes && p->c.units > 0) {
			run_beside(p);
		} else if (ciphers) {
			if (p->decrypt || !join_spans(p)) finish_span(p);
		} else if (p->lanes[0].op != NULL || p->lanes[1].op != NULL) {
			hash_alone(p, 0);
			hash_alone(p, 1);
		} else {
			return;
		}
	}
}

/* ---- the implementation ---- */

static __attribute__((noinline)) void one_by_one(gw_op *ops, size_t n, bool decrypt)
{
	for (; n > 0; n--, ops++) {
		uint8_t tag[DIGEST];
		gw_op mac = {.mac_key = ops->mac_key,
					 .in = {{ops->aad, ops->aad_len + gw_op_len(ops)}},
					 .n_in = 1,
					 .tag = decrypt ? tag : ops->tag,
					 .tag_len = ops->tag_len,
					 .flags = ops->flags & GW_OP_ESN,
					 .esn = {ops->esn[0], ops->esn[1], ops->esn[2], ops->esn[3]}};
		ops->status = 0;
		if (!decrypt) gw_impl_cbc_aes_spe.encrypt(ops, 1);
		gw_impl_hmac_sha256_spe.encrypt(&mac, 1);
		if (!decrypt) continue;
		if (gw_equal_ct(tag, ops->tag, ops->tag_len))
			gw_impl_cbc_aes_spe.decrypt(ops, 1);
		else
			ops->status = -EBADMSG;
	}
}

static bool may_run_beside(const gw_op *ops, size_t n, bool decrypt)
{
	if (n < 3) return false;
	for (size_t i = 0; i < n; i++)
		if (key_of(&ops[i])->rounds == 12 || ops[i].n_in == 0 ||
			(decrypt && (ops[i].n_in > 1 || ops[i].in[0].len < 32)))
			return false;
	return true;
}

static void crypt(gw_op *ops, size_t n, bool decrypt)
{
	const void *table = decrypt ? gw_spe_aes_td : gw_spe_aes_te;
	pump p;
	if (!may_run_beside(ops, n, decrypt)) {
		one_by_one(ops, n, decrypt);
		return;
	}
	gw_spe_warm(table, ops, n);
	p.lanes[0].op = p.lanes[1].op = NULL;
	p.c.op = NULL;
	p.decrypt = decrypt;
	p.ops = ops;
	p.n = n;
	p.ciphered = p.hashed = 0;
	p.m.table = table;
	p.m.k = gw_sha256_k;
	for (size_t i = 0; i < n; i++) ops[i].status = -EINPROGRESS;
	run(&p);
	gw_wipe(&p, sizeof p);
}

static void seal(gw_op *ops, size_t n)
{
	crypt(ops, n, false);
}

static void open_(gw_op *ops, size_t n)
{
	crypt(ops, n, true);
}

static int hmac_setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_impl_hmac_sha256_spe.setkey(ctx, key, len);
}

static int setkey(void *ctx, const uint8_t *key, size_t len)
{
	return gw_spe_aes_expand((gw_spe_aes_key *)ctx, key, len);
}

const gw_impl gw_impl_authenc_hmac_sha256_cbc_aes_spe = {
	.alg = "authenc(hmac(sha256),cbc(aes))",
	.driver = "authenc-hmac-sha256-cbc-aes-spe/gwbench",
	.tag = "spe",
	.isa = "e500 SPE, tables",
	.kind = GW_KIND_AUTHENC,
	.priority = 310,
	.cpu_needs = GW_CPU_SPE,
	.key_ctx_bytes = sizeof(gw_spe_aes_key),
	.batch_hint = 16,
	.setkey = setkey,
	.mac_ctx_bytes = sizeof(gw_hmac_ctx),
	.mac_setkey = hmac_setkey,
	.encrypt = seal,
	.decrypt = open_,
};
#else
typedef int gw_cbc_sha256_spe_is_elsewhere;
#endif
