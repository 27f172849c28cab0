/* SPDX-License-Identifier: MIT
 * See kernel.h. What it makes outlives this process, so everything goes through the journal.
 */
#include "kernel.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "changes.h"
#include "guard.h"
#include "journal.h"
#include "netif.h"
#include "netlink.h"
#include "xfrm.h"

#define MOST_POLICIES 16
#define STAT_LINES    40
#define MOST_ROUTES   8

static struct {
	size_t mark; /* in the journal: what follows is this path's */
	int socket;  /* takes ESP out of UDP for the kernel; -1: none */
	bool encap;
	size_t n_policies;
	struct {
		gw_addr src, dst;
	} policies[MOST_POLICIES];
	size_t n_routes;
	gw_addr routes[MOST_ROUTES];
	uint64_t before[STAT_LINES];
} k = {.socket = -1};

static int why(gw_err *err, const char *text, int rc)
{
	snprintf(err->text, sizeof err->text, "%s", text);
	return rc;
}

/* ---- path ---- */

static int bind_encap(const gw_addr *local, uint16_t *port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at;
	const int espinudp = 2;
	socklen_t len = local->family == 6 ? sizeof at.v6 : sizeof at.v4;

	memset(&at, 0, sizeof at);
	if (local->family == 6) {
		at.v6.sin6_family = AF_INET6;
		at.v6.sin6_port = htons(*port);
		memcpy(&at.v6.sin6_addr, local->bytes, 16);
	} else {
		at.v4.sin_family = AF_INET;
		at.v4.sin_port = htons(*port);
		memcpy(&at.v4.sin_addr, local->bytes, 4);
	}
	k.socket = socket(at.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (k.socket < 0 || bind(k.socket, &at.any, len) ||
		setsockopt(k.socket, IPPROTO_UDP, 100 /* UDP_ENCAP */, &espinudp, sizeof espinudp) ||
		getsockname(k.socket, &at.any, &len))
		return -errno;
	*port = ntohs(local->family == 6 ? at.v6.sin6_port : at.v4.sin_port);
	return 0;
}

static int each(const argument_texts *texts, const char *device, bool route, node_failure *f)
{
	const char *text = texts->first;
	gw_addr parsed;
	int rc = 0;

	for (size_t i = 0; i < texts->count && !rc; i++, text += strlen(text) + 1) {
		(void)netif_parse(text, &parsed);
		if (route) k.routes[k.n_routes++] = parsed;
		rc = route ? changes_route(device, text, &parsed, NULL, f) : changes_address(device, text, &parsed, f);
	}
	return rc;
}

static void read_statistics(uint64_t values[STAT_LINES], json_out *out);

int kernel_open(node *n, const path_arguments *a, node_failure *f)
{
	gw_addr local;
	char device[IF_NAMESIZE] = "";
	uint16_t port = (uint16_t)a->port;
	bool v6 = false;

	if (n->kernel_open) return node_fail(f, "error", "a path is open already");
	if (!netif_parse(a->local, &local) || strchr(a->local, '/'))
		return node_fail(f, "bad-request", "not an address: '%.64s'", a->local);
	if (a->routes.count > MOST_ROUTES) return node_fail(f, "error", "more than %d routes", MOST_ROUTES);
	if (guard_prefixes(n, &a->addresses, &v6, f) || guard_prefixes(n, &a->routes, &v6, f)) return -1;
	int rc = xfrm_probe(gw_suite_find("aes256-sha256"), &local, &local);
	if (rc == -EPROTONOSUPPORT || rc == -EAFNOSUPPORT || rc == -EPERM) {
		snprintf(f->hint, sizeof f->hint, "use --dataplane user, or install the module");
		return node_fail(f, "kernel-lacks", "%s", xfrm_lacks(rc, &local));
	}
	const int fd = netlink_open(NETLINK_ROUTE);
	const int index = fd < 0 ? fd : netif_holding(fd, &local);
	if (fd >= 0) close(fd);
	if (index < 0 || !if_indextoname((unsigned)index, device))
		return node_fail(f, "error", "no interface has the address %.64s", a->local);
	k.encap = strcmp(a->encap, "udp") == 0;
	k.mark = journal_mark();
	if (k.encap && (rc = bind_encap(&local, &port))) {
		kernel_close(n);
		return node_fail(f, "error", "cannot take ESP from UDP port %u: %s", (unsigned)a->port, strerror(-rc));
	}
	n->sas = calloc(n->max_sas, sizeof n->sas[0]);
	n->counted = calloc(n->max_sas, sizeof n->counted[0]);
	if (!n->sas || !n->counted) return node_fail(f, "error", "out of memory");
	n->kernel_open = true;
	read_statistics(k.before, NULL);
	if (each(&a->addresses, device, false, f) || each(&a->routes, device, true, f)) return -1;
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "tun", device);
	json_put_count(&n->out, "ifindex", (uint64_t)index);
	json_put_count(&n->out, "port", k.encap ? port : 0);
	json_key(&n->out, "offload");
	json_begin(&n->out, '[');
	json_end(&n->out, ']');
	static const char *const none[] = {"gso_max_segments", "rcvbuf_bytes", "sndbuf_bytes", "queues"};
	for (size_t i = 0; i < 4; i++) json_put_count(&n->out, none[i], 0);
	json_end(&n->out, '}');
	return 0;
}

