/* SPDX-License-Identifier: MIT
 * See state.h.
 */
#include "state.h"

#include <stdio.h>
#include <string.h>

void node_answer_begin(node *n, const char *id, bool ok)
{
	json_begin(&n->out, '{');
	json_key(&n->out, "id");
	json_raw(&n->out, id);
	json_key(&n->out, "ok");
	json_bool(&n->out, ok);
}

void node_result(node *n)
{
	node_answer_begin(n, n->request->id, true);
	json_key(&n->out, "result");
}

void node_write_empty(node *n)
{
	node_result(n);
	json_begin(&n->out, '{');
	json_end(&n->out, '}');
}

int node_need_path(node *n, node_failure *f)
{
	if (n->dp || n->kernel_open) return 0;
	snprintf(f->hint, sizeof f->hint, "open_path comes first");
	return node_fail(f, "no-path", "no path is open");
}

const node_word *node_find_word(const node_word *words, const char *name)
{
	for (; words->name; words++)
		if (!strcmp(words->name, name)) return words;
	return NULL;
}
