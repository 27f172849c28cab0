/* SPDX-License-Identifier: MIT
 * A packet through AF_ALG: sendmsg with the operation and IV beside the data, then readv: two system calls and two
 * copies a packet, which every figure of these rows includes. A key is a bound socket and one accepted from it; a key
 * is used by one thread at a time, as everywhere here.
 */
#define _GNU_SOURCE /* accept4 */
#include "af_alg.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* More does not fit a socket's buffer by default; no packet comes near it. */
#define REQUEST_MAX (128u * 1024)
#define IV_MAX      16
#define AAD_MAX     1024

typedef struct alg_key {
	int bound, op; /* descriptors + 1; 0 = none */
	uint32_t authsize;
} alg_key;

/* ---- keys ---- */

static void unsetkey(void *ctx)
{
	alg_key *k = (alg_key *)ctx;
	if (k->op > 0) close(k->op - 1);
	if (k->bound > 0) close(k->bound - 1);
	k->op = k->bound = 0;
}

static bool accept_op(alg_key *k)
{
	k->op = accept4(k->bound - 1, NULL, NULL, SOCK_CLOEXEC) + 1;
	return k->op > 0;
}

/* The size of a tag belongs to the bound socket and is fixed while one is accepted from it. */
static bool set_authsize(alg_key *k, uint32_t bytes)
{
	if (k->authsize == bytes) return true;
	if (k->op > 0) close(k->op - 1);
	k->op = 0;
	k->authsize = 0;
	if (setsockopt(k->bound - 1, SOL_ALG, GW_ALG_SET_AUTHSIZE, NULL, bytes) != 0) {
		(void)accept_op(k);
		return false;
	}
	k->authsize = bytes;
	return accept_op(k);
}

static int setkey(const gw_alg_row *row, void *ctx, const uint8_t *key, size_t len)
{
	static const uint8_t nothing[1];
	alg_key *k = (alg_key *)ctx;
	const bool empty = len == 0 && row->impl.kind == GW_KIND_MAC; /* HMAC pads with zero bytes: the same key */
	const int fd = gw_alg_bind(row);
	if (fd < 0) return fd;
	k->bound = fd + 1;
	int r = setsockopt(fd, SOL_ALG, GW_ALG_SET_KEY, empty ? nothing : key, empty ? 1 : (socklen_t)len);
	if (r == 0 && accept_op(k)) {
		if (row->impl.kind != GW_KIND_AEAD) { /* only a tag's size would be set on it later */
			close(fd);
			k->bound = 0;
		}
		return 0;
	}
	r = -errno;
	unsetkey(k);
	return r;
}

/* ---- one request ---- */

typedef struct request {
	struct msghdr msg;
	struct iovec in[GW_OP_SPANS + 3], out[3];
	size_t n_in, n_out, in_len, out_len;
	union { /* aligned for cmsghdr */
		struct cmsghdr first;
		uint8_t bytes[3 * CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(IV_MAX)];
	} control;
} request;

static void give(request *r, const void *data, size_t len)
{
	if (len > 0) r->in[r->n_in++] = (struct iovec){(void *)(uintptr_t)data, len};
	r->in_len += len;
}

static void take(request *r, void *data, size_t len)
{
	if (len > 0) r->out[r->n_out++] = (struct iovec){data, len};
	r->out_len += len;
}

static void give_spans(request *r, const gw_op *op)
{
	for (uint32_t s = 0; s < op->n_in; s++) give(r, op->in[s].data, op->in[s].len);
}

static void *add_control(request *r, int type, size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)(r->control.bytes + r->msg.msg_controllen);
	c->cmsg_level = SOL_ALG;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	r->msg.msg_control = r->control.bytes;
	r->msg.msg_controllen += CMSG_SPACE(len);
	return CMSG_DATA(c);
}

