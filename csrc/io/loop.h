/* SPDX-License-Identifier: MIT
 * One loop: a thread that owns a TUN queue, an outer path, its SAs and its counter page.
 */
#ifndef GW_IO_LOOP_H
#define GW_IO_LOOP_H

#include "loop_state.h"

/* Thread function; arg is the gw_loop. */
void *gw_loop_run(void *arg);
void gw_loop_publish(gw_loop *l);
int gw_loop_publish_mail(void *loop, void *arg); /* gw_mail_fn */

#endif
