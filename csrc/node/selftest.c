/* SPDX-License-Identifier: MIT
 * selftest: one line an implementation. Exit 1 when a known answer is wrong.
 */
#include <stdio.h>

#include "node.h"

int node_selftest(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	gw_err err = {""};
	int failed = gw_init(&err);
	if (failed < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 2;
	}
	printf("cpu %s\n", gw_cpu_features());
	for (size_t i = 0; i < gw_impl_count(); i++) {
		gw_impl_info info;
		gw_impl_describe(gw_impl_at(i), &info);
		const char *state = info.checked > 0 ? "ok" : info.checked < 0 ? "FAILED" : "not run";
		if (!info.runnable) state = "cpu lacks it";
		printf("%-36s %-36s %-10s %s%s\n", info.alg, info.driver, info.tag, state,
			   info.constant_time ? "" : ", not constant-time");
	}
	if (failed) fprintf(stderr, "gwnode: %s\n", err.text[0] ? err.text : "an implementation failed its known answers");
	return failed ? 1 : 0;
}
