/* SPDX-License-Identifier: MIT
 * Metrics in Prometheus' text format, by names of gateway/metrics/names.py; at a port, or as a file for
 * prometheus-node-exporter-lua. Nothing secret is among them.
 */
#ifndef GW_NODE_METRICS_H
#define GW_NODE_METRICS_H

#include "state.h"

/* The text, to be freed; NULL: out of memory. n: the node whose loops are told, or NULL. */
char *metrics_text(const node *n);
/* Listens at "127.0.0.1:10795" or "[::1]:10795" and answers GET /metrics while the process waits. 0 or -errno. */
int metrics_listen(const char *address, const node *n);

#endif
