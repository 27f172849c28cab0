/* SPDX-License-Identifier: MIT
 * What a test must never touch on somebody's only router.
 */
#ifndef GW_NODE_GUARD_H
#define GW_NODE_GUARD_H

#include "state.h"

/* Parses an inner prefix. In leased mode it must lie in 198.18.0.0/15 (RFC 2544) or fc00::/7 (RFC 4193) and cover
 * neither end of the ssh connection that we are reached by. 0 or -1 with code refused. */
int guard_prefix(const node *n, const char *text, gw_addr *out, node_failure *f);
/* The same for each of a list; *any_v6 is set when one is IPv6. */
int guard_prefixes(const node *n, const argument_texts *texts, bool *any_v6, node_failure *f);
/* Prefixes of firewall rules, which only let through: ssh may lie inside. */
int guard_rules(const node *n, const argument_texts *texts, node_failure *f);
/* A name that may be put into a rule or below /proc/sys. */
bool guard_interface(const char *name);

#endif
