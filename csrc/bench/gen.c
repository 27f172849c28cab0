/* SPDX-License-Identifier: MIT
 * A paced stream of packets on a thread of its own: UDP payloads as they are, or sealed as ESP. What is due at the same
 * moment and has one length goes as a train (UDP_SEGMENT), which costs the generator one pass through the kernel; where
 * a network card's single packets are wanted, trains have one packet.
 *
 * Sealed packets can be sent in another order than they were sealed in, or not at all, in a way that is known exactly:
 * what a replay window then drops can be predicted to the packet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/clock.h"
#include "../esp/sa.h"
#include "../io/udp.h"
#include "load.h"
#include "pace.h"

#define BATCH       64u
#define TRAIN_MOST  64u
#define TRAIN_BYTES 65000u /* a UDP datagram's limit, less headers */
#define PLAIN_BYTES 9216u
#define SLEEP_NS    2000000u /* at most, so that a stop is heard */

typedef struct held {
	uint64_t release; /* after so many packets were sealed */
	uint32_t len;
} held;

struct gw_gen {
	gw_gen_config config;
	pthread_t thread;
	gw_gen_stats stats;
	atomic_bool stop, done;
	uint8_t *plain, *wire, *aside; /* BATCH buffers each; aside: n_held */
	size_t wire_stride, n_held;
	uint64_t random; /* xorshift: the same order every time */
	held *ring;
	uint64_t held_first, held_end;
	gw_pkt pkts[BATCH];
	struct iovec iov[2 * BATCH];
	struct mmsghdr msgs[2 * BATCH];
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control[2 * BATCH];
};

static long send_many(int fd, struct mmsghdr *msgs, unsigned n)
{
#ifdef SYS_sendmmsg
	return syscall(SYS_sendmmsg, fd, msgs, n, 0);
#else
	return sendmmsg(fd, msgs, n, 0);
#endif
}

static uint32_t size_of(const gw_gen *g, uint64_t number)
{
	return g->config.sizes[number % g->config.n_sizes];
}

static void put_headers(const gw_gen *g, uint8_t *p, uint32_t len)
{
	const gw_gen_config *c = &g->config;

	memset(p, 0, GW_LOAD_HEADERS);
	p[0] = 0x45;
	gw_store_be16(p + 2, (uint16_t)len);
	p[6] = 0x40; /* DF */
	p[8] = 64;
	p[9] = 17;
	memcpy(p + 12, c->src.bytes, 4);
	memcpy(p + 16, c->dst.bytes, 4);
	gw_store_be16(p + 10, (uint16_t)~gw_checksum(p, 20, 0));
	gw_store_be16(p + 20, c->src.port);
	gw_store_be16(p + 22, c->dst.port);
	gw_store_be16(p + 24, (uint16_t)(len - 20)); /* checksum 0: RFC 768 */
}

/* One message of iov[first..]: as many packets as may go together. Returns how many. */
static unsigned couple(gw_gen *g, struct mmsghdr *m, unsigned first, unsigned n)
{
	const size_t len = g->iov[first].iov_len;
	const uint16_t segment = (uint16_t)len;
	unsigned k = 1;
	size_t bytes = len;

	while (first + k < n && k < g->config.train && g->iov[first + k].iov_len == len && bytes + len <= TRAIN_BYTES) {
		k++;
		bytes += len;
	}
	m->msg_hdr = (struct msghdr){.msg_iov = &g->iov[first], .msg_iovlen = k};
	if (k > 1) {
		m->msg_hdr.msg_control = &g->control[first];
		m->msg_hdr.msg_controllen = gw_udp_put_cmsg(&g->control[first].align, SOL_UDP, UDP_SEGMENT, &segment, 2);
	}
	return k;
}

/* Sends the first n packets; what the socket refuses is counted and not tried again. */
static void send_all(gw_gen *g, unsigned n)
{
	unsigned messages = 0, at = 0;

	for (unsigned first = 0; first < n;) first += couple(g, &g->msgs[messages++], first, n);
	while (at < messages) {
		const long got = send_many(g->config.fd, g->msgs + at, messages - at);
		for (long i = 0; i < got; i++, at++) {
			const struct msghdr *m = &g->msgs[at].msg_hdr;
			g->stats.sent += m->msg_iovlen;
			g->stats.bytes += m->msg_iovlen * m->msg_iov->iov_len;
		}
		if (got <= 0 && errno != EINTR) {
			g->stats.failed += g->msgs[at].msg_hdr.msg_iovlen;
			g->stats.last_errno = (uint32_t)errno;
			at++;
		}
	}
}

