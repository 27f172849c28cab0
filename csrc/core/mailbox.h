/* SPDX-License-Identifier: MIT
 * How control reaches a loop: a command is posted, applied by the loop between two batches, and acknowledged.
 * Control never writes what a loop reads.
 */
#ifndef GW_CORE_MAILBOX_H
#define GW_CORE_MAILBOX_H

#include <stdint.h>

typedef struct gw_mailbox gw_mailbox;
/* Runs in the loop's thread; the value is what gw_mailbox_call returns. */
typedef int (*gw_mail_fn)(void *loop, void *arg);

gw_mailbox *gw_mailbox_new(void);
void gw_mailbox_free(gw_mailbox *box);
int gw_mailbox_fd(const gw_mailbox *box); /* eventfd, readable when a command waits */
/* Control's side: posts, wakes the loop, waits for the acknowledgement. -ESHUTDOWN when the loop has ended,
 * -ETIMEDOUT after timeout_ms (the command may still run later: its argument must then stay alive). */
int gw_mailbox_call(gw_mailbox *box, gw_mail_fn fn, void *arg, int timeout_ms);
/* Loop's side: applies all that wait. Returns how many. */
int gw_mailbox_drain(gw_mailbox *box, void *loop);
/* Loop's side, at its end: every later call returns -ESHUTDOWN. */
void gw_mailbox_close(gw_mailbox *box);

#endif