void kernel_close(node *n)
{
	size_t failed;

	if (n->kernel_open) journal_undo(k.mark, &failed, NULL);
	if (k.socket >= 0) close(k.socket);
	k.socket = -1;
	k.n_policies = 0;
	k.n_routes = 0;
	n->kernel_open = false;
}

/* ---- SAs ---- */

/* The name behind "driver" of the entry of /proc/crypto with this name and the highest priority. */
static void driver_of(const char *algorithm, char *to, size_t room)
{
	FILE *file = fopen("/proc/crypto", "re");
	char line[160], driver[128] = "";
	long best = -1;
	bool right = false;

	snprintf(to, room, "%s/kernel", algorithm);
	while (file && fgets(line, sizeof line, file)) {
		char *colon = strchr(line, ':');
		if (!colon) continue;
		colon[1 + strcspn(colon + 1, "\n")] = 0;
		const char *value = colon + 1 + strspn(colon + 1, " ");
		if (!strncmp(line, "name ", 5)) right = !strcmp(value, algorithm);
		if (right && !strncmp(line, "driver ", 7)) snprintf(driver, sizeof driver, "%s", value);
		if (right && !strncmp(line, "priority ", 9) && atol(value) > best) {
			best = atol(value);
			snprintf(to, room, "%s/kernel", driver);
		}
	}
	if (file) fclose(file);
}

int kernel_sa_add(node *n, const gw_sa_params *p, char *ran, size_t room, gw_err *err)
{
	const gw_addr *dst = p->direction == GW_DIR_OUT ? &p->peer : &p->local;
	char address[INET6_ADDRSTRLEN], algorithm[100];
	int rc;

	(void)n;
	inet_ntop(dst->family == 6 ? AF_INET6 : AF_INET, dst->bytes, address, sizeof address);
	if ((rc = journal_note("sa %s %u", address, (unsigned)p->spi)))
		return why(err, "the journal cannot be written", rc);
	if ((rc = xfrm_add_sa(p, k.encap))) {
		journal_forget();
		return why(err, rc == -EEXIST ? "the kernel has an SA of this SPI already" : xfrm_lacks(rc, dst), rc);
	}
	xfrm_algorithm(p->suite, algorithm, sizeof algorithm);
	driver_of(algorithm, ran, room);
	return 0;
}

static const sa_note *find(const node *n, uint32_t spi, int direction)
{
	for (uint32_t i = 0; i < n->n_sas; i++)
		if (n->sas[i].spi == spi && n->sas[i].direction == direction) return &n->sas[i];
	return NULL;
}

static int read_one(const sa_note *sa, gw_sa_counters *out)
{
	*out = (gw_sa_counters){.spi = sa->spi, .direction = (uint32_t)sa->direction};
	return xfrm_read_sa(sa->direction == GW_DIR_OUT ? &sa->peer : &sa->local, sa->spi, out);
}

int kernel_sa_del(node *n, uint32_t spi, int direction, gw_sa_counters *last, gw_err *err)
{
	const sa_note *sa = find(n, spi, direction);
	int rc = sa ? read_one(sa, last) : -ENOENT;

	if (!rc) rc = xfrm_delete_sa(direction == GW_DIR_OUT ? &sa->peer : &sa->local, spi);
	return rc ? why(err, sa ? strerror(-rc) : "no SA of this SPI and direction", rc) : 0;
}

size_t kernel_sa_read(node *n, gw_sa_counters *out, size_t max)
{
	size_t there = 0;

	for (uint32_t i = 0; i < n->n_sas && there < max; i++)
		if (!read_one(&n->sas[i], &out[there])) there++;
	return there;
}

/* ---- policies ---- */

