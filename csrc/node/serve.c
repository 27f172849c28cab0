/* SPDX-License-Identifier: MIT
 * serve: the exporter as a service of its own, for routers without Python.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"
#include "node.h"
#include "process.h"

#define FILE_EVERY_MS 15000

/* Whole or not at all: prometheus-node-exporter-lua concatenates files without looking at them. */
static int write_file(const char *path)
{
	char *text = metrics_text(NULL), scratch[256];
	int rc = text ? 0 : -ENOMEM;

	if (!rc && snprintf(scratch, sizeof scratch, "%s.%d.new", path, (int)getpid()) >= (int)sizeof scratch)
		rc = -ENAMETOOLONG;
	const int fd = rc ? -1 : open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (!rc && fd < 0) rc = -errno;
	if (!rc && write(fd, text, strlen(text)) != (ssize_t)strlen(text)) rc = -ENOSPC;
	if (fd >= 0) close(fd);
	if (!rc && rename(scratch, path)) rc = -errno;
	if (rc && fd >= 0) unlink(scratch);
	free(text);
	return rc;
}

int node_serve(int argc, char **argv)
{
	const char *listen = NULL, *file = NULL;
	gw_err err = {""};
	int rc, pipe_ends[2];
	char byte;

	for (int i = 0; i < argc; i += 2) {
		const bool takes_listen = !strcmp(argv[i], "--listen");
		if ((!takes_listen && strcmp(argv[i], "--textfile")) || i + 1 == argc) {
			fprintf(stderr, "gwnode: serve takes --listen ADDRESS:PORT and --textfile FILE.prom\n");
			return 2;
		}
		if (takes_listen)
			listen = argv[i + 1];
		else
			file = argv[i + 1];
	}
	if (!listen && !file) listen = "127.0.0.1:10795";
	process_catch_signals();
	process_harden();
	if (gw_init(&err) < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 2;
	}
	if (listen && (rc = metrics_listen(listen, NULL))) {
		fprintf(stderr, "gwnode: cannot listen at %s: %s\n", listen, strerror(-rc));
		return 2;
	}
	/* Waits on a pipe that never says anything; a file is written each time that the wait runs out. */
	if (pipe2(pipe_ends, O_CLOEXEC)) return 2;
	do {
		if (file && (rc = write_file(file))) {
			fprintf(stderr, "gwnode: cannot write %s: %s\n", file, strerror(-rc));
			return 2;
		}
		process_read(pipe_ends[0], &byte, 1, file ? FILE_EVERY_MS : -1, -1);
	} while (!process_stopped());
	if (file) unlink(file); /* metrics of what does not run any more would look alive */
	return 0;
}
