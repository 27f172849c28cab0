/* SPDX-License-Identifier: MIT
 * See metrics.h. Whole numbers only: seconds are printed from nanoseconds.
 */
#define _GNU_SOURCE
#include "metrics.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "netif.h"
#include "process.h"

#define TEXT_BYTES (64u << 10)
#define MOST_LOOPS 16

typedef struct page {
	char *text;
	size_t len;
} page;

static void add(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(page *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const int n = vsnprintf(p->text + p->len, TEXT_BYTES - p->len, format, args);
	va_end(args);
	if ((size_t)n < TEXT_BYTES - p->len) p->len += (size_t)n; /* a line that has no room is left out */
	p->text[p->len] = 0;
}

static void head(page *p, const char *name, const char *kind, const char *help)
{
	add(p, "# HELP gwbench_%s %s\n# TYPE gwbench_%s %s\n", name, help, name, kind);
}

/* ---- what runs here ---- */

static bool takes_first(const gw_impl_info *a, const gw_impl_info *b)
{
	return a->constant_time != b->constant_time ? a->constant_time > b->constant_time : a->priority > b->priority;
}

static void implementations(page *p)
{
	head(p, "implementation_selected", "gauge",
		 "1 for the implementation of an algorithm that a new SA gets by default, 0 for the others that run here.");
	for (size_t i = 0; i < gw_impl_count(); i++) {
		gw_impl_info one, other;
		bool best = true;
		gw_impl_describe(gw_impl_at(i), &one);
		if (!one.runnable || one.checked <= 0) continue;
		for (size_t j = 0; j < gw_impl_count(); j++) {
			gw_impl_describe(gw_impl_at(j), &other);
			if (!strcmp(one.alg, other.alg) && other.runnable && other.checked > 0 && takes_first(&other, &one))
				best = false;
		}
		add(p, "gwbench_implementation_selected{algorithm=\"%s\",driver=\"%s\",isa=\"%s\",constant_time=\"%s\"} %d\n",
			one.alg, one.driver, one.isa, one.constant_time ? "yes" : "no", best);
	}
}

/* "XfrmInNoStates 3" as reason="in_no_states": the words that our own drops have. */
static void kernel_drops(page *p)
{
	FILE *file = fopen("/proc/net/xfrm_stat", "re");
	char line[96], word[64];

	if (!file) return;
	head(p, "kernel_xfrm_drops_total", "counter",
		 "The kernel's own count of packets that IPsec dropped in this network namespace: /proc/net/xfrm_stat.");
	while (fgets(line, sizeof line, file)) {
		const size_t n = strcspn(line, " \t");
		size_t at = 0;
		if (strncmp(line, "Xfrm", 4) || n >= 48) continue;
		for (size_t i = 4; i < n; i++) {
			if (isupper((unsigned char)line[i]) && at) word[at++] = '_';
			word[at++] = (char)tolower((unsigned char)line[i]);
		}
		word[at] = 0;
		const bool state = !strncmp(word, "in_state_", 9) && strcmp(word, "in_state_invalid");
		add(p, "gwbench_kernel_xfrm_drops_total{reason=\"%s\"} %llu\n", state ? word + 3 : word,
			strtoull(line + n, NULL, 10));
	}
	fclose(file);
}

/* ---- our loops ---- */

#define AT(field) offsetof(gw_loop_counters, field)
static const struct {
	const char *name, *help, *label; /* a name that repeats goes on with the family */
	size_t offset;
} loop_counters[] = {
	{"loop_io_calls_total", "System calls that moved packets.", "call=\"tun_read\"", AT(tun_reads)},
	{"loop_io_calls_total", "", "call=\"tun_write\"", AT(tun_writes)},
	{"loop_io_calls_total", "", "call=\"udp_send\"", AT(udp_sends)},
	{"loop_io_calls_total", "", "call=\"udp_receive\"", AT(udp_recvs)},
	{"loop_io_bytes_total", "Bytes that these calls moved.", "call=\"tun_read\"", AT(tun_read_bytes)},
	{"loop_io_bytes_total", "", "call=\"tun_write\"", AT(tun_write_bytes)},
	{"loop_io_bytes_total", "", "call=\"udp_send\"", AT(udp_send_bytes)},
	{"loop_io_bytes_total", "", "call=\"udp_receive\"", AT(udp_recv_bytes)},
	{"loop_io_packets_total", "Packets that these calls moved.", "call=\"tun_write\"", AT(tun_write_segments)},
	{"loop_io_packets_total", "", "call=\"udp_send\"", AT(udp_send_packets)},
	{"loop_io_packets_total", "", "call=\"udp_receive\"", AT(udp_recv_packets)},
	{"loop_send_errors_total", "ESP packets that the socket refused.", "", AT(udp_send_errors)},
	{"loop_receive_buffer_drops_total", "ESP packets that the receive buffer had no room for.", "",
	 AT(udp_rcvbuf_drops)},
	{"loop_wakeups_total", "Times that a loop woke from poll.", "", AT(wakeups)},
	{"loop_peer_moves_total", "Peers found at another address or port.", "", AT(peer_moves)},
};

static void loops(page *p, const node *n)
{
	gw_loop_counters *c = calloc(MOST_LOOPS, sizeof c[0]);
	const char *family = "";
	uint32_t count = 0;

	while (c && count < MOST_LOOPS && !gw_dp_loop_read(n->dp, count, &c[count])) count++;
	if (count) head(p, "loop_cpu_seconds_total", "counter", "CPU time of a loop's thread.");
	for (uint32_t i = 0; i < count; i++)
		add(p, "gwbench_loop_cpu_seconds_total{loop=\"%u\"} %llu.%09u\n", (unsigned)i,
			(unsigned long long)(c[i].cpu_ns / 1000000000u), (unsigned)(c[i].cpu_ns % 1000000000u));
	for (size_t k = 0; k < sizeof loop_counters / sizeof loop_counters[0] && count; k++) {
		const char *name = loop_counters[k].name, *label = loop_counters[k].label;
		if (strcmp(family, name)) head(p, family = name, "counter", loop_counters[k].help);
		for (uint32_t i = 0; i < count; i++) {
			uint64_t value;
			memcpy(&value, (const char *)&c[i] + loop_counters[k].offset, sizeof value);
			add(p, "gwbench_%s{loop=\"%u\"%s%s} %llu\n", name, (unsigned)i, *label ? "," : "", label,
				(unsigned long long)value);
		}
	}
	if (count) head(p, "loop_stage_cycles_total", "counter", "Clock cycles by stage of a loop; wait is idle.");
	for (uint32_t i = 0; i < count; i++)
		for (int s = 0; s < GW_STAGES; s++)
			add(p, "gwbench_loop_stage_cycles_total{loop=\"%u\",stage=\"%s\"} %llu\n", (unsigned)i, gw_stage_name(s),
				(unsigned long long)c[i].stage_cycles[s]);
	if (count) head(p, "loop_drops_total", "counter", "Packets dropped before an SA was known, by the kernel's words.");
	for (uint32_t i = 0; i < count; i++)
		for (int d = 1; d < GW_DROP_REASONS; d++)
			add(p, "gwbench_loop_drops_total{loop=\"%u\",reason=\"%s\"} %llu\n", (unsigned)i, gw_drop_name(d),
				(unsigned long long)c[i].drops[d]);
	free(c);
}

char *metrics_text(const node *n)
{
	page p = {malloc(TEXT_BYTES), 0};
	struct utsname system;

	if (!p.text) return NULL;
	uname(&system);
	head(&p, "build_info", "gauge", "Always 1: what is running.");
	add(&p, "gwbench_build_info{version=\"%s\",python=\"none\",machine=\"%s\"} 1\n", gw_version(), system.machine);
	implementations(&p);
	kernel_drops(&p);
	if (n && n->dp) loops(&p, n);
	return p.text;
}

/* ---- HTTP, as much as a scrape needs ---- */

static const node *told;

static bool wait_for(int fd, short what)
{
	struct pollfd p = {.fd = fd, .events = what};
	return poll(&p, 1, 1000) > 0; /* whoever is slower than that is let go: heartbeats wait */
}

static void send_all(int fd, const char *text, size_t len)
{
	while (len && wait_for(fd, POLLOUT)) {
		const ssize_t n = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN) return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

static void answer(int listening)
{
	const int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	char request[2048] = "", header[160], *text = NULL;
	size_t held = 0;

	if (fd < 0) return;
	while (held < sizeof request - 1 && !strstr(request, "\r\n\r\n") && wait_for(fd, POLLIN)) {
		const ssize_t n = recv(fd, request + held, sizeof request - 1 - held, 0);
		if (n <= 0) break;
		held += (size_t)n;
		request[held] = 0;
	}
	const bool found = !strncmp(request, "GET /metrics ", 13) || !strncmp(request, "GET / ", 6);
	if (found) text = metrics_text(told);
	const char *status = !found ? "404 Not Found" : text ? "200 OK" : "503 Service Unavailable";
	const size_t len = text ? strlen(text) : 0;
	snprintf(header, sizeof header,
			 "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
			 "Connection: close\r\n\r\n",
			 status, len);
	send_all(fd, header, strlen(header));
	if (text) send_all(fd, text, len);
	free(text);
	close(fd);
}

int metrics_listen(const char *address, const node *n)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at;
	char host[64];
	const char *colon = strrchr(address, ':');
	const int one = 1;
	gw_addr parsed;

	memset(&at, 0, sizeof at);
	const unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;
	const bool bracket = address[0] == '[';
	if (!port || port > 65535 || (bracket && colon[-1] != ']')) return -EINVAL;
	snprintf(host, sizeof host, "%.*s", (int)(colon - address) - (bracket ? 2 : 0), address + bracket);
	if (strchr(host, '/') || !netif_parse(host, &parsed)) return -EINVAL;
	if (parsed.family == 6) {
		at.v6.sin6_family = AF_INET6;
		at.v6.sin6_port = htons((uint16_t)port);
		memcpy(&at.v6.sin6_addr, parsed.bytes, 16);
	} else {
		at.v4.sin_family = AF_INET;
		at.v4.sin_port = htons((uint16_t)port);
		memcpy(&at.v4.sin_addr, parsed.bytes, 4);
	}
	const int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, &at.any, parsed.family == 6 ? sizeof at.v6 : sizeof at.v4) || listen(fd, 8)) {
		const int rc = -errno;
		close(fd);
		return rc;
	}
	told = n;
	process_watch(fd, answer);
	return 0;
}
