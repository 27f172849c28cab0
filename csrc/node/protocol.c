/* SPDX-License-Identifier: MIT
 * gwnode --stdio: reads requests, asks the data path, answers in order. One thread, no packet.
 */
#include "protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/mem.h"
#include "changes.h"
#include "journal.h"
#include "lease.h"
#include "metrics.h"
#include "node.h"
#include "process.h"

#define FIRST_LINE_BYTES (16u << 10)

static const struct {
	const char *name;
	node_operation run;
} operations[] = {
	{"hello", node_hello},
	{"open_path", node_open_path},
	{"add_sa", node_add_sa},
	{"delete_sa", node_delete_sa},
	{"set_policy", node_set_policy},
	{"counters", node_counters},
	{"health", node_health},
	{"close", node_close},
	{"add_address", node_add_address},
	{"add_route", node_add_route},
	{"set_sysctl", node_set_sysctl},
	{"firewall", node_firewall},
	{"check_firewall", node_check_firewall},
	{"close_path", node_close_path_op},
	{"echo", node_open_echo},
	{"echo_seen", node_echo_seen},
	{"echo_close", node_close_echo},
	{"iperf3", node_iperf3},
	{"iperf3_output", node_iperf3_output},
	{"iperf3_stop", node_iperf3_stop},
};
#define N_OPERATIONS (sizeof operations / sizeof operations[0])

static void answer_failure(node *n, const char *id, const node_failure *f)
{
	node_answer_begin(n, id, false);
	json_key(&n->out, "error");
	json_begin(&n->out, '{');
	json_put_text(&n->out, "code", f->code);
	json_put_text(&n->out, "message", f->message);
	json_put_text(&n->out, "hint", f->hint);
	json_end(&n->out, '}');
	json_end(&n->out, '}');
	json_line(&n->out);
}

static int dispatch(node *n, node_failure *f)
{
	const json_field *op = json_find(n->request, "op");
	const char *name = op && op->kind == JSON_STRING ? op->text : "";

	if (n->busy) {
		n->closing = true;
		snprintf(f->hint, sizeof f->hint, "wait for it, or end it and run: gwnode cleanup");
		return node_fail(f, "busy", "%s", n->busy);
	}

	for (size_t i = 0; i < N_OPERATIONS; i++)
		if (!strcmp(operations[i].name, name)) return operations[i].run(n, f);
	size_t used = (size_t)snprintf(f->hint, sizeof f->hint, "there are:");
	for (size_t i = 0; i < N_OPERATIONS && used < sizeof f->hint; i++)
		used += (size_t)snprintf(f->hint + used, sizeof f->hint - used, "%s %s", i ? "," : "", operations[i].name);
	return node_fail(f, "unknown-op", "no operation is called '%.64s'", name);
}

/* The line is destroyed. */
static void answer(node *n, char *line, size_t len)
{
	node_failure f = {.code = "error"};
	json_object request;
	const int rc = json_parse(line, len, &request);

	n->request = &request;
	if (rc == -ENOTSUP)
		node_fail(&f, "bad-request", "a line is not a JSON object");
	else if (rc == -E2BIG)
		node_fail(&f, "bad-request", "a request has more than %d arguments", JSON_MAX_FIELDS);
	else if (rc)
		node_fail(&f, "bad-request", "a line is not JSON");
	if (rc || dispatch(n, &f)) {
		answer_failure(n, request.id, &f);
	} else {
		json_end(&n->out, '}');
		json_line(&n->out);
	}
	n->request = NULL;
}

/* ---- lines: keys pass through here, so what was used is wiped, and so is what is left behind by growing ---- */

typedef struct lines {
	char *memory;
	size_t room, held;
} lines;

static bool grow(lines *l)
{
	const size_t room = l->room ? 2 * l->room : FIRST_LINE_BYTES;
	char *more = malloc(room);

	if (!more) return false;
	if (l->memory) {
		memcpy(more, l->memory, l->held);
		gw_wipe(l->memory, l->room);
		free(l->memory);
	}
	l->memory = more;
	l->room = room;
	return true;
}

