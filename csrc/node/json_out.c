/* SPDX-License-Identifier: MIT
 * Writing JSON.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "json.h"

static void flush(json_out *o)
{
	for (size_t done = 0; done < o->len && !o->broken;) {
		struct pollfd p = {.fd = o->fd, .events = POLLOUT};
		if (o->timeout_ms >= 0 && poll(&p, 1, o->timeout_ms) == 0) o->broken = true;
		if (o->broken) break;
		const ssize_t n = write(o->fd, o->buffer + done, o->len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			o->broken = true;
	}
	o->len = 0;
}

/* Out of line: this is about size, not speed. */
__attribute__((noinline)) static void put(json_out *o, char c)
{
	if (o->len == sizeof o->buffer) flush(o);
	o->buffer[o->len++] = c;
}

__attribute__((noinline)) static void puts_raw(json_out *o, const char *s)
{
	while (*s) put(o, *s++);
}

__attribute__((noinline)) static void before_value(json_out *o)
{
	if (o->comma) put(o, ',');
	o->comma = true;
}

void json_begin(json_out *o, char bracket)
{
	before_value(o);
	put(o, bracket);
	o->comma = false;
}

void json_end(json_out *o, char bracket)
{
	put(o, bracket);
	o->comma = true;
}

static void quoted(json_out *o, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	put(o, '"');
	for (const uint8_t *p = (const uint8_t *)text; *p; p++) {
		if (*p >= 0x20 && *p < 0x7f) {
			if (*p == '"' || *p == '\\') put(o, '\\');
			put(o, (char)*p);
		} else if (*p < 0x80) {
			puts_raw(o, "\\u00");
			put(o, hex[*p >> 4]);
			put(o, hex[*p & 15]);
		} else {
			/* What comes from outside (an interface's name) may be anything: answers stay ASCII. */
			puts_raw(o, "\\ufffd");
		}
	}
	put(o, '"');
}

void json_key(json_out *o, const char *name)
{
	before_value(o);
	quoted(o, name);
	put(o, ':');
	o->comma = false;
}

void json_text(json_out *o, const char *text)
{
	before_value(o);
	quoted(o, text);
}

void json_raw(json_out *o, const char *value)
{
	before_value(o);
	puts_raw(o, value);
}

void json_count(json_out *o, uint64_t value)
{
	char digits[21];
	size_t at = sizeof digits - 1;

	digits[at] = 0;
	do digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	json_raw(o, digits + at);
}

void json_number(json_out *o, int64_t value)
{
	before_value(o);
	if (value < 0) put(o, '-');
	o->comma = false;
	json_count(o, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_bool(json_out *o, bool value)
{
	json_raw(o, value ? "true" : "false");
}

void json_line(json_out *o)
{
	put(o, '\n');
	o->comma = false;
	flush(o);
}

void json_put_text(json_out *o, const char *name, const char *text)
{
	json_key(o, name);
	json_text(o, text);
}

void json_put_count(json_out *o, const char *name, uint64_t value)
{
	json_key(o, name);
	json_count(o, value);
}
