/* SPDX-License-Identifier: MIT
 * Where a stream arrives: counts, watches the order, compares content, and takes times. A thread of its own.
 *
 * ESP is counted by SPI and number alone; a sample is opened, which proves that what was counted is what was sent, and
 * leaves the sink cheaper than what it measures.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../core/clock.h"
#include "../esp/sa.h"
#include "../io/udp.h"
#include "histogram.h"
#include "load.h"

#define MESSAGES 32u
#define BYTES    65536u
#define CONTROL  (CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct timespec)) + 64)
#define POLL_MS  50
#define REST_NS  100000 /* between looks, when nobody asks for times: fewer wake-ups on a core that others need */

struct gw_sink {
	gw_sink_config config;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	gw_sink_stats stats;
	uint64_t *histogram;
	uint16_t trial;
	uint32_t check_every;
	int times;
	uint64_t top; /* highest number so far + 1 */
	atomic_bool stop;
	uint32_t drops_before;
	uint8_t *memory;
	uint8_t *control;
	struct iovec iov[MESSAGES];
	struct mmsghdr msgs[MESSAGES];
};

static uint32_t socket_drops(int fd)
{
	uint32_t info[9] = {0};
	socklen_t len = sizeof info;

	return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0 && len == sizeof info ? info[8] : 0;
}

static int pattern_right(const uint8_t *payload, size_t len)
{
	for (size_t i = GW_LOAD_BYTES; i < len; i++)
		if (payload[i] != gw_load_pattern(i)) return 0;
	return 1;
}

static void in_order(gw_sink *s, uint64_t number)
{
	if (number + 1 < s->top)
		s->stats.reordered++;
	else
		s->top = number + 1;
}

/* Of this trial? Content is compared where `look`. */
static int payload(gw_sink *s, const uint8_t *p, size_t len, uint64_t arrived_ns, int look)
{
	if (len < GW_LOAD_BYTES || gw_load_be16(p) != GW_LOAD_MAGIC || gw_load_be16(p + 2) != s->trial) {
		s->stats.foreign++;
		return 0;
	}
	if (look) {
		s->stats.checked++;
		if (!pattern_right(p, len)) s->stats.wrong++;
	}
	if (s->times && arrived_ns) {
		const uint64_t left_ns = gw_load_be64(p + 8);
		const uint64_t ns = arrived_ns > left_ns ? arrived_ns - left_ns : 0;
		s->histogram[gw_latency_bucket(ns)]++;
		if (ns > s->stats.latency_max_ns) s->stats.latency_max_ns = ns;
		if (!s->stats.latencies || ns < s->stats.latency_min_ns) s->stats.latency_min_ns = ns;
		s->stats.latency_sum_ns += ns;
		s->stats.latencies++;
	}
	return 1;
}

static void plain(gw_sink *s, const uint8_t *p, size_t len, uint64_t arrived_ns)
{
	const uint32_t number = len >= GW_LOAD_BYTES ? gw_load_be32(p + 4) : 0;

	if (!payload(s, p, len, arrived_ns, number % s->check_every == 0)) return;
	s->stats.packets++;
	s->stats.bytes += len;
	in_order(s, number);
}

static void esp(gw_sink *s, uint8_t *p, size_t len, uint64_t arrived_ns)
{
	gw_pkt pkt = {.sa = s->config.sa, .out = p, .out_len = (uint32_t)len};
	uint32_t number;

	if (len < 8 || gw_load_be32(p) != s->config.spi) {
		s->stats.foreign++;
		return;
	}
	s->stats.packets++;
	s->stats.bytes += len;
	number = gw_load_be32(p + 4);
	in_order(s, number);
	if (!pkt.sa || number % s->check_every) return;
	if (gw_open_batch(&pkt, 1, gw_now_ns()) != 1 || pkt.inner_len < GW_LOAD_HEADERS) {
		s->stats.checked++;
		s->stats.wrong++;
		return;
	}
	payload(s, pkt.inner + GW_LOAD_HEADERS, pkt.inner_len - GW_LOAD_HEADERS, arrived_ns, 1);
}

static void message(gw_sink *s, uint32_t i)
{
	struct mmsghdr *m = &s->msgs[i];
	uint8_t *p = s->iov[i].iov_base;
	size_t left = m->msg_len, segment = left;
	uint64_t arrived_ns = 0;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m->msg_hdr); h; h = gw_udp_next_cmsg(&m->msg_hdr, h)) {
		if (h->cmsg_level == SOL_UDP && h->cmsg_type == UDP_GRO) {
			int v = 0;
			memcpy(&v, CMSG_DATA(h), sizeof v);
			if (v > 0) segment = (size_t)v;
		} else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;
			memcpy(&t, CMSG_DATA(h), sizeof t);
			arrived_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		}
	}
	while (left) {
		const size_t len = left < segment ? left : segment;
		if (s->config.spi)
			esp(s, p, len, arrived_ns);
		else
			plain(s, p, len, arrived_ns);
		p += len;
		left -= len;
	}
}

