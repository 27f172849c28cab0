/* SPDX-License-Identifier: MIT
 * AF_ALG with several requests under way, as engines need them: a socket for each, its input by sendmsg, its output
 * asked for by Linux's own asynchronous I/O (io_submit). A driver that is not asynchronous has done the work when
 * io_submit returns: then depth changes little, and the figures say so.
 */
#define _GNU_SOURCE /* accept4 */
#include "af_alg.h"

#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../../core/clock.h"

#define DEPTH_MAX 256u
#define BYTES_MAX 65536u
#define AAD_BYTES 16u
#define TAG_BYTES 16u

typedef struct slot {
	int fd; /* + 1; 0 = none */
	uint64_t begun_ns;
	uint8_t *in, *out;
	struct iovec to;
	struct iocb block;
} slot;

typedef struct depth_bench {
	const gw_alg_row *row;
	bool encrypt, aead;
	size_t bytes, in_len, out_len, depth;
	int bound; /* + 1 */
	aio_context_t context;
	slot *slots;
	uint32_t *latency_ns;
	size_t latencies, latencies_max;
	uint64_t ops;
} depth_bench;

static int io_setup(unsigned n, aio_context_t *context)
{
	return (int)syscall(SYS_io_setup, n, context) < 0 ? -errno : 0;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- one request ---- */

static int send_request(const depth_bench *b, slot *s)
{
	union {
		struct cmsghdr first;
		uint8_t bytes[3 * CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(16)];
	} control = {0};
	static const uint8_t iv[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	const uint32_t operation = b->encrypt, iv_len = b->aead ? 12 : 16, assoc = AAD_BYTES;
	struct iovec from = {s->in, b->in_len};
	struct msghdr msg = {.msg_iov = &from, .msg_iovlen = 1};
	if (b->row->impl.kind != GW_KIND_HASH && b->row->impl.kind != GW_KIND_MAC) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof control.bytes;
		struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(4), .cmsg_level = SOL_ALG, .cmsg_type = GW_ALG_SET_OP};
		memcpy(CMSG_DATA(c), &operation, 4);
		size_t used = CMSG_SPACE(4);
		if (strcmp(b->row->impl.alg, "ecb(aes)") != 0) {
			c = CMSG_NXTHDR(&msg, c);
			*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(4 + iv_len), .cmsg_level = SOL_ALG, .cmsg_type = GW_ALG_SET_IV};
			memcpy(CMSG_DATA(c), &iv_len, 4);
			memcpy(CMSG_DATA(c) + 4, iv, iv_len);
			used += CMSG_SPACE(4 + iv_len);
		}
		if (b->aead) {
			c = CMSG_NXTHDR(&msg, c);
			*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(4), .cmsg_level = SOL_ALG, .cmsg_type = GW_ALG_SET_ASSOCLEN};
			memcpy(CMSG_DATA(c), &assoc, 4);
			used += CMSG_SPACE(4);
		}
		msg.msg_controllen = used;
	}
	s->begun_ns = gw_now_ns();
	const ssize_t n = sendmsg(s->fd - 1, &msg, 0);
	return n < 0 ? -errno : (size_t)n == b->in_len ? 0 : -EMSGSIZE;
}

