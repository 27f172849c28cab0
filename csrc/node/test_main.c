/* SPDX-License-Identifier: MIT
 * gwnode-test: the commands that test implementations one by one. They are a third of the code, and no router needs
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "node.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"selftest", node_selftest, "known answers of every implementation that this CPU can run"},
	{"crypto", node_crypto, "[ALGORITHM|TAG]: MB/s of every implementation, also of what ESP has no use for"},
	{"vectors", node_vectors, "test cases as lines on stdin, answers as lines on stdout"},
	{"differential", node_differential, "[--seed N] [--rounds N] [--impl DRIVER]: all against generic"},
	{"icount", node_icount, "[--impl DRIVER]: executed instructions, under qemu with the icount plugin"},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
		if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 2, argv + 2);
	fprintf(stderr, "gwnode-test %s\nusage: gwnode-test COMMAND\n", gw_version());
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		fprintf(stderr, "  %-13s %s\n", commands[i].name, commands[i].help);
	return 2;
}
