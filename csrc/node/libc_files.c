/* SPDX-License-Identifier: MIT
 * What this program uses of stdio, for static builds on musl: lines read from /proc, and output that is written at
 * once, so that nothing is left to do at exit. The C library's is 6 KB of a router's flash. print.c has the formats.
 */
#include <stdio.h>

#if defined(__linux__) && !defined(__GLIBC__)

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct _IO_FILE { /* musl's headers name it and leave it open */
	int fd;
	bool failed, taken;
	size_t at, len;
	char held[512];
};

#define OPEN_AT_ONCE 4

static FILE out = {.fd = STDOUT_FILENO}, error = {.fd = STDERR_FILENO}, files[OPEN_AT_ONCE];

FILE *const stdout = &out;
FILE *const stderr = &error;

/* Read only, as its callers ask. */
FILE *fopen(const char *path, const char *mode)
{
	if (*mode != 'r') {
		errno = EINVAL;
		return NULL;
	}
	for (int i = 0; i < OPEN_AT_ONCE; i++) {
		FILE *f = &files[i];
		if (__atomic_test_and_set(&f->taken, __ATOMIC_ACQUIRE)) continue;
		f->at = f->len = 0;
		f->failed = false;
		if ((f->fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) return f;
		__atomic_clear(&f->taken, __ATOMIC_RELEASE);
		return NULL;
	}
	errno = EMFILE;
	return NULL;
}

int fclose(FILE *f)
{
	close(f->fd);
	__atomic_clear(&f->taken, __ATOMIC_RELEASE);
	return 0;
}

static bool fill(FILE *f)
{
	ssize_t n;
	do n = read(f->fd, f->held, sizeof f->held);
	while (n < 0 && errno == EINTR);
	f->at = 0;
	f->len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

char *fgets(char *to, int room, FILE *f)
{
	int n = 0;

	while (n + 1 < room && (f->at < f->len || fill(f)))
		if ((to[n++] = f->held[f->at++]) == '\n') break;
	if (n == 0) return NULL;
	to[n] = 0;
	return to;
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *f)
{
	const char *p = (const char *)from;
	size_t left = size * count;

	while (left) {
		const ssize_t n = write(f->fd, p, left);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) {
			f->failed = true;
			return (size * count - left) / size;
		}
		p += n;
		left -= (size_t)n;
	}
	return count;
}

int fputs(const char *s, FILE *f)
{
	const size_t n = strlen(s);
	return fwrite(s, 1, n, f) == n ? 0 : EOF;
}

int puts(const char *s)
{
	return fputs(s, stdout) || fputs("\n", stdout) ? EOF : 0;
}

int putchar(int c)
{
	const char one = (char)c;
	return fwrite(&one, 1, 1, stdout) == 1 ? (unsigned char)one : EOF;
}

/* Everything was written; whether it could be is what its caller wants to know. */
int fflush(FILE *f)
{
	return f && f->failed ? EOF : 0;
}

#else
typedef int gw_files_are_the_c_library_s;
#endif
