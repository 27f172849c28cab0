/* SPDX-License-Identifier: MIT
 * See slow.h.
 */
#include "slow.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_PERCENT 10000

const gw_impl *gw_slowed;
static uint32_t percent;

void gw_slow_call(void (*run)(gw_op *, size_t), gw_op *ops, size_t n)
{
	const uint64_t before = gw_cycles();

	run(ops, n);
	const uint64_t after = gw_cycles(), extra = (after - before) * percent / 100;
	while (gw_cycles() - after < extra) continue;
}

int gw_slow_init(gw_err *err)
{
	const char *text = getenv("GWBENCH_SLOW_DOWN"), *equals = text ? strrchr(text, '=') : NULL;
	char driver[128], *end;
	long value;

	gw_slowed = NULL;
	if (text == NULL || text[0] == '\0') return 0;
	value = equals ? strtol(equals + 1, &end, 10) : 0;
	if (equals && *end == '\0' && value >= 1 && value <= MOST_PERCENT && (size_t)(equals - text) < sizeof driver) {
		memcpy(driver, text, (size_t)(equals - text));
		driver[equals - text] = '\0';
		gw_slowed = gw_impl_find(driver);
		percent = (uint32_t)value;
	}
	if (gw_slowed) return 0;
	if (err != NULL)
		snprintf(err->text, sizeof err->text,
				 "GWBENCH_SLOW_DOWN: %.80s is no DRIVER=PERCENT; `gwbench crypto` lists drivers, 1 to %d percent", text,
				 MOST_PERCENT);
	return -EINVAL;
}
