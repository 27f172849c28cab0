/* SPDX-License-Identifier: MIT
 * printf for static builds on musl, with what this program uses: %s %d %u %x %c %%, flags - 0 #, width and precision
 * (also *), l ll z. musl's own brings floating point, and on processors without any that brings emulation and 26 KB of
 * tables: 45 KB of flash for nothing. glibc's is shared, and left alone.
 */
#include <stdarg.h>
#include <stdio.h>

#if defined(__linux__) && !defined(__GLIBC__)

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct target {
	char *to;
	size_t room, len; /* len: what would have been written, as vsnprintf returns it */
} target;

typedef struct spec {
	bool left, zero, alternate;
	int width, precision; /* -1: none */
	int longs;            /* 1 long, 2 long long, 3 size_t */
} spec;

static void put(target *t, char c)
{
	if (t->len + 1 < t->room) t->to[t->len] = c;
	t->len++;
}

static void put_padded(target *t, const spec *s, const char *text, size_t n)
{
	const size_t width = s->width > 0 ? (size_t)s->width : 0, pad = width > n ? width - n : 0;

	for (size_t i = 0; i < pad && !s->left; i++) put(t, s->zero ? '0' : ' ');
	for (size_t i = 0; i < n; i++) put(t, text[i]);
	for (size_t i = 0; i < pad && s->left; i++) put(t, ' ');
}

static void put_number(target *t, const spec *s, uint64_t value, unsigned base, bool negative)
{
	char digits[24];
	size_t at = sizeof digits;

	do digits[--at] = "0123456789abcdef"[value % base];
	while (value /= base);
	if (s->alternate && base == 16 && !(at == sizeof digits - 1 && digits[at] == '0')) {
		digits[--at] = 'x';
		digits[--at] = '0';
	}
	if (negative) digits[--at] = '-';
	put_padded(t, s, digits + at, sizeof digits - at);
}

static int number(const char **f, va_list *args)
{
	int n = 0;

	if (**f == '*') {
		++*f;
		return va_arg(*args, int);
	}
	while (**f >= '0' && **f <= '9') n = n * 10 + (*(*f)++ - '0');
	return n;
}

static uint64_t unsigned_argument(const spec *s, va_list *args)
{
	if (s->longs == 2) return va_arg(*args, unsigned long long);
	if (s->longs) return s->longs == 3 ? va_arg(*args, size_t) : va_arg(*args, unsigned long);
	return va_arg(*args, unsigned);
}

static int64_t signed_argument(const spec *s, va_list *args)
{
	if (s->longs == 2) return va_arg(*args, long long);
	return s->longs ? va_arg(*args, long) : va_arg(*args, int);
}

static const char *conversion(target *t, const char *f, va_list *args)
{
	spec s = {.precision = -1};

	for (; *f == '-' || *f == '0' || *f == '#'; f++) {
		s.left |= *f == '-';
		s.zero |= *f == '0';
		s.alternate |= *f == '#';
	}
	s.width = number(&f, args);
	if (*f == '.') {
		f++;
		s.precision = number(&f, args);
	}
	for (; *f == 'l' || *f == 'z'; f++) s.longs += *f == 'l' ? 1 : 3;
	switch (*f) {
	case 's': {
		const char *text = va_arg(*args, const char *);
		put_padded(t, &s, text, s.precision < 0 ? strlen(text) : strnlen(text, (size_t)s.precision));
		break;
	}
	case 'd': {
		const int64_t value = signed_argument(&s, args);
		put_number(t, &s, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, value < 0);
		break;
	}
	case 'u': put_number(t, &s, unsigned_argument(&s, args), 10, false); break;
	case 'x': put_number(t, &s, unsigned_argument(&s, args), 16, false); break;
	case 'c': put(t, (char)va_arg(*args, int)); break;
	case '%': put(t, '%'); break;
	default: __builtin_trap(); /* whoever uses more must add it above */
	}
	return f + 1;
}

int vsnprintf(char *to, size_t room, const char *format, va_list given)
{
	target t = {to, room, 0};
	va_list args;

	va_copy(args, given);
	while (*format)
		if (*format == '%')
			format = conversion(&t, format + 1, &args);
		else
			put(&t, *format++);
	va_end(args);
	if (room) to[t.len < room ? t.len : room - 1] = 0;
	return (int)t.len;
}

int snprintf(char *to, size_t room, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const int n = vsnprintf(to, room, format, args);
	va_end(args);
	return n;
}

/* Lines for people: none of ours is longer. */
static int print(FILE *file, const char *format, va_list args)
{
	char line[1024];
	const int n = vsnprintf(line, sizeof line, format, args);
	const size_t len = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
	return fwrite(line, 1, len, file) == len ? n : -1;
}

int fprintf(FILE *file, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const int n = print(file, format, args);
	va_end(args);
	return n;
}

int printf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const int n = print(stdout, format, args);
	va_end(args);
	return n;
}

#else
typedef int gw_print_is_the_c_library_s;
#endif
