/* SPDX-License-Identifier: MIT
 * cleanup: undoes what a session left that was killed together with its watchdog.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "journal.h"
#include "node.h"

static void say(const char *entry, int rc)
{
	printf("%s %s%s%s\n", rc ? "cannot undo:" : "undone:", entry, rc ? ": " : "", rc ? strerror(-rc) : "");
}

int node_cleanup(int argc, char **argv)
{
	size_t failed = 0;
	pid_t owner = 0;

	(void)argv;
	if (argc) return 2;
	const int rc = journal_open(&owner);
	if (rc) {
		if (rc == -EBUSY)
			fprintf(stderr, "gwnode: process %d is at work here; end it first: it cleans up by itself\n", (int)owner);
		else
			fprintf(stderr, "gwnode: cannot open the journal %s: %s\n", journal_path(), strerror(-rc));
		return 2;
	}
	if (!journal_undo(0, &failed, say) && !failed) printf("nothing was left\n");
	journal_close();
	return failed ? 1 : 0;
}
