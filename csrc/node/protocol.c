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
#include "node.h"
#include "process.h"

#define FIRST_LINE_BYTES (16u << 10)

static const struct {
	const char *name;
	node_operation run;
} operations[] = {
	{"hello", node_hello},         {"open_path", node_open_path},   {"add_sa", node_add_sa},
	{"delete_sa", node_delete_sa}, {"set_policy", node_set_policy}, {"counters", node_counters},
	{"health", node_health},       {"close", node_close},
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
		answer(n, l->memory + done, (size_t)(end - l->memory) - done);
		done = (size_t)(end - l->memory) + 1;
	}
	l->held -= done;
	memmove(l->memory, l->memory + done, l->held);
	if (done) gw_wipe(l->memory + l->held, done);
}

static void serve(node *n, lines *l)
{
	while (!n->closing && !n->out.broken && !process_stopped()) {
		if (l->held == l->room && (l->room >= NODE_MAX_LINE_BYTES || !grow(l))) {
			node_failure f = {.code = "error"};
			node_fail(&f, "bad-request", "a line is too long");
			answer_failure(n, "null", &f);
			return;
		}
		const ssize_t got = process_read(STDIN_FILENO, l->memory + l->held, l->room - l->held);
		if (got < 0 && errno == EINTR) continue;
		if (got <= 0) return;
		l->held += (size_t)got;
		answer_lines(n, l);
	}
}

int node_stdio(int argc, char **argv)
{
	static node n; /* zero */
	lines l = {NULL, 0, 0};

	(void)argv;
	if (argc) {
		fprintf(stderr, "gwnode: --stdio takes no arguments\n");
		return 2;
	}
	n.out.fd = STDOUT_FILENO;
	process_catch_signals();
	process_harden();
	serve(&n, &l);
	if (l.memory) gw_wipe(l.memory, l.room);
	free(l.memory);
	node_close_path(&n);
	for (size_t i = 0; i < NODE_MAX_IMPLEMENTATIONS; i++) free(n.implementations[i]);
	return 0;
}
