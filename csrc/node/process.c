/* SPDX-License-Identifier: MIT
 * Signals are blocked everywhere but in ppoll, so that none is lost between looking and waiting.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;
static sigset_t waiting; /* the mask while nothing else is done */

void process_harden(void)
{
	const struct rlimit none = {0, 0};
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!write(fd, "1000", 4);
		close(fd);
	}
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

void process_catch_signals(void)
{
	struct sigaction action = {.sa_handler = stop};
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &waiting);
	sigdelset(&waiting, SIGTERM); /* whoever started us may have blocked them */
	sigdelset(&waiting, SIGINT);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool process_stopped(void)
{
	return stopped;
}

ssize_t process_read(int fd, void *to, size_t n, int timeout_ms, int other)
{
	struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = other}};
	const struct timespec limit = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	const int ready = ppoll(p, 2, timeout_ms < 0 ? NULL : &limit, &waiting);

	if (ready < 0) return -1;
	if (!ready || p[1].revents) {
		errno = ready ? EPIPE : ETIMEDOUT;
		return -1;
	}
	return read(fd, to, n);
}
