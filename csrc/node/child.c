/* SPDX-License-Identifier: MIT
 * iperf3 as a child of the node: it cannot outlive it, and whoever drives the node needs no second connection.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol.h"

#define MAX_WORDS    40
#define OUTPUT_BYTES (1u << 20)
#define TCP_LISTEN   0x0a

typedef struct child_arguments {
	argument_texts arguments;
} child_arguments;

/* Its status is kept once it has ended. */
static void look(node_child *c)
{
	int status;

	if (c->pid <= 0 || waitpid(c->pid, &status, WNOHANG) != c->pid) return;
	c->pid = 0;
	c->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void node_end_child(node *n)
{
	node_child *c = &n->child;

	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) continue;
		c->status = -SIGKILL;
	}
	if (c->started) close(c->output);
	c->pid = 0;
	c->started = false;
}

/* In the child; returns errno when the program cannot be run. */
static int become(char *const argv[], int output, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent) _exit(1);
	const int nothing = open("/dev/null", O_RDONLY);
	if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return errno;
	execvp(argv[0], argv);
	return errno;
}

static int spawn(node_child *c, char *const argv[])
{
	const pid_t parent = getpid();
	int told[2], rc = 0;

	if ((c->output = memfd_create("iperf3", MFD_CLOEXEC)) < 0) return -errno;
	if (pipe2(told, O_CLOEXEC) < 0) {
		rc = -errno;
		close(c->output);
		return rc;
	}
	const pid_t pid = fork();
	if (pid == 0) {
		const int why = become(argv, c->output, parent);
		(void)!write(told[1], &why, sizeof why);
		_exit(127);
	}
	if (pid < 0) rc = -errno;
	close(told[1]);
	int why = 0;
	if (pid > 0 && read(told[0], &why, sizeof why) == (ssize_t)sizeof why) {
		rc = -why;
		waitpid(pid, NULL, 0);
	}
	close(told[0]);
	if (rc) {
		close(c->output);
		return rc;
	}
	c->pid = pid;
	c->started = true;
	return 0;
}

int node_iperf3(node *n, node_failure *f)
{
	static const argument table[] = {{"arguments", ARGUMENT_TEXTS, true, offsetof(child_arguments, arguments)}};
	static char name[] = "iperf3";
	char *argv[MAX_WORDS + 2] = {name};
	child_arguments a;

	if (arguments_read(n->request, table, 1, &a, f)) return -1;
	if (a.arguments.count > MAX_WORDS) return node_fail(f, "bad-request", "more than %d words", MAX_WORDS);
	look(&n->child);
	if (n->child.pid > 0) return node_fail(f, "error", "an iperf3 is running already");
	node_end_child(n);
	char *word = (char *)(uintptr_t)a.arguments.first;
	n->child.port = 0;
	for (size_t i = 0; i < a.arguments.count; i++, word += strlen(word) + 1) {
		argv[i + 1] = word;
		if (i && !strcmp(argv[i], "-p")) n->child.port = (unsigned)atoi(word);
	}
	const int rc = spawn(&n->child, argv);
	if (rc == -ENOENT) {
		snprintf(f->hint, sizeof f->hint, "opkg install iperf3; apk add iperf3; apt-get install iperf3");
		return node_fail(f, "no-iperf3", "iperf3 is not installed");
	}
	if (rc) return node_fail(f, "error", "cannot start iperf3: %s", strerror(-rc));
	node_result(n);
	json_begin(&n->out, '{');
	json_put_count(&n->out, "pid", (uint64_t)n->child.pid);
	json_end(&n->out, '}');
	return 0;
}

/* "  0: 0100007F:1451 00000000:0000 0A ...": numbers, local and remote ends, state. Not sscanf: it brings reading of
 * long doubles with it, in software 25 KB of a router's flash. */
static bool line_listens(const char *line, unsigned port)
{
	const char *at = strchr(line, ':');
	char *end;
	if (!at || !(at = strchr(at + 1, ':')) || strtoul(at + 1, &end, 16) != port) return false;
	if (!(at = strchr(end, ':'))) return false;
	(void)strtoul(at + 1, &end, 16);
	return strtoul(end, NULL, 16) == TCP_LISTEN;
}

/* By the kernel's table of sockets, not by what iperf3 prints: that differs between versions. */
static bool listens(unsigned port)
{
	static const char *const tables[] = {"/proc/self/net/tcp", "/proc/self/net/tcp6"};
	bool found = false;
	char line[256];

	for (size_t i = 0; i < 2 && !found; i++) {
		FILE *file = fopen(tables[i], "re");
		while (file && !found && fgets(line, sizeof line, file)) found = line_listens(line, port);
		if (file) fclose(file);
	}
	return found;
}

int node_iperf3_output(node *n, node_failure *f)
{
	node_child *c = &n->child;

	if (arguments_read(n->request, NULL, 0, NULL, f)) return -1;
	if (!c->started) return node_fail(f, "error", "no iperf3 was started");
	look(c);
	char *text = malloc(OUTPUT_BYTES + 1);
	if (!text) return node_fail(f, "error", "out of memory");
	const off_t size = lseek(c->output, 0, SEEK_END), from = size > (off_t)OUTPUT_BYTES ? size - OUTPUT_BYTES : 0;
	const ssize_t got = pread(c->output, text, OUTPUT_BYTES, from);
	size_t len = got > 0 ? (size_t)got : 0;
	for (size_t i = 0; i < len; i++)
		if (!text[i]) text[i] = ' ';
	text[len] = 0;
	node_result(n);
	json_begin(&n->out, '{');
	json_key(&n->out, "running");
	json_bool(&n->out, c->pid > 0);
	json_key(&n->out, "listening");
	json_bool(&n->out, c->pid > 0 && c->port && listens(c->port));
	json_put_count(&n->out, "status", (uint64_t)(c->pid > 0 || c->status >= 0 ? c->status : 128 - c->status));
	json_put_text(&n->out, "output", text);
	json_end(&n->out, '}');
	free(text);
	return 0;
}

int node_iperf3_stop(node *n, node_failure *f)
{
	if (arguments_read(n->request, NULL, 0, NULL, f)) return -1;
	node_end_child(n);
	node_write_empty(n);
	return 0;
}