static void set_control(request *r, const gw_op *op, bool encrypt, uint32_t iv_len, bool aead)
{
	const uint32_t operation = encrypt; /* ALG_OP_ENCRYPT is 1, ALG_OP_DECRYPT 0 */
	memcpy(add_control(r, GW_ALG_SET_OP, sizeof operation), &operation, sizeof operation);
	if (iv_len > 0) {
		uint8_t *iv = (uint8_t *)add_control(r, GW_ALG_SET_IV, sizeof iv_len + iv_len);
		memcpy(iv, &iv_len, sizeof iv_len);
		memcpy(iv + sizeof iv_len, op->iv, iv_len);
	}
	if (aead) memcpy(add_control(r, GW_ALG_SET_ASSOCLEN, sizeof op->aad_len), &op->aad_len, sizeof op->aad_len);
}

/* 0 or -errno; -EBADMSG is a wrong tag. */
static int run(int fd, request *r)
{
	ssize_t n;
	r->msg.msg_iov = r->in;
	r->msg.msg_iovlen = r->n_in;
	do n = sendmsg(fd, &r->msg, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0) return -errno;
	if ((size_t)n != r->in_len) return -EMSGSIZE;
	/* Reading makes the kernel work. It does nothing for a read of no bytes, though there is a tag to check. */
	uint8_t none;
	if (r->n_out == 0) r->out[r->n_out++] = (struct iovec){&none, sizeof none};
	struct msghdr back = {.msg_iov = r->out, .msg_iovlen = r->n_out};
	do n = recvmsg(fd, &back, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0) return -errno;
	return (size_t)n == r->out_len ? 0 : -EIO;
}

/* ---- ciphers ---- */

static void cipher(gw_op *ops, size_t n, bool encrypt, uint32_t iv_len)
{
	static const uint8_t zero[16];
	for (size_t i = 0; i < n; i++) {
		gw_op *op = &ops[i];
		const alg_key *k = (const alg_key *)op->key;
		const size_t len = gw_op_len(op);
		request r = {0};
		/* CBC of a zero block, with the nonce as IV, is the encrypted nonce, and chains on. */
		if (encrypt && op->flags & GW_OP_IV_NONCE) {
			give(&r, zero, sizeof zero);
			take(&r, op->iv, sizeof zero);
		}
		give_spans(&r, op);
		take(&r, op->out, len);
		set_control(&r, op, encrypt, iv_len, false);
		op->status = r.in_len > REQUEST_MAX ? -EMSGSIZE : r.in_len == 0 ? 0 : run(k->op - 1, &r);
		if (op->status != 0) gw_wipe(op->out, len);
	}
}

static void with_iv_encrypt(gw_op *ops, size_t n)
{
	cipher(ops, n, true, IV_MAX);
}
static void with_iv_decrypt(gw_op *ops, size_t n)
{
	cipher(ops, n, false, IV_MAX);
}
static void ecb_encrypt(gw_op *ops, size_t n)
{
	cipher(ops, n, true, 0);
}
static void ecb_decrypt(gw_op *ops, size_t n)
{
	cipher(ops, n, false, 0);
}

/* ---- AEAD: AAD | text [| tag] goes in, AAD | text [| tag] comes out ---- */

static int aead_one(gw_op *op, bool seal)
{
	alg_key *k = (alg_key *)(uintptr_t)op->key; /* its sockets are the op's to use, though ops call their key const */
	const size_t len = gw_op_len(op);
	uint8_t aad[AAD_MAX];
	request r = {0};
	if (op->iv_len != 12) return -EOPNOTSUPP; /* the kernel's GCM has no other */
	if (op->aad_len > sizeof aad || op->aad_len + len > REQUEST_MAX) return -EMSGSIZE;
	if (!set_authsize(k, op->tag_len)) return -EOPNOTSUPP;
	give(&r, op->aad, op->aad_len);
	give_spans(&r, op);
	take(&r, aad, op->aad_len);
	take(&r, op->out, len);
	if (seal)
		take(&r, op->tag, op->tag_len);
	else
		give(&r, op->tag, op->tag_len);
	set_control(&r, op, seal, op->iv_len, true);
	return run(k->op - 1, &r);
}

static void seal(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) ops[i].status = aead_one(&ops[i], true);
}

