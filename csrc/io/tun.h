/* SPDX-License-Identifier: MIT
 * What loop and dp need of the TUN besides gw_tun_open.
 */
#ifndef GW_IO_TUN_H
#define GW_IO_TUN_H

#include "io.h"

/* An fd that was handed over: checked, made non-blocking, offloads set. Stays the caller's on failure. */
int gw_tun_adopt(int fd, char name[16], uint32_t *offload, gw_err *err);
/* MTU (0 = as it is) and txqueuelen in packets. The kernel's 500 drops bursts that a batch would have taken. */
int gw_tun_link(const char *name, uint32_t mtu, uint32_t txqueuelen, int *ifindex, gw_err *err);

#endif
