/* SPDX-License-Identifier: MIT
 * Reading JSON: recursive descent over a buffer that is decoded in place. What is decoded is never longer than what
 * stood there, so the reader never overtakes itself.
 */
#include "json.h"

#include <errno.h>
#include <string.h>

typedef struct reader {
	char *at, *end;
} reader;

static void skip_space(reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n')) r->at++;
}

/* Out of line, as others here: this is about size, not speed. */
__attribute__((noinline)) static bool take(reader *r, char c)
{
	skip_space(r);
	if (r->at == r->end || *r->at != c) return false;
	r->at++;
	return true;
}

__attribute__((noinline)) static bool word(reader *r, const char *w)
{
	const size_t n = strlen(w);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, w, n)) return false;
	r->at += n;
	return true;
}

/* ---- strings ---- */

static int hex4(reader *r, uint32_t *out)
{
	if (r->end - r->at < 4) return -EBADMSG;
	*out = 0;
	for (int i = 0; i < 4; i++) {
		const char c = *r->at++, lower = (char)(c | 32);
		if (c >= '0' && c <= '9')
			*out = *out << 4 | (uint32_t)(c - '0');
		else if (lower >= 'a' && lower <= 'f')
			*out = *out << 4 | (uint32_t)(lower - 'a' + 10);
		else
			return -EBADMSG;
	}
	return 0;
}

__attribute__((noinline)) static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c >= 0x10000) {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
	} else if (c >= 0x800) {
		*to++ = (char)(0xe0 | c >> 12);
	}
	*to++ = c < 0x800 ? (char)(0xc0 | c >> 6) : (char)(0x80 | (c >> 6 & 63));
	*to++ = (char)(0x80 | (c & 63));
	return to;
}

