/* SPDX-License-Identifier: MIT
 * What the operations share: the node's state, how an answer begins, words as arguments. Nothing here knows an
 * operation, so that the operations need not look back at who calls them.
 */
#ifndef GW_NODE_STATE_H
#define GW_NODE_STATE_H

#include <sys/types.h>

#include "../gwdp.h"
#include "arguments.h"
#include "echo.h"

typedef struct sa_note { /* what runs an SA, for the counters */
	uint32_t spi;
	int direction;
	const char *implementation; /* in node.implementations */
	gw_addr local, peer;        /* outer */
} sa_note;

#define NODE_MAX_IMPLEMENTATIONS 64

typedef struct node_child { /* iperf3 */
	pid_t pid;              /* 0: not running */
	int output, status;     /* status: negative = a signal's number */
	unsigned port;          /* that it was told to listen at */
	bool started;           /* output is open */
} node_child;

typedef struct node {
	json_out out;
	const json_object *request;
	bool closing;
	bool leased;          /* lives by heartbeats, and may change its machine */
	const char *busy;     /* who owns this machine instead; NULL: we do */
	size_t undone;        /* of a dead session's journal */
	const char *firewall; /* what rules went into; NULL: none yet */
	int firewall_rules;
	bool kernel; /* the data path is XFRM */
	bool kernel_open;
	gw_dp *dp; /* NULL: no path of ours is open */
	uint32_t max_sas, n_sas;
	sa_note *sas;            /* max_sas */
	gw_sa_counters *counted; /* max_sas: room for reading */
	char *implementations[NODE_MAX_IMPLEMENTATIONS];
	echo *echoes;
	node_child child;
} node;

/* Up to the value of the result or the error. */
void node_answer_begin(node *n, const char *id, bool ok);
void node_result(node *n);      /* begins the answer: {"id":...,"ok":true,"result": */
void node_write_empty(node *n); /* the result of what has nothing to say */
/* 0, or -1 with code no-path. */
int node_need_path(node *n, node_failure *f);

typedef struct node_word {
	const char *name; /* NULL ends a table */
	uint32_t value;
} node_word;
const node_word *node_find_word(const node_word *words, const char *name); /* NULL: none of them */

#endif
