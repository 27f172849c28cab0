/* SPDX-License-Identifier: MIT
 * The TUN's addresses, routes, and being up, by rtnetlink; and what the kernel counts of interfaces.
 */
#ifndef GW_NODE_NETIF_H
#define GW_NODE_NETIF_H

#include <stdbool.h>

#include "../gwdp.h"
#include "json.h"

/* "10.0.0.1", "10.0.0.0/8", "fd00::1/64": a prefix that is not given is the whole address. False: none of these. */
bool netif_parse(const char *text, gw_addr *out);

/* No link-local address and no router solicitations on an interface: the kernel's own packets would enter the tunnel.
 * Best effort: /proc/sys may be read-only, and IPv6 absent. */
void netif_quiet_ipv6(const char *name, bool ipv6_wanted);

/* fd: netlink_open(NETLINK_ROUTE). Each returns 0 or -errno, after the kernel has acknowledged it. Addresses are usable
 * at once (no duplicate address detection: a TUN has no neighbours). */
int netif_add_address(int fd, int ifindex, const gw_addr *address);
int netif_set_up(int fd, int ifindex);
int netif_add_route(int fd, int ifindex, const gw_addr *prefix); /* host bits are ignored */
int netif_delete_address(int fd, int ifindex, const gw_addr *address);
/* Routes on interfaces that are not ours carry a protocol number of our own, and only such are deleted. via: or NULL */
int netif_add_own_route(int fd, int ifindex, const gw_addr *prefix, const gw_addr *via);
int netif_delete_own_route(int fd, int ifindex, const gw_addr *prefix);
int netif_holding(int fd, const gw_addr *address); /* index of the interface that has it, or -errno */

/* Writes {"lo": {"rx_packets": ...}, ...}: every interface of this network namespace. */
void netif_write_counters(json_out *out);

#endif
