/* SPDX-License-Identifier: MIT
 * A node on somebody's router: it lives while the far side says so every second, and a watchdog undoes what it made
 * when it is killed.
 */
#ifndef GW_NODE_LEASE_H
#define GW_NODE_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens the journal, undoes a dead session's, starts the watchdog. Before any thread and any key. 0; -EBUSY: the
 * process *owner has it; -errno. */
int lease_begin(size_t *undone, pid_t *owner);
/* The watchdog is alive. A descriptor that poll(2) reports an error of when it is not: lease_watchdog_fd(), -1: none.
 */
int lease_watchdog_fd(void);
/* The watchdog undoes everything and ends, and is waited for. How many entries could not be undone. */
size_t lease_end(void);

#endif
