/* SPDX-License-Identifier: MIT
 * A request's arguments into a struct, by a table that states their names, types and where they go. What the table does
 * not know is refused: a measurement must never run without what was asked of it.
 */
#ifndef GW_NODE_ARGUMENTS_H
#define GW_NODE_ARGUMENTS_H

#include "json.h"

/* Why an operation failed, as the protocol answers it. */
typedef struct node_failure {
	const char *code; /* "error" where a program has no use for more */
	char message[320];
	char hint[160];
} node_failure;

/* Fills in f and returns -1. */
__attribute__((format(printf, 3, 4))) int node_fail(node_failure *f, const char *code, const char *format, ...);

typedef enum argument_kind {
	ARGUMENT_COUNT, /* uint32_t */
	ARGUMENT_PORT,  /* uint32_t up to 65535 */
	ARGUMENT_BOOL,  /* bool */
	ARGUMENT_TEXT,  /* const char * into the line */
	ARGUMENT_TEXTS, /* argument_texts */
	ARGUMENT_KEY,   /* argument_key, hex */
} argument_kind;

typedef struct argument {
	const char *name;
	argument_kind kind;
	bool required;
	size_t offset; /* in the struct, where the default stands already */
} argument;

typedef struct argument_texts {
	const char *first; /* a NUL behind each */
	size_t count;
} argument_texts;

#define ARGUMENT_KEY_MAX 64
typedef struct argument_key {
	size_t len; /* bytes that were given; at most ARGUMENT_KEY_MAX of them are kept */
	uint8_t bytes[ARGUMENT_KEY_MAX];
} argument_key;

/* 0, or -1 with code bad-request. */
int arguments_read(const json_object *request, const argument *table, size_t n, void *into, node_failure *f);

#endif
