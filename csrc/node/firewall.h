/* SPDX-License-Identifier: MIT
 * Rules that let the test's packets through a router's firewall, and nothing else: into `inet fw4` by nft, on older
 * releases by iptables. They carry the comment "gwbench" and are deleted by handle.
 */
#ifndef GW_NODE_FIREWALL_H
#define GW_NODE_FIREWALL_H

#include "arguments.h"

typedef struct firewall_wish {
	const char *interface; /* "": the kernel's data path has none, rules are by prefixes alone */
	const char *peer;      /* outer address, "" = none */
	const char *encap;     /* "udp" or "none" */
	uint32_t port;
	argument_texts prefixes;
} firewall_wish;

/* Inserts; *kind: "fw4", "iptables" or "none" (no firewall that we know: nothing to do). How many rules, or -1. */
int firewall_insert(const firewall_wish *w, const char **kind, node_failure *f);
/* Ours that are there; -1: cannot tell. */
int firewall_count(const char *kind);
/* Deletes every rule of ours. 0 or -errno. */
int firewall_undo_fw4(void);
int firewall_undo_iptables(char *rule);

#endif
