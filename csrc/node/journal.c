/* SPDX-License-Identifier: MIT
 * See journal.h. The file lies in memory on every router (/var/run, /tmp), so it survives us and not a reboot, as
 * what it lists does.
 */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES   (64u << 10)
#define ENTRY_BYTES 512

static int fd = -1;
static char path[64];

const char *journal_path(void)
{
	return path;
}

/* A directory that others may write is safe with a file that is ours alone: no link, no other owner, no other name. */
static int open_checked(void)
{
	struct stat opened, named;
	const int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (file < 0) return -errno;
	if (fstat(file, &opened) || !S_ISREG(opened.st_mode) || opened.st_uid != geteuid() || (opened.st_mode & 077)) {
		close(file);
		return -EPERM;
	}
	if (flock(file, LOCK_EX | LOCK_NB)) {
		const int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (rc == -EBUSY)
			fd = file; /* to see whose it is */
		else
			close(file);
		return rc;
	}
	if (stat(path, &named) || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev) {
		close(file); /* removed by the last owner between open and lock */
		return -EAGAIN;
	}
	fd = file;
	return 0;
}

static int open_waiting(pid_t *owner)
{
	for (int tries = 0;; tries++) {
		const int rc = open_checked();
		char line[32] = "";
		if (rc != -EBUSY && rc != -EAGAIN) return rc;
		if (rc == -EBUSY) {
			(void)!pread(fd, line, sizeof line - 1, 0);
			close(fd);
			fd = -1;
			*owner = (pid_t)strtol(strncmp(line, "gwnode ", 7) ? "0" : line + 7, NULL, 10);
		}
		if (tries == 20) return rc;
		usleep(100000); /* a watchdog may be cleaning up at this very moment */
	}
}

int journal_open(pid_t *owner)
{
	char space[48] = "";
	const char *const places[] = {"/var/run", "/tmp"};
	int rc = -ENOENT;

	/* What it undoes is of one network namespace. */
	if (readlink("/proc/self/ns/net", space, sizeof space - 1) < 0) strcpy(space, "net:[0]");
	const unsigned long number = strtoul(space + strcspn(space, "0123456789"), NULL, 10);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/gwnode-%lu.journal", places[i], number);
		rc = open_waiting(owner);
		if (!rc || rc == -EBUSY) break;
	}
	return rc;
}

static int append(const char *line, size_t len)
{
	const off_t before = lseek(fd, 0, SEEK_END);
	const ssize_t n = write(fd, line, len);

	if (n == (ssize_t)len) return 0;
	const int rc = n < 0 ? -errno : -ENOSPC;
	if (n > 0) (void)!ftruncate(fd, before);
	return rc;
}

int journal_note(const char *format, ...)
{
	char line[ENTRY_BYTES];
	va_list args;

	if (fd < 0) return -EBADF;
	va_start(args, format);
	const int n = vsnprintf(line, sizeof line - 1, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof line - 1 || memchr(line, '\n', (size_t)n)) return -EINVAL;
	line[n] = '\n';
	return append(line, (size_t)n + 1);
}

void journal_forget(void)
{
	(void)append("forget\n", 7);
}

/* The newest entry that still stands, cut off the text; NULL: none. */
static char *newest(char *text, size_t *len)
{
	size_t forgotten = 0;

	while (*len) {
		size_t start = --*len; /* its line feed */
		text[start] = 0;
		while (start && text[start - 1] != '\n') start--;
		char *entry = text + start;
		*len = start;
		if (!strcmp(entry, "forget"))
			forgotten++;
		else if (!strncmp(entry, "gwnode ", 7))
			continue;
		else if (forgotten)
			forgotten--;
		else
			return entry;
	}
	return NULL;
}

size_t journal_mark(void)
{
	const off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	return size > 0 ? (size_t)size : 0;
}

size_t journal_undo(size_t mark, size_t *failed, void (*say)(const char *entry, int rc))
{
	char *text = fd < 0 ? NULL : malloc(MAX_BYTES), *entry, copy[ENTRY_BYTES];
	size_t undone = 0, len;

	*failed = 0;
	if (!text) return 0;
	const ssize_t n = pread(fd, text, MAX_BYTES, (off_t)mark);
	len = n > 0 ? (size_t)n : 0;
	while (len && text[len - 1] != '\n') len--; /* a line that was cut off was never acted on */
	while ((entry = newest(text, &len))) {
		snprintf(copy, sizeof copy, "%s", entry);
		const int rc = undo_entry(copy);
		if (say) say(entry, rc);
		if (rc)
			++*failed;
		else
			undone++;
	}
	free(text);
	if (!*failed) (void)!ftruncate(fd, (off_t)mark);
	return undone;
}

void journal_close(void)
{
	struct stat now;

	if (fd < 0) return;
	if (!fstat(fd, &now) && !now.st_size && now.st_nlink) unlink(path);
	close(fd);
	fd = -1;
}
