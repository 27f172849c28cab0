/* SPDX-License-Identifier: MIT
 * The meter: counters of the qemu plugin (tests/emulated/qemu/icount.c) in a file that the guest maps.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "icount.h"

static const volatile uint64_t *meter; /* little-endian */
static size_t load_at = 1, store_at = 2;
static icount overhead;

/* Out of line: the plugin counts a translation block as a whole, and a call always ends one. */
static __attribute__((noinline)) icount meter_read(void)
{
	icount c = {GW_LE64(meter[0]), GW_LE64(meter[load_at]), GW_LE64(meter[store_at]), GW_LE64(meter[3])};
	return c;
}

static icount difference(icount a, icount b)
{
	return (icount){a.insns - b.insns, a.loads - b.loads, a.stores - b.stores, a.neon_q - b.neon_q};
}

icount icount_start(void)
{
	return meter_read();
}

icount icount_stop(icount start)
{
	return difference(difference(meter_read(), start), overhead);
}

/* QEMU 7.2 counts loads where stores were asked for, and the other way round: see which of the two loading moves. */
static void calibrate(void)
{
	static volatile uint32_t word;
	icount before = meter_read();
	for (int i = 0; i < 256; i++) (void)word;
	icount loading = difference(meter_read(), before);
	if (loading.stores > loading.loads) {
		load_at = 2;
		store_at = 1;
	}
	for (int i = 0; i < 2; i++) { /* twice: the first call may resolve something */
		before = icount_start();
		icount nothing = icount_stop(before);
		overhead = (icount){nothing.insns + overhead.insns, nothing.loads + overhead.loads,
							nothing.stores + overhead.stores, 0};
	}
}

int icount_open(void)
{
	const char *path = getenv("ICOUNT_SHM");
	int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0) return -ENOENT;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED) return -ENOENT;
	meter = p;
	calibrate();
	return 0;
}

int icount_report(const char *alg, const char *implementation, const char *tag, const char *op, size_t key_bits,
				  size_t bytes, size_t batch, icount c)
{
	printf("{\"algorithm\": \"%s\", \"implementation\": \"%s\", \"tag\": \"%s\", \"op\": \"%s\", \"key_bits\": %zu, "
		   "\"bytes\": %zu, \"batch\": %zu, \"insns\": %llu, \"loads\": %llu, \"stores\": %llu, \"neon_q\": %llu}\n",
		   alg, implementation, tag, op, key_bits, bytes, batch, (unsigned long long)c.insns,
		   (unsigned long long)c.loads, (unsigned long long)c.stores, (unsigned long long)c.neon_q);
	return c.insns ? 0 : 1;
}
