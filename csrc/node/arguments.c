/* SPDX-License-Identifier: MIT
 * Arguments, checked.
 */
#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int node_fail(node_failure *f, const char *code, const char *format, ...)
{
	va_list args;

	f->code = code;
	va_start(args, format);
	vsnprintf(f->message, sizeof f->message, format, args);
	va_end(args);
	return -1;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9') return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_key(const json_field *v, argument_key *key, node_failure *f)
{
	const size_t digits = strlen(v->text);

	if (digits % 2) return node_fail(f, "bad-request", "%s has an odd number of hex digits", v->name);
	for (size_t i = 0; i < digits; i += 2) {
		const int high = nibble(v->text[i]), low = nibble(v->text[i + 1]);
		if (high < 0 || low < 0) return node_fail(f, "bad-request", "'%s' is missing in hex", v->name);
		if (i / 2 < ARGUMENT_KEY_MAX) key->bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	key->len = digits / 2;
	return 0;
}

static int read_one(const json_field *v, const argument *a, void *to, node_failure *f)
{
	static const json_kind kinds[] = {JSON_INT, JSON_INT, JSON_BOOL, JSON_STRING, JSON_STRINGS, JSON_STRING};

	if (v->kind != kinds[a->kind]) return node_fail(f, "bad-request", "'%s' has a value of a wrong type", a->name);
	switch (a->kind) {
	case ARGUMENT_COUNT:
	case ARGUMENT_PORT: {
		const int64_t most = a->kind == ARGUMENT_PORT ? 65535 : UINT32_MAX;
		if (v->number < 0 || v->number > most)
			return node_fail(f, "bad-request", "'%s' is not between 0 and %lld", a->name, (long long)most);
		*(uint32_t *)to = (uint32_t)v->number;
		return 0;
	}
	case ARGUMENT_BOOL: *(bool *)to = v->number != 0; return 0;
	case ARGUMENT_TEXT: *(const char **)to = v->text; return 0;
	case ARGUMENT_TEXTS: *(argument_texts *)to = (argument_texts){v->text, v->count}; return 0;
	case ARGUMENT_KEY: return read_key(v, to, f);
	}
	return -1;
}

static const argument *known(const char *name, const argument *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(table[i].name, name)) return &table[i];
	return NULL;
}

int arguments_read(const json_object *request, const argument *table, size_t n, void *into, node_failure *f)
{
	for (size_t i = 0; i < request->n; i++) {
		const char *name = request->fields[i].name;
		if (!strcmp(name, "id") || !strcmp(name, "op") || known(name, table, n)) continue;
		snprintf(f->hint, sizeof f->hint, "install the same version on both sides");
		return node_fail(f, "bad-request", "this operation takes no argument '%.64s' here", name);
	}
	for (size_t i = 0; i < n; i++) {
		const json_field *v = json_find(request, table[i].name);
		if (!v && table[i].required) return node_fail(f, "bad-request", "'%s' is missing", table[i].name);
		if (v && read_one(v, &table[i], (char *)into + table[i].offset, f)) return -1;
	}
	return 0;
}
