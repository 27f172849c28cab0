/* SPDX-License-Identifier: MIT
 * How each kind of journal entry is taken back. What is gone already, or whose interface is, needs no undoing.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "changes.h"
#include "firewall.h"
#include "journal.h"
#include "netif.h"
#include "netlink.h"
#include "xfrm.h"

/* The next word, cut off. */
static char *word(char **rest)
{
	char *start = *rest, *end = start + strcspn(start, " ");

	*rest = *end ? end + 1 : end;
	*end = 0;
	return start;
}

static int gone(int rc)
{
	return rc == -ENODEV || rc == -ESRCH || rc == -ENOENT || rc == -EADDRNOTAVAIL || rc == -ENXIO ? 0 : rc;
}

/* "INTERFACE ADDRESS/PREFIX" */
static int undo_on_interface(char *rest, int (*undo)(int fd, int ifindex, const gw_addr *what))
{
	const int ifindex = (int)if_nametoindex(word(&rest));
	gw_addr what;

	if (!ifindex || !netif_parse(rest, &what)) return 0;
	const int fd = netlink_open(NETLINK_ROUTE);
	if (fd < 0) return fd;
	const int rc = undo(fd, ifindex, &what);
	close(fd);
	return gone(rc);
}

/* "DIRECTION SOURCE DESTINATION" */
static int undo_policy(char *rest)
{
	const int direction = atoi(word(&rest));
	gw_addr src, dst;

	if (!netif_parse(word(&rest), &src) || !netif_parse(rest, &dst)) return -EINVAL;
	return gone(xfrm_delete_policy(direction, &src, &dst));
}

/* "DESTINATION SPI" */
static int undo_sa(char *rest)
{
	gw_addr dst;

	if (!netif_parse(word(&rest), &dst)) return -EINVAL;
	return gone(xfrm_delete_sa(&dst, (uint32_t)strtoul(rest, NULL, 10)));
}

int undo_entry(char *entry)
{
	const char *kind = word(&entry);

	if (!strcmp(kind, "address")) return undo_on_interface(entry, netif_delete_address);
	if (!strcmp(kind, "route")) return undo_on_interface(entry, netif_delete_own_route);
	if (!strcmp(kind, "fw4")) return firewall_undo_fw4();
	if (!strcmp(kind, "iptables")) return firewall_undo_iptables(entry);
	if (!strcmp(kind, "sa")) return undo_sa(entry);
	if (!strcmp(kind, "policy")) return undo_policy(entry);
	if (!strcmp(kind, "sysctl")) {
		const char *name = word(&entry);
		return gone(changes_sysctl(name, entry));
	}
	return -EINVAL; /* of a newer version: stays, and is reported */
}
