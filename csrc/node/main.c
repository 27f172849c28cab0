/* SPDX-License-Identifier: MIT
 * gwnode: command dispatch.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "node.h"

static const struct command {
	const char *name, *arguments, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"doctor", "", "what this machine is and can do; changes nothing", node_doctor},
	{"selftest", "", "known answers of every implementation", node_selftest},
	{"crypto", "[ALGORITHM|TAG]", "MB/s of every implementation that runs here", node_crypto},
	{"esp", "[SUITE]", "packets and Mbit/s, sealed and opened in memory", node_esp},
	{"serve", "[--listen A:P]", "metrics for Prometheus; --textfile FILE.prom writes them there", node_serve},
	{"cleanup", "", "undo what a session left that was killed", node_cleanup},
	{"--stdio", "", "a gateway that gwbench drives: JSON lines on stdin and stdout", node_stdio},
};

static int usage(FILE *to)
{
	fprintf(to, "gwnode %s: an IPsec (ESP) data path and its benches in one file\n\nusage: gwnode COMMAND\n",
			gw_version());
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		fprintf(to, "  %-9s%-17s%s\n", commands[i].name, commands[i].arguments, commands[i].help);
	return to == stdout ? 0 : 2;
}

static int run(const struct command *c, int argc, char **argv)
{
	const bool asks = argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"));
	const bool takes_none = !*c->arguments && argc && c->run != node_stdio;

	if (!asks && !takes_none) return c->run(argc, argv);
	FILE *to = asks ? stdout : stderr;
	if (!asks) fprintf(to, "gwnode: %s takes no argument '%.40s'\n", c->name, argv[0]);
	fprintf(to, "usage: gwnode %s %s\n  %s\n", c->name, c->arguments, c->help);
	return asks ? 0 : 2;
}

int main(int argc, char **argv)
{
	if (argc < 2) return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return usage(stdout);
	if (!strcmp(argv[1], "--version")) return printf("gwnode %s\n", gw_version()) < 0;
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (!strcmp(argv[1], commands[i].name)) {
			const int status = run(&commands[i], argc - 2, argv + 2);
			return fflush(stdout) ? 1 : status;
		}
	fprintf(stderr, "gwnode: no command is called '%s'\n", argv[1]);
	return usage(stderr);
}
