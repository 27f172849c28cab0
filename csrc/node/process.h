/* SPDX-License-Identifier: MIT
 * What a node's process does to itself before it handles keys, and how it is told to end.
 */
#ifndef GW_NODE_PROCESS_H
#define GW_NODE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* No core dump, no ptrace, no /proc/PID/mem by others of the same user; and the first to go when memory runs out:
 * a router's other processes matter more than a measurement. */
void process_harden(void);
/* SIGTERM and SIGINT only set process_stopped(), and only while process_read waits. SIGPIPE is ignored. */
void process_catch_signals(void);
bool process_stopped(void);
/* read(2) that those signals end: -1 with errno EINTR; that ends with ETIMEDOUT after timeout_ms (-1: never), and with
 * EPIPE when poll(2) reports an error of `other` (-1: none). */
/* While process_read waits, call() answers whoever connects to the listening socket fd (-1: none). */
void process_watch(int fd, void (*call)(int fd));
ssize_t process_read(int fd, void *to, size_t n, int timeout_ms, int other);

#endif