/* Answers every whole line, and keeps the rest. */
static void answer_lines(node *n, lines *l)
{
	size_t done = 0;
	char *end;

	while (!n->closing && !n->out.broken && (end = memchr(l->memory + done, '\n', l->held - done))) {
		if (!n->leased || end > l->memory + done) /* an empty line is a heartbeat */
			answer(n, l->memory + done, (size_t)(end - l->memory) - done);
		done = (size_t)(end - l->memory) + 1;
	}
	l->held -= done;
	memmove(l->memory, l->memory + done, l->held);
	if (done) gw_wipe(l->memory + l->held, done);
}

/* Why it ended, for a person; NULL: as it should. */
static const char *serve(node *n, lines *l, int lease_ms)
{
	while (!n->closing && !n->out.broken && !process_stopped()) {
		if (l->held == l->room && (l->room >= NODE_MAX_LINE_BYTES || !grow(l))) {
			node_failure f = {.code = "error"};
			node_fail(&f, "bad-request", "a line is too long");
			answer_failure(n, "null", &f);
			return NULL;
		}
		const ssize_t got =
			process_read(STDIN_FILENO, l->memory + l->held, l->room - l->held, lease_ms, lease_watchdog_fd());
		if (got < 0 && errno == EINTR) continue;
		if (got < 0 && errno == ETIMEDOUT)
			return "nothing was heard for as long as the lease lasts: everything is undone";
		if (got < 0 && errno == EPIPE) return "the watchdog was killed: everything is undone";
		if (got <= 0) return NULL;
		l->held += (size_t)got;
		answer_lines(n, l);
	}
	return NULL;
}

/* --lease SECONDS, --kernel. -1: unusable. */
static int options(int argc, char **argv, node *n)
{
	int seconds = -1;

	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], "--lease") && i + 1 < argc) {
			seconds = atoi(argv[++i]);
			n->leased = true;
		} else if (!strcmp(argv[i], "--listen") && i + 1 < argc) {
			const int rc = metrics_listen(argv[++i], n);
			if (!rc) continue;
			fprintf(stderr, "gwnode: cannot listen at %s: %s\n", argv[i], strerror(-rc));
			return -1;
		} else if (!strcmp(argv[i], "--kernel")) {
			n->kernel = true;
		} else {
			seconds = -2;
			break;
		}
	if (seconds >= -1 && seconds <= 3600 && !(n->kernel && !n->leased)) {
		n->out.timeout_ms = n->leased && seconds > 0 ? seconds * 1000 : -1;
		return 0;
	}
	fprintf(stderr,
			"gwnode: --stdio takes --lease SECONDS (0 to 3600; 0: none, but what it changes is undone at its end) and, "
			"with a lease, --kernel\n");
	return -1;
}

/* 0, or the exit status. */
static int begin_lease(node *n)
{
	static char text[160];
	pid_t owner = 0;
	const int rc = lease_begin(&n->undone, &owner);

	if (rc == -EBUSY) {
		snprintf(text, sizeof text, "another gwnode (process %d) is at work here", (int)owner);
		fprintf(stderr, "gwnode: %s\n", n->busy = text);
		return 0;
	}
	if (!rc) return 0;
	fprintf(stderr, "gwnode: cannot keep a journal of changes (%s): %s; a full or read-only /tmp?\n", journal_path(),
			strerror(-rc));
	return 2;
}

int node_stdio(int argc, char **argv)
{
	static node n; /* zero */
	lines l = {NULL, 0, 0};

	if (options(argc, argv, &n)) return 2;
	n.out.fd = STDOUT_FILENO;
	process_catch_signals();
	process_harden();
	if (n.leased) {
		const int status = begin_lease(&n);
		if (status) return status;
	}
	const char *why = serve(&n, &l, n.out.timeout_ms);
	if (l.memory) gw_wipe(l.memory, l.room);
	free(l.memory);
	echo_end_all(n.echoes);
	node_end_child(&n);
	node_close_path(&n);
	for (size_t i = 0; i < NODE_MAX_IMPLEMENTATIONS; i++) free(n.implementations[i]);
	const size_t left = n.busy ? 0 : lease_end();
	if (why) fprintf(stderr, "gwnode: %s\n", why);
	if (left) fprintf(stderr, "gwnode: %zu changes could not be undone; they stand in %s\n", left, journal_path());
	return n.busy ? 2 : why ? 3 : left ? 1 : 0;
}
