/* SPDX-License-Identifier: MIT
 * The line-JSON protocol, version 1, from the node's side: what gateway/node/protocol.py documents and
 * gateway/node/server.py speaks.
 */
#ifndef GW_NODE_PROTOCOL_H
#define GW_NODE_PROTOCOL_H

#include "../gwdp.h"
#include "arguments.h"

#define NODE_PROTOCOL       1
#define NODE_MAX_LINE_BYTES (4u << 20)
#define NODE_SAS_A_LINE     4096

typedef struct sa_note { /* what runs an SA, for the counters */
	uint32_t spi;
	int direction;
	const char *implementation; /* in node.implementations */
} sa_note;

#define NODE_MAX_IMPLEMENTATIONS 64

typedef struct node {
	json_out out;
	const json_object *request;
	bool closing;
	gw_dp *dp; /* NULL: no path is open */
	uint32_t max_sas, n_sas;
	sa_note *sas;            /* max_sas */
	gw_sa_counters *counted; /* max_sas: room for reading */
	char *implementations[NODE_MAX_IMPLEMENTATIONS];
} node;

/* An operation answers by node_result() and the result's value, or fails before it: -1. */
typedef int (*node_operation)(node *n, node_failure *f);
void node_result(node *n); /* begins the answer: {"id":...,"ok":true,"result": */

int node_hello(node *n, node_failure *f);
int node_open_path(node *n, node_failure *f);
int node_add_sa(node *n, node_failure *f);
int node_delete_sa(node *n, node_failure *f);
int node_set_policy(node *n, node_failure *f);
int node_counters(node *n, node_failure *f);
int node_health(node *n, node_failure *f);
int node_close(node *n, node_failure *f);

/* 0, or -1 with code no-path. */
int node_need_path(node *n, node_failure *f);
/* Loops joined, SAs wiped, TUN gone; safe twice. */
void node_close_path(node *n);
void node_write_empty(node *n); /* the result of what has nothing to say */
void node_write_sa(node *n, const gw_sa_counters *c);
const char *node_implementation(const node *n, uint32_t spi, uint32_t direction);

/* Offloads by the names of the protocol, ending with a NULL name. */
typedef struct node_word {
	const char *name;
	uint32_t value;
} node_word;
extern const node_word node_offloads[];
const node_word *node_find_word(const node_word *words, const char *name); /* NULL: none of them */

#endif
