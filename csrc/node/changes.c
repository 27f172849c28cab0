/* SPDX-License-Identifier: MIT
 * See changes.h.
 */
#include "changes.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "firewall.h"
#include "guard.h"
#include "journal.h"
#include "netif.h"
#include "netlink.h"

typedef struct change_arguments {
	const char *interface, *address, *prefix, *via, *name, *value;
	firewall_wish wish;
} change_arguments;

#define CHANGE(field) offsetof(change_arguments, field)

static int need_lease(const node *n, node_failure *f)
{
	return n->leased ? 0 : node_fail(f, "not-supported", "only a node with a lease changes its machine (--lease)");
}

static int journal_failed(node_failure *f, int rc)
{
	return node_fail(f, "error", "cannot write the journal %s: %s", journal_path(), strerror(-rc));
}

/* After the journal: an entry of what was not made must not be undone, it may be somebody's. */
static int made(node_failure *f, const char *what, const char *text, const char *interface, int rc)
{
	if (!rc) return 0;
	journal_forget();
	return node_fail(f, "error", "cannot set %s %.64s on %.16s: %s", what, text, interface, strerror(-rc));
}

int changes_address(const char *interface, const char *text, const gw_addr *address, node_failure *f)
{
	const int ifindex = (int)if_nametoindex(interface), rc = journal_note("address %.16s %.64s", interface, text);
	int fd;

	if (rc) return journal_failed(f, rc);
	if (!ifindex) return made(f, "address", text, interface, -ENODEV);
	if ((fd = netlink_open(NETLINK_ROUTE)) < 0) return made(f, "address", text, interface, fd);
	const int done = netif_add_address(fd, ifindex, address);
	close(fd);
	return made(f, "address", text, interface, done);
}

int changes_route(const char *interface, const char *text, const gw_addr *prefix, const gw_addr *via, node_failure *f)
{
	const int ifindex = (int)if_nametoindex(interface), rc = journal_note("route %.16s %.64s", interface, text);
	int fd;

	if (rc) return journal_failed(f, rc);
	if (!ifindex) return made(f, "route", text, interface, -ENODEV);
	if ((fd = netlink_open(NETLINK_ROUTE)) < 0) return made(f, "route", text, interface, fd);
	const int done = netif_add_own_route(fd, ifindex, prefix, via);
	close(fd);
	return made(f, "route", text, interface, done);
}

int node_add_address(node *n, node_failure *f)
{
	static const argument table[] = {{"interface", ARGUMENT_TEXT, true, CHANGE(interface)},
									 {"address", ARGUMENT_TEXT, true, CHANGE(address)}};
	change_arguments a;
	gw_addr address;

	if (arguments_read(n->request, table, 2, &a, f) || need_lease(n, f) || guard_prefix(n, a.address, &address, f) ||
		changes_address(a.interface, a.address, &address, f))
		return -1;
	node_write_empty(n);
	return 0;
}

int node_add_route(node *n, node_failure *f)
{
	static const argument table[] = {{"interface", ARGUMENT_TEXT, true, CHANGE(interface)},
									 {"prefix", ARGUMENT_TEXT, true, CHANGE(prefix)},
									 {"via", ARGUMENT_TEXT, false, CHANGE(via)}};
	change_arguments a = {.via = ""};
	gw_addr prefix, via;

	if (arguments_read(n->request, table, 3, &a, f) || need_lease(n, f) || guard_prefix(n, a.prefix, &prefix, f))
		return -1;
	if (*a.via && !netif_parse(a.via, &via)) return node_fail(f, "bad-request", "not an address: '%.64s'", a.via);
	if (changes_route(a.interface, a.prefix, &prefix, *a.via ? &via : NULL, f)) return -1;
	node_write_empty(n);
	return 0;
}

/* ---- sysctl ---- */