static int journalled_policy(int direction, const gw_addr *src, const gw_addr *dst, const gw_addr *outer_src,
							 const gw_addr *outer_dst, uint32_t spi, bool replace)
{
	const int family = src->family == 6 ? AF_INET6 : AF_INET;
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	int rc = 0;

	inet_ntop(family, src->bytes, from, sizeof from);
	inet_ntop(family, dst->bytes, to, sizeof to);
	if (!replace)
		rc = journal_note("policy %d %s/%u %s/%u", direction, from, (unsigned)src->prefix, to, (unsigned)dst->prefix);
	if (rc) return rc;
	rc = xfrm_set_policy(direction, src, dst, outer_src, outer_dst, spi, replace);
	if (rc && !replace) journal_forget();
	return rc;
}

static int policies(const sa_note *sa, const gw_addr *src, const gw_addr *dst)
{
	bool replace = false;
	int rc;

	for (size_t i = 0; i < k.n_policies; i++)
		replace |= !memcmp(&k.policies[i].src, src, sizeof *src) && !memcmp(&k.policies[i].dst, dst, sizeof *dst);
	if (!replace && k.n_policies == MOST_POLICIES) return -ENOSPC;
	if ((rc = journalled_policy(XFRM_OUT, src, dst, &sa->local, &sa->peer, sa->spi, replace)) ||
		(rc = journalled_policy(XFRM_IN, dst, src, &sa->peer, &sa->local, 0, replace)) ||
		(rc = journalled_policy(XFRM_FWD, dst, src, &sa->peer, &sa->local, 0, replace)))
		return rc;
	if (!replace) {
		k.policies[k.n_policies].src = *src;
		k.policies[k.n_policies++].dst = *dst;
	}
	return 0;
}

/* No destination: what the path's routes lead to, never all of a router's traffic, its ssh included. */
int kernel_policy_set(node *n, const gw_selector *s, uint32_t spi, gw_err *err)
{
	const sa_note *sa = find(n, spi, GW_DIR_OUT);
	const size_t many = s->dst.family ? 1 : k.n_routes;
	int rc = 0;

	if (!sa) return why(err, "no outbound SA of this SPI", -ENOENT);
	for (size_t i = 0; i < many && !rc; i++) {
		const gw_addr *dst = s->dst.family ? &s->dst : &k.routes[i];
		const gw_addr any = {.family = dst->family};
		if (s->src.family && s->src.family != dst->family) continue;
		rc = policies(sa, s->src.family ? &s->src : &any, dst);
	}
	return rc ? why(err, rc == -EEXIST ? "the kernel has a policy for these prefixes already" : strerror(-rc), rc) : 0;
}

/* ---- what it tells ---- */

/* "XfrmInNoStates" as "in_no_states". Those that the SAs count too are left to them. */
static void word_of(const char *name, size_t n, char *to, size_t room)
{
	size_t at = 0;

	for (size_t i = 4; i < n && at + 2 < room; i++) {
		if (isupper((unsigned char)name[i]) && at) to[at++] = '_';
		to[at++] = (char)tolower((unsigned char)name[i]);
	}
	to[at] = 0;
}

/* Into values; with `out` what has grown since k.before, by name. */
static void read_statistics(uint64_t values[STAT_LINES], json_out *out)
{
	FILE *file = fopen("/proc/net/xfrm_stat", "re");
	char line[96], word[48];

	for (int i = 0; file && i < STAT_LINES && fgets(line, sizeof line, file); i++) {
		const size_t n = strcspn(line, " \t");
		values[i] = strtoull(line + n, NULL, 10);
		if (!out || values[i] <= k.before[i] || n < 5) continue;
		word_of(line, n, word, sizeof word);
		if (strcmp(word, "in_state_seq_error") && strcmp(word, "in_state_proto_error"))
			json_put_count(out, word, values[i] - k.before[i]);
	}
	if (file) fclose(file);
}

void kernel_write_drops(json_out *out)
{
	uint64_t now[STAT_LINES];

	json_key(out, "drops");
	json_begin(out, '{');
	read_statistics(now, out);
	json_end(out, '}');
}

void kernel_write_hello(json_out *out)
{
	gw_addr here, there;
	gw_suite_info suite;
	const char *lacks = "";

	(void)netif_parse("192.0.2.1", &here); /* documentation (RFC 5737): never reached */
	(void)netif_parse("192.0.2.2", &there);
	json_key(out, "implementations");
	json_begin(out, '[');
	json_end(out, ']');
	json_key(out, "suites");
	json_begin(out, '[');
	for (int i = 0; !gw_suite_at((size_t)i, &suite); i++) {
		const int rc = xfrm_probe(i, &here, &there);
		if (!rc)
			json_text(out, suite.name);
		else
			lacks = xfrm_lacks(rc, &here);
		if (rc && rc != -ENOSYS && rc != -ENOENT) break; /* not the suite's fault */
	}
	json_end(out, ']');
	json_put_text(out, "lacks", lacks);
}
