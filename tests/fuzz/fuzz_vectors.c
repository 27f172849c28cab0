/* SPDX-License-Identifier: MIT
 * libFuzzer on the reader of vector lines (gwnode-test vectors): what it accepts lies inside the line and within the
 * bounds that the rest of the program counts on.
 */
#define main unused_main
#include "../../csrc/node/vectors.c"
#undef main

static void inside(const bytes *b, const char *line, const char *end)
{
	if (b->len && ((const char *)b->data < line || (const char *)b->data + b->len > end)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	request r = {0};

	if (size > 4096) return 0;
	char *line = malloc(size + 1);
	memcpy(line, data, size);
	line[size] = 0;
	if (parse(line, &r)) {
		const bytes *all[] = {&r.key, &r.mac_key, &r.iv, &r.aad, &r.in, &r.tag, &r.esn};
		for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) inside(all[i], line, line + size);
		if (!r.copies || r.copies > 64 || r.offset >= 64 || r.tag_len > 64 || r.tag.len > 64 || r.split > r.in.len ||
			r.split % 64)
			abort();
	}
	free(line);
	return 0;
}
