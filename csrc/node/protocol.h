/* SPDX-License-Identifier: MIT
 * The line-JSON protocol, version 1, from the node's side: what gateway/node/protocol.py documents and
 * gateway/node/server.py speaks.
 */
#ifndef GW_NODE_PROTOCOL_H
#define GW_NODE_PROTOCOL_H

#include "state.h"

#define NODE_PROTOCOL       1
#define NODE_MAX_LINE_BYTES (4u << 20)
#define NODE_SAS_A_LINE     4096

/* An operation answers by node_result() and the result's value, or fails before it: -1. */
typedef int (*node_operation)(node *n, node_failure *f);

int node_hello(node *n, node_failure *f);
int node_open_path(node *n, node_failure *f);
int node_add_sa(node *n, node_failure *f);
int node_delete_sa(node *n, node_failure *f);
int node_set_policy(node *n, node_failure *f);
int node_counters(node *n, node_failure *f);
int node_health(node *n, node_failure *f);
int node_close_path_op(node *n, node_failure *f);
int node_close(node *n, node_failure *f);
int node_open_echo(node *n, node_failure *f);
int node_echo_seen(node *n, node_failure *f);
int node_close_echo(node *n, node_failure *f);
int node_iperf3(node *n, node_failure *f);
int node_iperf3_output(node *n, node_failure *f);
int node_iperf3_stop(node *n, node_failure *f);

/* Killed and forgotten; safe when there is none. */
void node_end_child(node *n);

/* Of open_path. */
typedef struct path_arguments {
	const char *local, *tun, *encap, *fragment;
	uint32_t port, mtu, txqueuelen, queues, rcvbuf_bytes, sndbuf_bytes, max_sas;
	bool udp_checksum, clamp_mss;
	argument_texts addresses, routes, offload;
} path_arguments;

/* Loops joined, SAs wiped, TUN gone; safe twice. */
void node_close_path(node *n);
void node_write_sa(node *n, const gw_sa_counters *c);
const char *node_implementation(const node *n, uint32_t spi, uint32_t direction);

#endif
