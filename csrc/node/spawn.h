/* SPDX-License-Identifier: MIT
 * Other programs: nft and iptables.
 */
#ifndef GW_NODE_SPAWN_H
#define GW_NODE_SPAWN_H

#include <stddef.h>

/* Where a program of this name is installed: into path; NULL when nowhere. */
const char *spawn_find(const char *name, char path[32]);
/* Runs it with input (may be NULL) at stdin; what it writes, and what it complains, goes to out, NUL-terminated and cut
 * off. argv[0] is the path. The exit status, or -errno. */
int spawn_run(char *const argv[], const char *input, char *out, size_t room);

#endif