/* After the backslash. Halves of a surrogate pair must come together; NUL cannot be held. */
static int unescape(reader *r, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	uint32_t c, low;

	if (r->at == r->end) return -EBADMSG;
	const char e = *r->at++;
	if (e != 'u') {
		const char *found = e ? strchr(from, e) : NULL;
		if (!found) return -EBADMSG;
		*(*to)++ = into[found - from];
		return 0;
	}
	if (hex4(r, &c) || c == 0 || (c >= 0xdc00 && c < 0xe000)) return -EBADMSG;
	if (c >= 0xd800 && c < 0xdc00) {
		if (!word(r, "\\u") || hex4(r, &low) || low < 0xdc00 || low >= 0xe000) return -EBADMSG;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	*to = put_utf8(*to, c);
	return 0;
}

/* Bytes of the UTF-8 sequence at s, 0 when it is none (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_len(const uint8_t *s, size_t left)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = n > 1 ? s[0] & (0xffu >> (n + 1)) : s[0];

	if (!n || n > left) return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) return 0;
		c = c << 6 | (s[i] & 63);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* *out: the decoded text, NUL-terminated. */
__attribute__((noinline)) static int string(reader *r, char **out)
{
	if (!take(r, '"')) return -EBADMSG;
	char *to = *out = r->at;
	while (r->at < r->end) {
		const uint8_t c = (uint8_t)*r->at;
		if (c == '"') {
			r->at++;
			*to = 0;
			return 0;
		}
		if (c < 0x20) return -EBADMSG;
		if (c == '\\') {
			r->at++;
			if (unescape(r, &to)) return -EBADMSG;
			continue;
		}
		const size_t n = utf8_len((const uint8_t *)r->at, (size_t)(r->end - r->at));
		if (!n) return -EBADMSG;
		memmove(to, r->at, n);
		to += n;
		r->at += n;
	}
	return -EBADMSG;
}

/* ---- values ---- */

static size_t digits(reader *r)
{
	const char *start = r->at;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
	return (size_t)(r->at - start);
}

static int number(reader *r, json_field *f)
{
	const bool negative = word(r, "-");
	const char *start = r->at;
	const size_t n = digits(r);
	uint64_t value = 0;

	if (!n || (n > 1 && *start == '0')) return -EBADMSG;
	f->kind = n > 18 ? JSON_NUMBER : JSON_INT; /* 18 digits fit for certain */
	for (size_t i = 0; i < n; i++) value = value * 10 + (uint64_t)(start[i] - '0');
	f->number = negative ? -(int64_t)value : (int64_t)value;
	if (word(r, ".")) {
		f->kind = JSON_NUMBER;
		if (!digits(r)) return -EBADMSG;
	}
	if (word(r, "e") || word(r, "E")) {
		f->kind = JSON_NUMBER;
		if (!word(r, "+")) (void)word(r, "-");
		if (!digits(r)) return -EBADMSG;
	}
	return 0;
}

static int value(reader *r, json_field *f, int depth);

/* Strings move together to where the bracket stood. */
static int array(reader *r, json_field *f, int depth)
{
	char *to = f->text = r->at - 1;

	f->kind = JSON_STRINGS;
	f->count = 0;
	if (take(r, ']')) return 0;
	do {
		json_field item = {.kind = JSON_NULL};
		if (value(r, &item, depth)) return -EBADMSG;
		if (item.kind != JSON_STRING || f->kind != JSON_STRINGS) {
			f->kind = JSON_OTHER;
			continue;
		}
		const size_t n = strlen(item.text) + 1;
		memmove(to, item.text, n);
		to += n;
		f->count++;
	} while (take(r, ','));
	return take(r, ']') ? 0 : -EBADMSG;
}

static int nested_object(reader *r, json_field *f, int depth)
{
	f->kind = JSON_OTHER;
	if (take(r, '}')) return 0;
	do {
		json_field item = {.kind = JSON_NULL};
		char *name;
		if (string(r, &name) || !take(r, ':') || value(r, &item, depth)) return -EBADMSG;
	} while (take(r, ','));
	return take(r, '}') ? 0 : -EBADMSG;
}

static int value(reader *r, json_field *f, int depth)
{
	skip_space(r);
	if (r->at == r->end || depth == JSON_MAX_DEPTH) return -EBADMSG;
	switch (*r->at) {
	case '"': f->kind = JSON_STRING; return string(r, &f->text);
	case '[': r->at++; return array(r, f, depth + 1);
	case '{': r->at++; return nested_object(r, f, depth + 1);
	case 't':
	case 'f':
		f->kind = JSON_BOOL;
		f->number = *r->at == 't';
		return word(r, f->number ? "true" : "false") ? 0 : -EBADMSG;
	case 'n': f->kind = JSON_NULL; return word(r, "null") ? 0 : -EBADMSG;
	default: return number(r, f);
	}
}

static int fields(reader *r, json_object *out)
{
	if (take(r, '}')) return 0;
	do {
		json_field f = {.kind = JSON_NULL};
		char *name, raw[JSON_MAX_ID];
		if (string(r, &name) || !take(r, ':')) return -EBADMSG;
		skip_space(r);
		/* Decoding destroys it, so an id is kept as it was written. */
		char *start = r->at;
		const size_t left = (size_t)(r->end - start);
		memcpy(raw, start, left < sizeof raw ? left : sizeof raw);
		if (value(r, &f, 1)) return -EBADMSG;
		if (!strcmp(name, "id") && (size_t)(r->at - start) < sizeof raw) {
			memcpy(out->id, raw, (size_t)(r->at - start));
			out->id[r->at - start] = 0;
		}
		if (out->n == JSON_MAX_FIELDS) return -E2BIG;
		f.name = name;
		out->fields[out->n++] = f;
	} while (take(r, ','));
	return take(r, '}') ? 0 : -EBADMSG;
}

int json_parse(char *text, size_t len, json_object *out)
{
	reader r = {text, text + len};

	out->n = 0;
	strcpy(out->id, "null");
	skip_space(&r);
	if (r.at < r.end && *r.at != '{') {
		json_field f;
		if (value(&r, &f, 0)) return -EBADMSG;
		skip_space(&r);
		return r.at == r.end ? -ENOTSUP : -EBADMSG;
	}
	if (!take(&r, '{')) return -EBADMSG;
	const int rc = fields(&r, out);
	if (rc) return rc;
	skip_space(&r);
	return r.at == r.end ? 0 : -EBADMSG;
}

const json_field *json_find(const json_object *o, const char *name)
{
	for (size_t i = o->n; i-- > 0;)
		if (!strcmp(o->fields[i].name, name)) return &o->fields[i];
	return NULL;
}
