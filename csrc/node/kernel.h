/* SPDX-License-Identifier: MIT
 * The kernel's ESP as a node's data path (--kernel). The functions stand in for gw_dp's of the same names.
 */
#ifndef GW_NODE_KERNEL_H
#define GW_NODE_KERNEL_H

#include "protocol.h"

int kernel_open(node *n, const path_arguments *a, node_failure *f); /* answers */
void kernel_close(node *n);
int kernel_sa_add(node *n, const gw_sa_params *p, char *ran, size_t room, gw_err *err);
int kernel_sa_del(node *n, uint32_t spi, int direction, gw_sa_counters *last, gw_err *err);
int kernel_policy_set(node *n, const gw_selector *s, uint32_t spi, gw_err *err);
size_t kernel_sa_read(node *n, gw_sa_counters *out, size_t max);
/* "drops": {...} without an SA since the path was opened. */
void kernel_write_drops(json_out *out);
/* "implementations": [...], "suites": [...], and "lacks" where there are none. */
void kernel_write_hello(json_out *out);

#endif
