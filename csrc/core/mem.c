/* SPDX-License-Identifier: MIT
 * Memory for keys, and random bytes.
 */
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whole pages would let the kernel keep each allocation out of core dumps, but a page per key is much for a router
 * with thousands of SAs: only what fills pages by itself is marked, smaller pieces are wiped when they are freed. */
#define PAGE_MIN 4096u

void *gw_alloc(size_t n)
{
	size_t align = n >= PAGE_MIN ? PAGE_MIN : 64;
	size_t bytes = (n + align - 1) / align * align;
	void *p = NULL;
	if (bytes < n) return NULL;
	if (bytes == 0) bytes = align;
	if (posix_memalign(&p, align, bytes) != 0) return NULL;
	memset(p, 0, bytes);
#ifdef MADV_DONTDUMP
	if (align == PAGE_MIN) (void)madvise(p, bytes, MADV_DONTDUMP); /* refused where pages are larger: no harm */
#endif
	return p;
}

void gw_free_wipe(void *p, size_t n)
{
	if (p == NULL) return;
	gw_wipe(p, n);
#ifdef MADV_DODUMP
	if (n >= PAGE_MIN) (void)madvise(p, (n + PAGE_MIN - 1) / PAGE_MIN * PAGE_MIN, MADV_DODUMP);
#endif
	free(p);
}

static int random_from_device(uint8_t *p, size_t n)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0) return -errno;
	while (n > 0) {
		ssize_t got = read(fd, p, n);
		if (got < 0 && errno == EINTR) continue;
		if (got <= 0) {
			int e = got == 0 ? EIO : errno;
			close(fd);
			return -e;
		}
		p += got;
		n -= (size_t)got;
	}
	close(fd);
	return 0;
}

int gw_random(void *p, size_t n)
{
	uint8_t *b = (uint8_t *)p;
	while (n > 0) {
		long got = syscall(SYS_getrandom, b, n, 0);
		if (got < 0 && errno == EINTR) continue;
		if (got < 0 && errno == ENOSYS) return random_from_device(b, n);
		if (got < 0) return -errno;
		b += got;
		n -= (size_t)got;
	}
	return 0;
}
