/* SPDX-License-Identifier: MIT
 * What the parts of the running dataplane share: dp.c opens and ends it, dp_control.c commands it.
 */
#ifndef GW_IO_DP_H
#define GW_IO_DP_H

#include "loop.h"

#define GW_MAX_LOOPS 64

struct gw_dp {
	gw_dp_info info;
	uint32_t max_sas;
	gw_loop *loops[GW_MAX_LOOPS]; /* info.queues */
	bool started, tun_is_ours;
};

/* Writes "what: strerror" and returns code, a negative errno. */
int gw_dp_fail(gw_err *err, int code, const char *what);

#endif
