/* SPDX-License-Identifier: MIT
 * What a test needs of the router besides its own TUN: addresses, routes, sysctls, firewall rules. Each is journalled.
 */
#ifndef GW_NODE_CHANGES_H
#define GW_NODE_CHANGES_H

#include "state.h"

int node_add_address(node *n, node_failure *f);
int node_add_route(node *n, node_failure *f);
int node_set_sysctl(node *n, node_failure *f);
int node_firewall(node *n, node_failure *f);
int node_check_firewall(node *n, node_failure *f);

/* Journalled; 0 or -1. via: NULL = none. */
int changes_address(const char *interface, const char *text, const gw_addr *address, node_failure *f);
int changes_route(const char *interface, const char *text, const gw_addr *prefix, const gw_addr *via, node_failure *f);
/* Writes below /proc/sys. 0 or -errno. */
int changes_sysctl(const char *name, const char *value);

#endif
