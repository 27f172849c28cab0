/* SPDX-License-Identifier: MIT
 * gwnode: command dispatch.
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
	{"vectors", node_vectors, "test cases as lines on stdin, answers as lines on stdout"},
	{"differential", node_differential, "[--seed N] [--rounds N] [--impl DRIVER]: all against generic"},
	{"icount", node_icount, "[--impl DRIVER]: executed instructions, under qemu with the icount plugin"},
};

static int usage(FILE *to)
{
	fprintf(to, "gwnode %s\nusage: gwnode COMMAND\n", gw_version());
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].help);
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	if (argc < 2) return usage(stderr);
	if (!strcmp(argv[1], "--help")) return usage(stdout);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 2, argv + 2);
	return usage(stderr);
}