static void queue_plain(gw_gen *g, uint32_t n, uint64_t first)
{
	const uint64_t now_ns = gw_load_clock_ns();

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *p = g->plain + i * PLAIN_BYTES + GW_LOAD_HEADERS;
		gw_load_put(p, g->config.trial, (uint32_t)(first + i), now_ns);
		g->iov[i] = (struct iovec){p, size_of(g, first + i) - GW_LOAD_HEADERS};
	}
	send_all(g, n);
}

/* Is this one, counted from 0, lost on purpose, or kept back? */
static int is_lost(const gw_gen *g, uint64_t number)
{
	return g->config.lose_every && number % g->config.lose_every == g->config.lose_every - 1;
}
static int is_held(const gw_gen *g, uint64_t number)
{
	return g->config.hold_every && number % g->config.hold_every == g->config.hold_every - 1;
}

static unsigned release(gw_gen *g, uint64_t sealed, unsigned n)
{
	while (g->held_first < g->held_end && n < 2 * BATCH && g->ring[g->held_first % g->n_held].release <= sealed) {
		const size_t slot = g->held_first++ % g->n_held;
		g->iov[n++] = (struct iovec){g->aside + slot * g->wire_stride, g->ring[slot].len};
	}
	return n;
}

static gw_sa *sa_of(gw_gen *g, uint64_t number)
{
	if (g->config.n_sas == 0) return g->config.sa;
	if (number % g->config.run == 0) {
		g->random ^= g->random << 13;
		g->random ^= g->random >> 7;
		g->random ^= g->random << 17;
	}
	return g->config.sas[g->random % g->config.n_sas];
}

/* 0 or -EIO: an SA at its end */
static int queue_sealed(gw_gen *g, uint32_t n, uint64_t first)
{
	const uint64_t now_ns = gw_load_clock_ns();
	unsigned out = 0;

	for (uint32_t i = 0; i < n; i++) {
		gw_pkt *p = &g->pkts[i];
		uint8_t *inner = g->plain + i * PLAIN_BYTES;
		const uint32_t len = size_of(g, first + i);
		put_headers(g, inner, len);
		gw_load_put(inner + GW_LOAD_HEADERS, g->config.trial, (uint32_t)(first + i), now_ns);
		*p = (gw_pkt){
			.sa = sa_of(g, first + i),
			.in = {{inner, len}},
			.n_in = 1,
			.out = g->wire + i * g->wire_stride,
			.out_cap = (uint32_t)g->wire_stride,
			.next_header = 4,
		};
	}
	if (gw_seal_batch(g->pkts, n, gw_now_ns()) != n) return -EIO;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t number = first + i;
		const gw_pkt *p = &g->pkts[i];
		if (is_lost(g, number)) {
			g->stats.lost++;
		} else if (is_held(g, number)) {
			const size_t slot = g->held_end++ % g->n_held;
			memcpy(g->aside + slot * g->wire_stride, p->out, p->out_len);
			g->ring[slot] = (held){number + 1 + g->config.hold_for, p->out_len};
			g->stats.held++;
		} else {
			g->iov[out++] = (struct iovec){p->out, p->out_len};
		}
		out = release(g, number + 1, out);
	}
	send_all(g, out);
	return 0;
}

