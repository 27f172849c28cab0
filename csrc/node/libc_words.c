/* SPDX-License-Identifier: MIT
 * Numbers and words of text, and system calls as the kernel takes them, for static builds on musl. zig's library has
 * every strto...() by itself and a search for long needles; musl's ioctl, fcntl and socket options translate what only
 * programs for older kernels or with 64-bit times in them need. Together 8 KB of a router's flash.
 */
#include <stddef.h>

#if defined(__linux__) && !defined(__GLIBC__)

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Digits of `base` up to max_value, one more behind a minus where that is a sign; beyond it ERANGE and that limit. */
static unsigned long long digits(const char *text, char **end, int base, unsigned long long max_value, bool is_signed,
								 bool *minus)
{
	const char *s = text, *first;
	unsigned long long value = 0;
	bool over = false;

	while (*s == ' ' || (*s >= '\t' && *s <= '\r')) s++;
	*minus = *s == '-';
	if (is_signed && *minus) max_value++;
	if (*s == '-' || *s == '+') s++;
	if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 32) == 'x') {
		const int c = s[2] | 32;
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
			s += 2;
			base = 16;
		}
	}
	if (base == 0) base = *s == '0' ? 8 : 10;
	for (first = s;; s++) {
		const int c = *s, letter = c | 32;
		const int digit = c >= '0' && c <= '9' ? c - '0' : letter >= 'a' && letter <= 'z' ? letter - 'a' + 10 : 36;
		if (digit >= base) break;
		if (value > (max_value - (unsigned)digit) / (unsigned)base) over = true;
		value = value * (unsigned)base + (unsigned)digit;
	}
	if (end) *end = (char *)(uintptr_t)(s == first ? text : s);
	if (!over) return value;
	errno = ERANGE;
	return max_value;
}

unsigned long long strtoull(const char *text, char **end, int base)
{
	bool minus;
	const unsigned long long value = digits(text, end, base, ULLONG_MAX, false, &minus);
	return minus ? 0 - value : value;
}

unsigned long strtoul(const char *text, char **end, int base)
{
	bool minus;
	const unsigned long value = (unsigned long)digits(text, end, base, ULONG_MAX, false, &minus);
	return minus ? 0 - value : value;
}

long strtol(const char *text, char **end, int base)
{
	bool minus;
	const unsigned long long value = digits(text, end, base, LONG_MAX, true, &minus);
	return (long)(minus ? 0 - value : value);
}

long atol(const char *text)
{
	return strtol(text, NULL, 10);
}

int atoi(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

char *strstr(const char *in, const char *what)
{
	const size_t n = strlen(what);
	for (; strncmp(in, what, n); in++)
		if (!*in) return NULL;
	return (char *)(uintptr_t)in;
}

/* ---- system calls ---- */

int ioctl(int fd, int request, ...)
{
	va_list args;
	va_start(args, request);
	void *argument = va_arg(args, void *);
	va_end(args);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

#if defined(SYS_fcntl64)
#define FCNTL SYS_fcntl64
#else
#define FCNTL SYS_fcntl
#endif

/* No locks and no signals: numbers are all that goes in and comes out. */
int fcntl(int fd, int what, ...)
{
	va_list args;
	va_start(args, what);
	const long argument = va_arg(args, long);
	va_end(args);
	return (int)syscall(FCNTL, fd, what, argument);
}

int socket(int family, int type, int protocol)
{
	return (int)syscall(SYS_socket, family, type, protocol);
}

int accept4(int fd, struct sockaddr *restrict from, socklen_t *restrict len, int flags)
{
	return (int)syscall(SYS_accept4, fd, from, len, flags);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict len)
{
	return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}

#else
typedef int gw_words_are_the_c_library_s;
#endif
