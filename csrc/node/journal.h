/* SPDX-License-Identifier: MIT
 * What would outlive this process, written down before it is made: one line an entry, newest last. Whoever has the
 * journal's lock owns the network namespace: a second gwnode is refused, and a dead one's journal is undone first.
 */
#ifndef GW_NODE_JOURNAL_H
#define GW_NODE_JOURNAL_H

#include <stddef.h>
#include <sys/types.h>

/* Opens it (made 0600 if it is not there) and takes its lock. 0; -EBUSY: *owner has it; -errno. */
int journal_open(pid_t *owner);
const char *journal_path(void);
/* "kind arguments"; "gwnode PID" names the owner, and is nothing to undo. 0 or -errno: what was not written down must
 * not be made. */
__attribute__((format(printf, 1, 2))) int journal_note(const char *format, ...);
/* The newest entry was not made after all (somebody else's stands there). */
void journal_forget(void);
size_t journal_mark(void); /* where the next entry will stand */
/* Undoes the entries from a mark on (0: all), newest first, and takes them out. How many were undone; *failed: how many
 * could not be, and stay. say: may be NULL; told of each. */
size_t journal_undo(size_t mark, size_t *failed, void (*say)(const char *entry, int rc));
/* Removes an empty journal and gives up the lock. */
void journal_close(void);

/* undo.c: takes back one entry, which is destroyed. 0 (also when it is gone already) or -errno. */
int undo_entry(char *entry);

#endif