static void sleep_until(uint64_t at_ns, uint64_t now_ns)
{
	struct timespec t;

	if (at_ns > now_ns + SLEEP_NS) at_ns = now_ns + SLEEP_NS;
	t = (struct timespec){(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *run(void *arg)
{
	gw_gen *g = arg;
	const gw_gen_config *c = &g->config;
	gw_pace pace;
	uint64_t number = 0, now_ns = gw_now_ns();
	const uint64_t cpu_ns = gw_thread_cpu_ns();

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	g->stats.started_ns = now_ns;
	gw_pace_start(&pace, c->packets_per_s, now_ns);
	while (number < c->count && !atomic_load_explicit(&g->stop, memory_order_relaxed)) {
		const uint64_t left = c->count - number;
		uint32_t n;
		now_ns = gw_now_ns();
		if (now_ns - g->stats.started_ns > c->max_ns) break;
		n = gw_pace_due(&pace, number, left < BATCH ? (uint32_t)left : BATCH, now_ns);
		if (!n) {
			sleep_until(gw_pace_next_ns(&pace, number), now_ns);
			continue;
		}
		if (!c->sa)
			queue_plain(g, n, number);
		else if (queue_sealed(g, n, number) != 0) {
			g->stats.last_errno = EIO;
			break;
		}
		number += n;
	}
	for (unsigned n; g->n_held && (n = release(g, UINT64_MAX, 0)) > 0;) send_all(g, n); /* nothing stays behind */
	g->stats.numbered = number;
	g->stats.ended_ns = gw_now_ns();
	g->stats.slipped_ns = pace.slipped_ns;
	g->stats.cpu_ns = gw_thread_cpu_ns() - cpu_ns;
	atomic_store(&g->done, true);
	return NULL;
}

static const char *wrong(const gw_gen_config *c)
{
	if (c->n_sizes == 0 || c->n_sizes > GW_GEN_SIZES) return "1 to 64 packet sizes";
	for (uint32_t i = 0; i < c->n_sizes; i++)
		if (c->sizes[i] < GW_LOAD_HEADERS + GW_LOAD_BYTES || c->sizes[i] > PLAIN_BYTES)
			return "packets of 44 to 9216 bytes";
	if (c->sa && (c->src.family != 4 || c->dst.family != 4)) return "inner addresses are IPv4";
	if (c->n_sas && (!c->sa || c->run == 0)) return "several SAs are taken in runs of at least one packet";
	if (!c->sa && (c->hold_every || c->lose_every)) return "only sealed packets are kept back or lost";
	if (c->hold_every && c->hold_for > 1u << 20) return "packets are kept back for at most 2^20 others";
	if (c->train == 0 || c->train > TRAIN_MOST) return "trains of 1 to 64 packets";
	if (c->packets_per_s < 0) return "a rate is not negative";
	return NULL;
}

static int make_buffers(gw_gen *g)
{
	const gw_gen_config *c = &g->config;

	g->plain = gw_alloc(BATCH * PLAIN_BYTES);
	if (!g->plain) return -ENOMEM;
	for (uint32_t i = 0; i < BATCH; i++)
		for (size_t at = GW_LOAD_BYTES; at < PLAIN_BYTES - GW_LOAD_HEADERS; at++)
			g->plain[i * PLAIN_BYTES + GW_LOAD_HEADERS + at] = gw_load_pattern(at);
	if (!c->sa) return 0;
	for (uint32_t i = 0; i < c->n_sizes; i++) {
		const size_t need = (gw_seal_len(c->sa, c->sizes[i]) + 127) & ~(size_t)63;
		if (need > g->wire_stride) g->wire_stride = need;
	}
	g->wire = gw_alloc(BATCH * g->wire_stride);
	if (!g->wire) return -ENOMEM;
	if (!c->hold_every) return 0;
	/* And one for each of a batch: what is released is sent only when the whole batch is laid out. */
	g->n_held = c->hold_for / c->hold_every + 2 + BATCH;
	g->aside = gw_alloc(g->n_held * g->wire_stride);
	g->ring = calloc(g->n_held, sizeof(held));
	return g->aside && g->ring ? 0 : -ENOMEM;
}

static void release_memory(gw_gen *g)
{
	gw_free_wipe(g->plain, BATCH * PLAIN_BYTES);
	gw_free_wipe(g->wire, BATCH * g->wire_stride);
	gw_free_wipe(g->aside, g->n_held * g->wire_stride);
	free(g->ring);
	free(g);
}

gw_gen *gw_gen_start(const gw_gen_config *config, gw_err *err)
{
	const char *what = wrong(config);
	gw_gen *g;
	int rc;

	err->text[0] = 0;
	if (what) {
		snprintf(err->text, sizeof(err->text), "generator: %s", what);
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (!g) return NULL;
	g->config = *config;
	g->random = 88172645463325252u;
	rc = make_buffers(g);
	if (rc == 0) rc = gw_load_thread(&g->thread, run, g);
	if (rc != 0) {
		snprintf(err->text, sizeof(err->text), "generator: %s", strerror(-rc));
		release_memory(g);
		return NULL;
	}
	return g;
}

int gw_gen_done(const gw_gen *g)
{
	return atomic_load(&g->done);
}

void gw_gen_finish(gw_gen *g, gw_gen_stats *out)
{
	if (!g) return;
	atomic_store(&g->stop, true);
	pthread_join(g->thread, NULL);
	if (out) *out = g->stats;
	release_memory(g);
}