static void finish(depth_bench *b, const slot *s)
{
	const uint64_t ns = gw_now_ns() - s->begun_ns;
	if (b->latencies < b->latencies_max) b->latency_ns[b->latencies++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	b->ops++;
}

static int submit(const depth_bench *b, slot *s)
{
	struct iocb *list[1] = {&s->block};
	const int rc = send_request(b, s);
	if (rc != 0) return rc;
	s->to = (struct iovec){s->out, b->out_len};
	memset(&s->block, 0, sizeof s->block);
	s->block.aio_data = (uint64_t)(uintptr_t)s;
	s->block.aio_lio_opcode = IOCB_CMD_PREADV;
	s->block.aio_fildes = (uint32_t)(s->fd - 1);
	s->block.aio_buf = (uint64_t)(uintptr_t)&s->to;
	s->block.aio_nbytes = 1;
	const long n = syscall(SYS_io_submit, b->context, 1L, list);
	return n == 1 ? 0 : n < 0 ? -errno : -EIO;
}

/* Sends and reads by itself: depth 1, and hashes, which AF_ALG has no asynchronous form of. */
static int one(depth_bench *b, slot *s)
{
	const int rc = send_request(b, s);
	if (rc != 0) return rc;
	const ssize_t n = read(s->fd - 1, s->out, b->out_len);
	if (n < 0) return -errno;
	if ((size_t)n != b->out_len) return -EIO;
	finish(b, s);
	return 0;
}

static int run_at_depth(depth_bench *b, uint64_t until_ns)
{
	struct io_event events[64];
	size_t under_way = 0;
	int rc = 0;
	for (size_t i = 0; i < b->depth && rc == 0; i++, under_way++) rc = submit(b, &b->slots[i]);
	while (under_way > 0) {
		const bool more = rc == 0 && gw_now_ns() < until_ns;
		const long n = syscall(SYS_io_getevents, b->context, 1L, 64L, events, NULL);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) return -errno;
		for (long i = 0; i < n; i++) {
			slot *s = (slot *)(uintptr_t)events[i].data;
			under_way--;
			if ((int64_t)events[i].res != (int64_t)b->out_len) {
				rc = (int64_t)events[i].res < 0 ? (int)events[i].res : -EIO;
				continue;
			}
			finish(b, s);
			if (!more || rc != 0) continue;
			rc = submit(b, s);
			under_way += rc == 0;
		}
	}
	return rc;
}

/* ---- set up, check, time ---- */

static int open_slots(depth_bench *b, const uint8_t *key, size_t key_len)
{
	const int kind = b->row->impl.kind;
	const int fd = gw_alg_bind(b->row);
	if (fd < 0) return fd;
	b->bound = fd + 1;
	if (kind != GW_KIND_HASH && setsockopt(fd, SOL_ALG, GW_ALG_SET_KEY, key, (socklen_t)key_len) != 0) return -errno;
	if (b->aead && setsockopt(fd, SOL_ALG, GW_ALG_SET_AUTHSIZE, NULL, TAG_BYTES) != 0) return -errno;
	b->slots = calloc(b->depth, sizeof *b->slots);
	if (b->slots == NULL) return -ENOMEM;
	for (size_t i = 0; i < b->depth; i++) {
		slot *s = &b->slots[i];
		s->fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC) + 1;
		if (s->fd == 0) return -errno;
		s->in = calloc(1, b->bytes + AAD_BYTES + TAG_BYTES);
		s->out = calloc(1, b->bytes + AAD_BYTES + TAG_BYTES + 64);
		if (s->in == NULL || s->out == NULL) return -ENOMEM;
		for (size_t j = 0; j < b->bytes + AAD_BYTES; j++) s->in[j] = (uint8_t)(j * 7);
	}
	return 0;
}

static void close_slots(depth_bench *b)
{
	if (b->context != 0) syscall(SYS_io_destroy, b->context);
	for (size_t i = 0; b->slots != NULL && i < b->depth; i++) {
		if (b->slots[i].fd > 0) close(b->slots[i].fd - 1);
		free(b->slots[i].in);
		free(b->slots[i].out);
	}
	free(b->slots);
	if (b->bound > 0) close(b->bound - 1);
}

/* What is opened must have been sealed: the first slot's sealed packet becomes everybody's input. */
static int seal_inputs(depth_bench *b)
{
	if (!b->aead || b->encrypt) return 0;
	depth_bench sealing = *b;
	sealing.encrypt = true;
	sealing.in_len = b->bytes + AAD_BYTES;
	sealing.out_len = b->bytes + AAD_BYTES + TAG_BYTES;
	sealing.latencies_max = 0;
	const int rc = one(&sealing, &b->slots[0]);
	for (size_t i = 0; rc == 0 && i < b->depth; i++) {
		if (i > 0) memcpy(b->slots[i].in, b->slots[0].out, sealing.out_len);
	}
	if (rc == 0) memcpy(b->slots[0].in, b->slots[0].out, sealing.out_len);
	return rc;
}

