/* SPDX-License-Identifier: MIT
 * The path: opened, closed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"
#include "kernel.h"
#include "netif.h"
#include "netlink.h"
#include "protocol.h"

static const node_word offloads[] = {{"tun-tso", GW_OFF_TUN_TSO}, {"udp-gso", GW_OFF_UDP_GSO},
									 {"udp-gro", GW_OFF_UDP_GRO}, {"tun-coalesce", GW_OFF_TUN_COALESCE},
									 {"tun-uso", GW_OFF_TUN_USO}, {NULL, 0}};

void node_close_path(node *n)
{
	gw_dp_free(n->dp);
	n->dp = NULL;
	kernel_close(n);
	n->n_sas = 0;
	free(n->sas);
	free(n->counted);
	n->sas = NULL;
	n->counted = NULL;
}

/* ---- open_path ---- */

#define PATH(field) offsetof(path_arguments, field)
static const argument path_table[] = {
	{"local", ARGUMENT_TEXT, true, PATH(local)},
	{"port", ARGUMENT_PORT, false, PATH(port)},
	{"tun", ARGUMENT_TEXT, false, PATH(tun)},
	{"mtu", ARGUMENT_COUNT, false, PATH(mtu)},
	{"addresses", ARGUMENT_TEXTS, false, PATH(addresses)},
	{"routes", ARGUMENT_TEXTS, false, PATH(routes)},
	{"offload", ARGUMENT_TEXTS, false, PATH(offload)},
	{"txqueuelen", ARGUMENT_COUNT, false, PATH(txqueuelen)},
	{"queues", ARGUMENT_COUNT, false, PATH(queues)},
	{"rcvbuf_bytes", ARGUMENT_COUNT, false, PATH(rcvbuf_bytes)},
	{"sndbuf_bytes", ARGUMENT_COUNT, false, PATH(sndbuf_bytes)},
	{"udp_checksum", ARGUMENT_BOOL, false, PATH(udp_checksum)},
	{"encap", ARGUMENT_TEXT, false, PATH(encap)},
	{"max_sas", ARGUMENT_COUNT, false, PATH(max_sas)},
	{"clamp_mss", ARGUMENT_BOOL, false, PATH(clamp_mss)},
	{"fragment", ARGUMENT_TEXT, false, PATH(fragment)},
};

static const node_word fragments[] = {{"after", 0}, {"before", GW_DP_FRAGMENT_BEFORE}, {NULL, 0}};
static const node_word encaps[] = {{"udp", GW_ENCAP_UDP}, {"none", GW_ENCAP_NONE}, {NULL, 0}};

static int read_offload(const argument_texts *texts, uint32_t *offload, node_failure *f)
{
	const char *name = texts->first;

	*offload = 0;
	for (size_t i = 0; i < texts->count; i++, name += strlen(name) + 1) {
		const node_word *word = node_find_word(offloads, name);
		if (!word) {
			size_t used = (size_t)snprintf(f->hint, sizeof f->hint, "there are:");
			for (const node_word *w = offloads; w->name && used < sizeof f->hint; w++)
				used += (size_t)snprintf(f->hint + used, sizeof f->hint - used, " %s", w->name);
			return node_fail(f, "error", "no offload is called '%.64s'", name);
		}
		*offload |= word->value;
	}
	return 0;
}

static int set_step(node_failure *f, const gw_dp_info *info, const char *step, const char *what, int rc)
{
	return node_fail(f, "error", "cannot set %s%.64s on %s: %s", step, what, info->tun_name, strerror(-rc));
}

/* MTU and queue length were set when the TUN was opened. */
static int configure(const node *n, const gw_dp_info *info, const path_arguments *a, node_failure *f)
{
	const char *address = a->addresses.first, *route = a->routes.first;
	bool any_v6 = false;
	gw_addr parsed;
	int rc;

	if (guard_prefixes(n, &a->addresses, &any_v6, f) || guard_prefixes(n, &a->routes, &any_v6, f)) return -1;
	netif_quiet_ipv6(info->tun_name, any_v6);
	const int fd = netlink_open(NETLINK_ROUTE);
	if (fd < 0) return set_step(f, info, "", "anything", fd);
	for (size_t i = 0; i < a->addresses.count; i++, address += strlen(address) + 1) {
		(void)netif_parse(address, &parsed);
		if ((rc = netif_add_address(fd, info->ifindex, &parsed))) {
			set_step(f, info, "address ", address, rc);
			goto fail;
		}
	}
	if ((rc = netif_set_up(fd, info->ifindex))) {
		set_step(f, info, "", "up", rc);
		goto fail;
	}
	for (size_t i = 0; i < a->routes.count; i++, route += strlen(route) + 1) {
		(void)netif_parse(route, &parsed);
		if ((rc = netif_add_route(fd, info->ifindex, &parsed))) {
			set_step(f, info, "route ", route, rc);
			goto fail;
		}
	}
	close(fd);
	return 0;
fail:
	close(fd);
	return -1;
}

