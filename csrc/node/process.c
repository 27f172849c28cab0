/* SPDX-License-Identifier: MIT
 * Signals are blocked everywhere but in ppoll, so that none is lost between looking and waiting.
 */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
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
	(void)prlimit(0, RLIMIT_CORE, &none, NULL); /* setrlimit drags in what sets it for every thread */
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

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int watched = -1;
static void (*watched_call)(int fd);

void process_watch(int fd, void (*call)(int fd))
{
	watched = fd;
	watched_call = call;
}

ssize_t process_read(int fd, void *to, size_t n, int timeout_ms, int other)
{
	const int64_t end = now_ms() + timeout_ms;

	for (;;) {
		struct pollfd p[3] = {{.fd = fd, .events = POLLIN}, {.fd = other}, {.fd = watched, .events = POLLIN}};
		int64_t left = timeout_ms < 0 ? 0 : end - now_ms();
		if (left < 0) left = 0;
		const struct timespec limit = {(time_t)(left / 1000), (long)(left % 1000) * 1000000L};
		const int ready = ppoll(p, 3, timeout_ms < 0 ? NULL : &limit, &waiting);
		if (ready < 0) return -1;
		if (!ready || p[1].revents) {
			errno = ready ? EPIPE : ETIMEDOUT;
			return -1;
		}
		if (p[0].revents) return read(fd, to, n);
		if (p[2].revents) watched_call(watched);
	}
}