static long receive(gw_sink *s)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		s->msgs[i].msg_hdr.msg_control = s->control + i * CONTROL;
		s->msgs[i].msg_hdr.msg_controllen = CONTROL;
	}
#ifdef SYS_recvmmsg
	return syscall(SYS_recvmmsg, s->config.fd, s->msgs, MESSAGES, MSG_DONTWAIT, NULL);
#else
	return recvmmsg(s->config.fd, s->msgs, MESSAGES, MSG_DONTWAIT, NULL);
#endif
}

static void *run(void *arg)
{
	gw_sink *s = arg;
	struct pollfd look = {.fd = s->config.fd, .events = POLLIN};

	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		const long got = receive(s);
		if (got <= 0) { /* an error of the socket is ICMP's, and is cleared by being read */
			poll(&look, 1, POLL_MS);
			continue;
		}
		pthread_mutex_lock(&s->lock);
		for (long i = 0; i < got; i++) message(s, (uint32_t)i);
		s->stats.receives++;
		s->stats.last_ns = gw_now_ns();
		s->stats.cpu_ns = gw_thread_cpu_ns();
		const int rest = !s->times && got < (long)MESSAGES;
		pthread_mutex_unlock(&s->lock);
		if (rest) {
			const struct timespec t = {0, REST_NS};
			nanosleep(&t, NULL);
		}
	}
	return NULL;
}

static void release_memory(gw_sink *s)
{
	gw_free_wipe(s->memory, (size_t)MESSAGES * BYTES);
	free(s->control);
	free(s->histogram);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

gw_sink *gw_sink_start(const gw_sink_config *config, gw_err *err)
{
	gw_sink *s = calloc(1, sizeof(*s));
	const int on = 1;
	int rc = 0;

	err->text[0] = 0;
	if (!s) return NULL;
	s->config = *config;
	s->check_every = 64;
	pthread_mutex_init(&s->lock, NULL);
	s->memory = gw_alloc((size_t)MESSAGES * BYTES);
	s->control = calloc(MESSAGES, CONTROL);
	s->histogram = calloc(GW_LATENCY_BUCKETS, sizeof(uint64_t));
	if (!s->memory || !s->control || !s->histogram) rc = -ENOMEM;
	for (uint32_t i = 0; i < MESSAGES && rc == 0; i++) {
		s->iov[i] = (struct iovec){s->memory + (size_t)i * BYTES, BYTES};
		s->msgs[i].msg_hdr.msg_iov = &s->iov[i];
		s->msgs[i].msg_hdr.msg_iovlen = 1;
	}
	/* Without it every packet is a message: dearer, and just as right. */
	(void)setsockopt(config->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
	if (rc == 0 && setsockopt(config->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) < 0) rc = -errno;
	s->drops_before = socket_drops(config->fd);
	if (rc == 0) rc = gw_load_thread(&s->thread, run, s);
	if (rc != 0) {
		snprintf(err->text, sizeof(err->text), "sink: %s", strerror(-rc));
		release_memory(s);
		return NULL;
	}
	return s;
}

void gw_sink_trial(gw_sink *s, uint16_t trial, uint32_t check_every, int times)
{
	pthread_mutex_lock(&s->lock);
	memset(&s->stats, 0, sizeof(s->stats));
	memset(s->histogram, 0, GW_LATENCY_BUCKETS * sizeof(uint64_t));
	s->trial = trial;
	s->check_every = check_every ? check_every : 1;
	s->times = times;
	s->top = 0;
	s->drops_before = socket_drops(s->config.fd);
	pthread_mutex_unlock(&s->lock);
}

void gw_sink_read(gw_sink *s, gw_sink_stats *out, uint64_t *histogram)
{
	pthread_mutex_lock(&s->lock);
	*out = s->stats;
	out->socket_drops = socket_drops(s->config.fd) - s->drops_before;
	if (histogram) memcpy(histogram, s->histogram, GW_LATENCY_BUCKETS * sizeof(uint64_t));
	pthread_mutex_unlock(&s->lock);
}

void gw_sink_free(gw_sink *s)
{
	if (!s) return;
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	release_memory(s);
}

uint64_t gw_latency_ns(uint32_t bucket)
{
	const uint32_t octave = bucket >> GW_HIST_SUB_BITS;

	if (!octave) return bucket;
	return (uint64_t)(GW_HIST_SUB + (bucket & (GW_HIST_SUB - 1))) << (octave - 1);
}