/* Every slot's answer by asynchronous I/O is what the plain read gives. */
static int check_slots(depth_bench *b)
{
	int rc = one(b, &b->slots[0]);
	uint8_t *const right = rc == 0 ? malloc(b->out_len) : NULL;
	if (rc == 0 && right == NULL) rc = -ENOMEM;
	if (rc == 0) memcpy(right, b->slots[0].out, b->out_len);
	if (rc == 0 && b->context != 0) rc = run_at_depth(b, 0);
	for (size_t i = 0; rc == 0 && b->context != 0 && i < b->depth; i++)
		if (memcmp(right, b->slots[i].out, b->out_len) != 0) rc = -EBADMSG;
	free(right);
	b->ops = b->latencies = 0;
	return rc;
}

int gw_bench_af_alg(const gw_impl *impl, int dir, size_t key_len, size_t bytes, size_t depth, uint64_t min_ns,
					gw_bench_sample *out, uint64_t *cpu_ns, uint32_t *latency_ns, size_t *latencies, gw_err *err)
{
	uint8_t key[64];
	depth_bench b = {.row = (const gw_alg_row *)(const void *)impl,
					 .encrypt = dir != 0,
					 .aead = impl->kind == GW_KIND_AEAD,
					 .bytes = bytes,
					 .depth = depth,
					 .latency_ns = latency_ns,
					 .latencies_max = *latencies};
	const bool hash = impl->kind == GW_KIND_HASH || impl->kind == GW_KIND_MAC;
	int rc;

	memset(out, 0, sizeof *out);
	err->text[0] = '\0';
	*latencies = 0;
	if (strcmp(impl->tag, "af_alg") != 0 || bytes == 0 || bytes > BYTES_MAX || depth == 0 || depth > DEPTH_MAX ||
		key_len > sizeof key || (hash && depth > 1)) {
		snprintf(err->text, sizeof err->text,
				 "AF_ALG: requests of 1 to %u bytes, depths of 1 to %u, hashes at depth 1 only", BYTES_MAX, DEPTH_MAX);
		return -EINVAL;
	}
	b.in_len = hash ? bytes : b.aead ? AAD_BYTES + bytes + (b.encrypt ? 0 : TAG_BYTES) : bytes;
	b.out_len = hash ? b.row->tag_bytes : b.aead ? AAD_BYTES + bytes + (b.encrypt ? TAG_BYTES : 0) : bytes;
	rc = gw_random(key, sizeof key);
	if (rc == 0) rc = open_slots(&b, key, key_len);
	gw_wipe(key, sizeof key);
	if (rc == 0 && depth > 1) rc = io_setup((unsigned)depth, &b.context);
	if (rc == 0) rc = seal_inputs(&b);
	if (rc == 0) rc = check_slots(&b);
	if (rc == 0) {
		const uint64_t begun = gw_now_ns(), cycles = gw_cycles(), cpu = thread_cpu_ns();
		if (b.context != 0)
			rc = run_at_depth(&b, begun + min_ns);
		else
			do rc = one(&b, &b.slots[0]);
			while (rc == 0 && gw_now_ns() < begun + min_ns);
		out->ns = (double)(gw_now_ns() - begun);
		out->cycles = (double)(gw_cycles() - cycles);
		*cpu_ns = thread_cpu_ns() - cpu;
	}
	out->ops = b.ops;
	out->bytes = b.ops * bytes;
	*latencies = b.latencies;
	close_slots(&b);
	if (rc != 0) snprintf(err->text, sizeof err->text, "AF_ALG: %s failed: %s", impl->driver, strerror(-rc));
	return rc;
}