static int sysctl_file(const char *name, int flags)
{
	char path[160];

	if (snprintf(path, sizeof path, "/proc/sys/%s", name) >= (int)sizeof path) return -ENAMETOOLONG;
	const int fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int changes_sysctl(const char *name, const char *value)
{
	const int fd = sysctl_file(name, O_WRONLY);

	if (fd < 0) return fd;
	const int rc = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

static bool sysctl_allowed(const char *name)
{
	if ((strncmp(name, "net/ipv4/", 9) && strncmp(name, "net/ipv6/", 9)) || strstr(name, "..")) return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("/._-", *name)) return false;
	return true;
}

int node_set_sysctl(node *n, node_failure *f)
{
	static const argument table[] = {{"name", ARGUMENT_TEXT, true, CHANGE(name)},
									 {"value", ARGUMENT_TEXT, true, CHANGE(value)}};
	char before[128] = "";
	change_arguments a;
	int rc;

	if (arguments_read(n->request, table, 2, &a, f) || need_lease(n, f)) return -1;
	if (!sysctl_allowed(a.name))
		return node_fail(f, "refused", "only net/ipv4/... and net/ipv6/... are changed, not '%.64s'", a.name);
	const int fd = sysctl_file(a.name, O_RDONLY);
	const ssize_t got = fd < 0 ? -1 : read(fd, before, sizeof before - 1);
	if (fd >= 0) close(fd);
	if (got < 0) return node_fail(f, "error", "this kernel has no sysctl %.64s", a.name);
	before[strcspn(before, "\n")] = 0;
	if (strcmp(before, a.value)) {
		if ((rc = journal_note("sysctl %s %s", a.name, before))) return journal_failed(f, rc);
		if ((rc = changes_sysctl(a.name, a.value))) {
			journal_forget();
			return node_fail(f, "error", "cannot set %.64s to %.32s: %s", a.name, a.value, strerror(-rc));
		}
	}
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "before", before);
	json_end(&n->out, '}');
	return 0;
}

/* ---- firewall ---- */

int node_firewall(node *n, node_failure *f)
{
	static const argument table[] = {{"interface", ARGUMENT_TEXT, false, CHANGE(wish.interface)},
									 {"prefixes", ARGUMENT_TEXTS, true, CHANGE(wish.prefixes)},
									 {"peer", ARGUMENT_TEXT, false, CHANGE(wish.peer)},
									 {"port", ARGUMENT_PORT, false, CHANGE(wish.port)},
									 {"encap", ARGUMENT_TEXT, false, CHANGE(wish.encap)}};
	change_arguments a = {.wish = {.interface = "", .peer = "", .encap = "udp", .port = 4500}};
	gw_addr peer;

	if (arguments_read(n->request, table, 5, &a, f) || need_lease(n, f) || guard_rules(n, &a.wish.prefixes, f))
		return -1;
	if (*a.wish.interface && !guard_interface(a.wish.interface))
		return node_fail(f, "bad-request", "not an interface's name: '%.16s'", a.wish.interface);
	if (*a.wish.peer && (!netif_parse(a.wish.peer, &peer) || strchr(a.wish.peer, '/')))
		return node_fail(f, "bad-request", "not an address: '%.64s'", a.wish.peer);
	const int rules = firewall_insert(&a.wish, &n->firewall, f);
	if (rules < 0) return -1;
	n->firewall_rules += rules;
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "kind", n->firewall);
	json_put_count(&n->out, "rules", (uint64_t)rules);
	json_end(&n->out, '}');
	return 0;
}

int node_check_firewall(node *n, node_failure *f)
{
	if (arguments_read(n->request, NULL, 0, NULL, f) || need_lease(n, f)) return -1;
	const int there = n->firewall ? firewall_count(n->firewall) : 0;
	if (there < n->firewall_rules) {
		snprintf(f->hint, sizeof f->hint, "do not reload the firewall while a test runs; start it again");
		return node_fail(f, "rules-gone", "%d of %d rules are gone: the router's firewall was reloaded during the test",
						 n->firewall_rules - (there > 0 ? there : 0), n->firewall_rules);
	}
	node_result(n);
	json_begin(&n->out, '{');
	json_put_count(&n->out, "rules", (uint64_t)there);
	json_put_count(&n->out, "missing", 0);
	json_end(&n->out, '}');
	return 0;
}
