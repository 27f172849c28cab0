/* SPDX-License-Identifier: MIT
 * vectors: test cases on stdin, one a line, answers on stdout, one a line: pytest drives any implementation on any
 * (emulated) processor with published vectors.
 *
 *   list                              -> impl ALG DRIVER TAG KIND RUNNABLE CHECKED, one a line, then "end"
 *   run DRIVER encrypt|decrypt NAME=VALUE...
 *     hex:     key mac_key iv aad in tag esn (4 bytes)
 *     numbers: tag_len, flags (GW_OP_*), copies (equal ops in one batch, 1), offset (of data from alignment, 0),
 *              inplace (1: the input stands where the output goes), split (bytes of the first span, multiple of 64)
 *   -> ok STATUS OUT TAG IV           hex, "-" when empty; OUT is "-" when STATUS is not 0
 *   -> refused TEXT                   key length, operation, line
 * Copies that do not agree are answered by "differ".
 */
#include <stdio.h>
#include <stdlib.h>

#include "node.h"

typedef struct bytes {
	uint8_t *data;
	size_t len;
} bytes;

typedef struct request {
	bytes key, mac_key, iv, aad, in, tag, esn;
	size_t tag_len, flags, copies, offset, inplace, split;
} request;

static int nibble(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place: bytes take half of their text's room. */
static bool unhex(char *text, bytes *to)
{
	size_t n = strlen(text);
	to->data = (uint8_t *)text;
	to->len = n / 2;
	for (size_t i = 0; i < n / 2; i++) {
		int hi = nibble(text[2 * i]), lo = nibble(text[2 * i + 1]);
		if (hi < 0 || lo < 0) return false;
		to->data[i] = (uint8_t)(hi << 4 | lo);
	}
	return n % 2 == 0;
}

static void put_hex(const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	putchar(' ');
	if (!n) putchar('-');
	for (size_t i = 0; i < n; i++) {
		putchar(digits[p[i] >> 4]);
		putchar(digits[p[i] & 15]);
	}
}

static bool parse(char *text, request *r)
{
	const struct {
		const char *name;
		bytes *to;
	} hex[] = {{"key", &r->key}, {"mac_key", &r->mac_key}, {"iv", &r->iv},  {"aad", &r->aad},
			   {"in", &r->in},   {"tag", &r->tag},         {"esn", &r->esn}};
	const struct {
		const char *name;
		size_t *to;
	} num[] = {{"tag_len", &r->tag_len}, {"flags", &r->flags},     {"copies", &r->copies},
			   {"offset", &r->offset},   {"inplace", &r->inplace}, {"split", &r->split}};
	r->copies = 1;
	for (char *field; (field = strtok(text, " \n")); text = NULL) {
		char *value = strchr(field, '=');
		bool known = false;
		if (!value) return false;
		*value++ = 0;
		for (size_t i = 0; i < sizeof hex / sizeof hex[0]; i++)
			if (!strcmp(field, hex[i].name)) known = unhex(value, hex[i].to);
		for (size_t i = 0; i < sizeof num / sizeof num[0]; i++)
			if (!strcmp(field, num[i].name)) {
				char *end;
				*num[i].to = strtoul(value, &end, 10);
				known = *value && !*end;
			}
		if (!known) return false;
	}
	return r->copies && r->copies <= 64 && r->offset < 64 && r->tag_len <= 64 && r->tag.len <= 64 &&
		   r->split % 64 == 0 && r->split <= r->in.len && (!r->esn.len || r->esn.len == 4);
}

/* One copy's memory: [aad | out] with the aad ending where out begins, input, iv and tag behind it. */
typedef struct lane {
	uint8_t *mem, *out, *in, *iv, *tag;
	size_t bytes;
} lane;

static bool lane_new(lane *l, gw_op *op, const request *r, const node_key *key)
{
	size_t room = (r->in.len + 127) & ~(size_t)63, front = (r->aad.len + 63) & ~(size_t)63;
	l->bytes = front + 2 * room + 64 + r->iv.len + 64;
	l->mem = gw_alloc(l->bytes);
	if (!l->mem) return false;
	l->out = l->mem + front + r->offset;
	l->in = r->inplace ? l->out : l->mem + front + room + r->offset;
	l->tag = l->mem + front + 2 * room;
	l->iv = l->tag + 64;
	if (r->aad.len) memcpy(l->out - r->aad.len, r->aad.data, r->aad.len);
	if (r->in.len) memcpy(l->in, r->in.data, r->in.len);
	if (r->iv.len) memcpy(l->iv, r->iv.data, r->iv.len);
	if (r->tag.len) memcpy(l->tag, r->tag.data, r->tag.len);
	*op = (gw_op){.key = key->ctx,
				  .mac_key = key->mac_ctx ? key->mac_ctx : key->ctx,
				  .in = {{l->in, r->in.len}, {NULL, 0}, {NULL, 0}},
				  .n_in = 1,
				  .out = l->out,
				  .aad = l->out - r->aad.len,
				  .aad_len = (uint32_t)r->aad.len,
				  .iv = l->iv,
				  .iv_len = (uint32_t)r->iv.len,
				  .tag = l->tag,
				  .tag_len = (uint32_t)(r->tag_len ? r->tag_len : r->tag.len),
				  .flags = (uint32_t)r->flags};
	if (r->split) {
		op->in[0].len = r->split;
		op->in[1] = (gw_span){l->in + r->split, r->in.len - r->split};
		op->n_in = 2;
	}
	if (r->esn.len) memcpy(op->esn, r->esn.data, 4);
	return true;
}

static void answer(const gw_impl *impl, int dir, const request *r, const node_key *key)
{
	gw_op ops[64];
	lane lanes[64];
	size_t n = 0;
	bool same = true, writes = impl->kind != GW_KIND_HASH && impl->kind != GW_KIND_MAC;
	while (n < r->copies && lane_new(&lanes[n], &ops[n], r, key)) n++;
	if (n < r->copies) {
		puts("refused no memory");
	} else if (gw_impl_run(impl, dir, ops, n)) {
		puts("refused no such operation");
	} else {
		size_t out_len = writes && !ops[0].status ? r->in.len : 0;
		for (size_t i = 1; i < n; i++)
			same &= ops[i].status == ops[0].status && !memcmp(lanes[i].out, lanes[0].out, out_len) &&
					!memcmp(lanes[i].tag, lanes[0].tag, 64) && !memcmp(lanes[i].iv, lanes[0].iv, r->iv.len);
		if (!same) {
			puts("differ");
		} else {
			printf("ok %d", (int)ops[0].status);
			put_hex(lanes[0].out, out_len);
			put_hex(lanes[0].tag, ops[0].tag_len);
			put_hex(lanes[0].iv, r->iv.len);
			putchar('\n');
		}
	}
	while (n) {
		n--;
		gw_free_wipe(lanes[n].mem, lanes[n].bytes);
	}
}

static void run(char *line)
{
	request r = {0};
	node_key key;
	char *driver = strtok(line, " \n"), *dir = strtok(NULL, " \n"), *rest = strtok(NULL, "\n");
	const gw_impl *impl = driver ? gw_impl_find(driver) : NULL;
	bool encrypt = dir && !strcmp(dir, "encrypt");
	if (!impl || !dir || !(encrypt || !strcmp(dir, "decrypt")) || !rest || !parse(rest, &r))
		puts("refused line not understood");
	else if (node_key_init(&key, impl, r.key.data, r.key.len, r.mac_key.data, r.mac_key.len))
		puts("refused key length");
	else {
		answer(impl, encrypt, &r, &key);
		node_key_wipe(&key);
	}
}

static void list(void)
{
	for (size_t i = 0; i < gw_impl_count(); i++) {
		gw_impl_info info;
		gw_impl_describe(gw_impl_at(i), &info);
		printf("impl %s %s %s %d %d %d\n", info.alg, info.driver, info.tag, info.kind, info.runnable, info.checked);
	}
	puts("end");
}

int node_vectors(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	gw_err err = {""};
	char *line = NULL;
	size_t cap = 0;
	int rc = gw_init(&err);
	if (rc < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 1;
	}
	while (getline(&line, &cap, stdin) > 0) {
		if (!strncmp(line, "run ", 4))
			run(line + 4);
		else if (!strcmp(line, "list\n"))
			list();
		else
			puts("refused line not understood");
		fflush(stdout);
	}
	if (line) gw_wipe(line, cap);
	free(line);
	return 0;
}
