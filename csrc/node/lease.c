/* SPDX-License-Identifier: MIT
 * The watchdog is a copy of this process that holds one end of a pipe: when the other end closes, however that came,
 * it undoes the journal. A clean end takes the same way, so that it is the tested one.
 */
#define _GNU_SOURCE
#include "lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal.h"

static int held = -1; /* our end of the pipe */
static pid_t watchdog;

static void watch(int fd)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT};
	size_t failed = 1;
	char byte;

	setsid();
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "gwnode-watchdog", 0, 0, 0);
	/* Our end of the session must not keep ssh waiting. */
	const int null = open("/dev/null", O_RDWR), oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	for (int i = 0; i < 3 && null >= 0; i++) dup2(null, i);
	if (null > 2) close(null);
	if (oom >= 0) {
		if (write(oom, "-900", 4) < 0) (void)!write(oom, "0", 1);
		close(oom);
	}
	while (read(fd, &byte, 1) < 0 && errno == EINTR) continue;
	for (int tries = 0; tries < 5 && failed; tries++) {
		if (tries) sleep(1);
		journal_undo(0, &failed, NULL);
	}
	journal_close();
	_exit(0);
}

int lease_begin(size_t *undone, pid_t *owner)
{
	size_t failed;
	int ends[2], rc = journal_open(owner);

	if (rc) return rc;
	*undone = journal_undo(0, &failed, NULL);
	if ((rc = journal_note("gwnode %d", (int)getpid()))) goto close;
	if (pipe2(ends, O_CLOEXEC)) goto fail;
	watchdog = fork();
	if (watchdog < 0) goto fail;
	if (!watchdog) {
		close(ends[1]);
		watch(ends[0]);
	}
	close(ends[0]);
	held = ends[1];
	return 0;
fail:
	rc = -errno;
close:
	journal_close();
	return rc;
}

int lease_watchdog_fd(void)
{
	return held;
}

size_t lease_end(void)
{
	size_t failed = 0;

	if (held < 0) return 0;
	close(held);
	held = -1;
	while (waitpid(watchdog, NULL, 0) < 0 && errno == EINTR) continue;
	journal_undo(0, &failed, NULL); /* finds nothing, unless the watchdog was killed */
	journal_close();
	return failed;
}