static void write_path(node *n, const gw_dp_info *info)
{
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "tun", info->tun_name);
	json_put_count(&n->out, "ifindex", (uint64_t)info->ifindex);
	json_put_count(&n->out, "port", info->local.port);
	json_key(&n->out, "offload");
	json_begin(&n->out, '[');
	for (const node_word *w = offloads; w->name; w++)
		if (info->offload & w->value) json_text(&n->out, w->name);
	json_end(&n->out, ']');
	json_put_count(&n->out, "gso_max_segments", info->gso_max_segments);
	json_put_count(&n->out, "rcvbuf_bytes", info->rcvbuf_bytes);
	json_put_count(&n->out, "sndbuf_bytes", info->sndbuf_bytes);
	json_put_count(&n->out, "queues", info->queues);
	json_key(&n->out, "ports");
	json_begin(&n->out, '[');
	for (uint32_t i = 0; i < info->queues; i++) json_count(&n->out, gw_dp_port(n->dp, i));
	json_end(&n->out, ']');
	json_end(&n->out, '}');
}

int node_open_path(node *n, node_failure *f)
{
	static const char defaults[] = "tun-tso\0udp-gso\0udp-gro\0tun-coalesce";
	path_arguments a = {.tun = "esp0",
						.port = 4500,
						.mtu = 1400,
						.txqueuelen = 10000,
						.queues = 1,
						.rcvbuf_bytes = 8u << 20,
						.sndbuf_bytes = 8u << 20,
						.max_sas = 64,
						.udp_checksum = true,
						.encap = "udp",
						.clamp_mss = true,
						.fragment = "after",
						.offload = {defaults, 4}};
	gw_dp_config config = {.tun_fd = -1};
	gw_dp_info info;
	gw_err err = {""};

	if (arguments_read(n->request, path_table, sizeof path_table / sizeof path_table[0], &a, f)) return -1;
	n->max_sas = a.max_sas ? a.max_sas : 64;
	if (n->kernel) return kernel_open(n, &a, f);
	if (n->dp) {
		snprintf(f->hint, sizeof f->hint, "close it first");
		return node_fail(f, "error", "a path is open already");
	}
	if (read_offload(&a.offload, &config.offload, f)) return -1;
	const node_word *encap = node_find_word(encaps, a.encap);
	if (!encap) {
		snprintf(f->hint, sizeof f->hint, "there are: udp none");
		return node_fail(f, "error", "no encapsulation is called '%.64s'", a.encap);
	}
	const node_word *fragment = node_find_word(fragments, a.fragment);
	if (!fragment) {
		snprintf(f->hint, sizeof f->hint, "there are: after before");
		return node_fail(f, "error", "no place of fragmentation is called '%.64s'", a.fragment);
	}
	config.flags = fragment->value | (a.clamp_mss ? 0u : GW_DP_KEEP_MSS);
	config.encap = encap->value;
	if (!netif_parse(a.local, &config.local) || strchr(a.local, '/'))
		return node_fail(f, "bad-request", "not an address: '%.64s'", a.local);
	config.local.port = (uint16_t)a.port;
	config.tun_name = a.tun;
	config.mtu = a.mtu;
	config.txqueuelen = a.txqueuelen;
	config.queues = a.queues;
	config.rcvbuf_bytes = a.rcvbuf_bytes;
	config.sndbuf_bytes = a.sndbuf_bytes;
	config.udp_checksum = a.udp_checksum;
	config.max_sas = n->max_sas;
	if (gw_init(&err) < 0) return node_fail(f, "error", "%s", err.text);
	n->sas = calloc(n->max_sas, sizeof n->sas[0]);
	n->counted = calloc(n->max_sas, sizeof n->counted[0]);
	n->dp = n->sas && n->counted ? gw_dp_new(&config, &err) : NULL;
	if (!n->dp) {
		snprintf(f->hint, sizeof f->hint, "asked for: TUN %.16s, outer address %.64s, UDP port %u", a.tun, a.local,
				 (unsigned)a.port);
		node_fail(f, "error", "%s", err.text[0] ? err.text : "cannot open the data path: out of memory");
		node_close_path(n);
		return -1;
	}
	gw_dp_describe(n->dp, &info);
	if (configure(n, &info, &a, f)) {
		node_close_path(n);
		return -1;
	}
	if (gw_dp_start(n->dp, &err)) {
		node_close_path(n);
		return node_fail(f, "error", "%s", err.text);
	}
	write_path(n, &info);
	return 0;
}

int node_close_path_op(node *n, node_failure *f)
{
	if (arguments_read(n->request, NULL, 0, NULL, f) || node_need_path(n, f)) return -1;
	node_close_path(n);
	node_write_empty(n);
	return 0;
}

int node_close(node *n, node_failure *f)
{
	if (arguments_read(n->request, NULL, 0, NULL, f)) return -1;
	n->closing = true;
	node_close_path(n);
	node_write_empty(n);
	return 0;
}
