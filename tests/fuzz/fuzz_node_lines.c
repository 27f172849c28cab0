/* SPDX-License-Identifier: MIT
 * libFuzzer on what gwnode is configured by: lines of JSON, and arguments read from them by a table. Texts end inside
 * the line, keys and numbers within their bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "../../csrc/node/arguments.h"

typedef struct wishes {
	const char *text;
	argument_texts texts;
	argument_key key;
	uint32_t count, port;
	bool yes;
} wishes;

#define AT(field) offsetof(wishes, field)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const argument table[] = {
		{"local", ARGUMENT_TEXT, false, AT(text)},     {"routes", ARGUMENT_TEXTS, false, AT(texts)},
		{"enc_key", ARGUMENT_KEY, false, AT(key)},     {"spi", ARGUMENT_COUNT, false, AT(count)},
		{"peer_port", ARGUMENT_PORT, false, AT(port)}, {"esn", ARGUMENT_BOOL, false, AT(yes)},
	};
	static json_object object;
	wishes w = {0};
	node_failure f = {0};

	if (size > 8192) return 0;
	char *line = malloc(size + 1);
	memcpy(line, data, size);
	line[size] = 0; /* as the protocol's reader ends it */
	const char *end = line + size + 1;
	if (json_parse(line, size, &object) == 0) {
		if (object.n > JSON_MAX_FIELDS) abort();
		for (size_t i = 0; i < object.n; i++)
			if (object.fields[i].name < line || object.fields[i].name + strlen(object.fields[i].name) >= end) abort();
		if (arguments_read(&object, table, sizeof table / sizeof table[0], &w, &f) == 0) {
			if (w.port > 65535 || (w.text && (w.text < line || w.text + strlen(w.text) >= end))) abort();
			const char *text = w.texts.first;
			for (size_t i = 0; i < w.texts.count; i++, text += strlen(text) + 1)
				if (text < line || text >= end) abort();
		} else if (!f.code || !f.message[0]) {
			abort();
		}
	}
	free(line);
	return 0;
}
