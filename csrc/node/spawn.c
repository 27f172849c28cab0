/* SPDX-License-Identifier: MIT
 * See spawn.h.
 */
#define _GNU_SOURCE
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *spawn_find(const char *name, char path[32])
{
	/* Not $PATH: what ssh sets for a root shell is not always a root's. */
	static const char *const places[] = {"/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin"};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		snprintf(path, 32, "%s/%s", places[i], name);
		if (!access(path, X_OK)) return path;
	}
	return NULL;
}

static _Noreturn void become(char *const argv[], int in, int out)
{
	static char *const environment[] = {(char *)(size_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
										(char *)(size_t) "LC_ALL=C", NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(127);
	execve(argv[0], argv, environment);
	_exit(127);
}

int spawn_run(char *const argv[], const char *input, char *out, size_t room)
{
	int in[2] = {-1, -1}, back[2] = {-1, -1}, status, rc = 0;
	size_t held = 0;
	char rest[256];

	/* What goes in fits a pipe, so that writing first never waits for reading. */
	if (pipe2(in, O_CLOEXEC) || pipe2(back, O_CLOEXEC)) rc = -errno;
	const pid_t child = rc ? -1 : fork();
	if (!child) become(argv, in[0], back[1]);
	if (child < 0 && !rc) rc = -errno;
	if (in[0] >= 0) close(in[0]);
	if (back[1] >= 0) close(back[1]);
	if (child > 0 && input) (void)!write(in[1], input, strlen(input));
	if (in[1] >= 0) close(in[1]);
	while (child > 0) {
		const bool full = held + 1 >= room;
		const ssize_t n = read(back[0], full ? rest : out + held, full ? sizeof rest : room - 1 - held);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) break;
		if (!full) held += (size_t)n;
	}
	if (room) out[held] = 0;
	if (back[0] >= 0) close(back[0]);
	if (child < 0) return rc;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR) return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECANCELED;
}
