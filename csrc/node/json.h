/* SPDX-License-Identifier: MIT
 * JSON (RFC 8259) as far as the node protocol needs it: requests are one flat object a line, answers are written as
 * they are made. Nothing is allocated: the reader decodes in place, the writer has a buffer and a descriptor.
 */
#ifndef GW_NODE_JSON_H
#define GW_NODE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading ---- */

#define JSON_MAX_FIELDS 40
#define JSON_MAX_DEPTH  16
#define JSON_MAX_ID     64 /* bytes of an id as it was written; a longer one is answered as null */

typedef enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,     /* fits int64_t */
	JSON_NUMBER,  /* any other number */
	JSON_STRING,  /* text: UTF-8, NUL-terminated, no NUL inside */
	JSON_STRINGS, /* an array of nothing but strings: `count` of them behind text, a NUL after each */
	JSON_OTHER,   /* an object, or another array: checked, not kept */
} json_kind;

typedef struct json_field {
	const char *name;
	json_kind kind;
	int64_t number; /* INT; BOOL: 0 or 1 */
	char *text;
	size_t count;
} json_field;

typedef struct json_object {
	size_t n;
	json_field fields[JSON_MAX_FIELDS];
	char id[JSON_MAX_ID]; /* the value of "id" as it was written; "null" when there is none */
} json_object;

/* Parses one object and decodes its strings in place: text is destroyed. 0, -EBADMSG: not JSON (what
 * was read of the id stands in out->id), -ENOTSUP: JSON, but no object, -E2BIG: too many fields. */
int json_parse(char *text, size_t len, json_object *out);
/* Of several fields of one name the last counts. NULL when there is none. */
const json_field *json_find(const json_object *o, const char *name);

/* ---- writing ---- */

typedef struct json_out {
	int fd;
	int timeout_ms; /* -1: none; a reader that takes nothing for so long is gone */
	bool broken;    /* the reader is gone */
	bool comma;     /* before the next value */
	size_t len;
	char buffer[4096];
} json_out;

void json_begin(json_out *o, char bracket); /* '{' or '[' */
void json_end(json_out *o, char bracket);
void json_key(json_out *o, const char *name);
void json_text(json_out *o, const char *text); /* as a string; answers are ASCII: other bytes become U+FFFD */
void json_raw(json_out *o, const char *value); /* a value that is JSON already */
void json_number(json_out *o, int64_t value);
void json_count(json_out *o, uint64_t value);
void json_bool(json_out *o, bool value);
void json_line(json_out *o); /* ends the line and writes everything out */

/* "name": value */
void json_put_text(json_out *o, const char *name, const char *text);
void json_put_count(json_out *o, const char *name, uint64_t value);

#endif