static void open_packets(gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ops[i].status = aead_one(&ops[i], false);
		if (ops[i].status != 0) gw_wipe(ops[i].out, gw_op_len(&ops[i]));
	}
}

/* ---- hashes and MACs ---- */

static int digest(int fd, gw_op *op, uint32_t bytes)
{
	uint8_t whole[64];
	request r = {0};
	give_spans(&r, op);
	if (op->flags & GW_OP_ESN) give(&r, op->esn, sizeof op->esn);
	take(&r, whole, bytes);
	const int status = run(fd, &r);
	if (status == 0) memcpy(op->tag, whole, op->tag_len < bytes ? op->tag_len : bytes);
	return status;
}

static void mac(const gw_alg_row *row, gw_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ops[i].status = digest(((const alg_key *)ops[i].mac_key)->op - 1, &ops[i], row->tag_bytes);
}

/* A hash has no key to keep a socket in: one is bound a row, and one accepted a batch, for threads not to meet. */
static void hash(const gw_alg_row *row, gw_op *ops, size_t n)
{
	const int fd = n == 0 ? -1 : accept4(row->hash_fd, NULL, NULL, SOCK_CLOEXEC);
	for (size_t i = 0; i < n; i++) ops[i].status = fd < 0 ? -EMFILE : digest(fd, &ops[i], row->tag_bytes);
	if (fd >= 0) close(fd);
}

/* ---- rows: these functions are told no row, so that each row has its own ---- */

#define EIGHT(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7)
/* octal: 0 to 0137; the formatter never comes to rest on this one */
/* clang-format off */
#define EACH(X)                                                                                                        \
	EIGHT(X, 0)                                                                                                        \
	EIGHT(X, 01)                                                                                                       \
	EIGHT(X, 02) EIGHT(X, 03) EIGHT(X, 04) EIGHT(X, 05) EIGHT(X, 06) EIGHT(X, 07) EIGHT(X, 010) EIGHT(X, 011)          \
		EIGHT(X, 012) EIGHT(X, 013)
/* clang-format on */

#define X(i)                                                                                                           \
	static int setkey_##i(void *ctx, const uint8_t *key, size_t len)                                                   \
	{                                                                                                                  \
		return setkey(&gw_alg_rows[i], ctx, key, len);                                                                 \
	}                                                                                                                  \
	static void mac_##i(gw_op *ops, size_t n)                                                                          \
	{                                                                                                                  \
		mac(&gw_alg_rows[i], ops, n);                                                                                  \
	}                                                                                                                  \
	static void hash_##i(gw_op *ops, size_t n)                                                                         \
	{                                                                                                                  \
		hash(&gw_alg_rows[i], ops, n);                                                                                 \
	}
EACH(X)
#undef X

static const struct {
	int (*setkey)(void *ctx, const uint8_t *key, size_t len);
	void (*mac)(gw_op *ops, size_t n);
	void (*hash)(gw_op *ops, size_t n);
} of_row[] = {
#define X(i) {setkey_##i, mac_##i, hash_##i},
	EACH(X)
#undef X
};
_Static_assert(sizeof of_row / sizeof of_row[0] == GW_ALG_ROWS, "a row, its functions");

void gw_alg_fill(gw_alg_row *row, size_t i)
{
	const bool iv = strncmp(row->impl.alg, "ecb", 3) != 0;
	if (row->impl.kind == GW_KIND_HASH) {
		row->hash_fd = gw_alg_bind(row);
		row->impl.encrypt = of_row[i].hash;
		return;
	}
	row->impl.key_ctx_bytes = sizeof(alg_key);
	row->impl.setkey = of_row[i].setkey;
	row->impl.unsetkey = unsetkey;
	if (row->impl.kind == GW_KIND_MAC) {
		row->impl.encrypt = of_row[i].mac;
	} else if (row->impl.kind == GW_KIND_AEAD) {
		row->impl.encrypt = seal;
		row->impl.decrypt = open_packets;
	} else {
		row->impl.encrypt = iv ? with_iv_encrypt : ecb_encrypt;
		row->impl.decrypt = iv ? with_iv_decrypt : ecb_decrypt;
	}
}
