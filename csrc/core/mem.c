/* SPDX-License-Identifier: MIT
 * Memory for keys, and random bytes.
 */
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What fills pages by itself gets pages of its own. Smaller pieces (SAs, keys) lie side by side in chunks, each size in
 * its own: what a packet touches of ten thousand SAs then fits into a few huge pages, or into as few pages of 4 KB as
 * can be where the kernel or the hypervisor has no others. Every page more costs a walk through page tables at nearly
 * every packet. Either is kept out of core dumps. */
#define PAGE_MIN    4096u
#define LINE        64u
#define SMALL_LINES 48u /* pieces up to 3 KB */
#define CHUNK_MIN   (4u << 10)
#define CHUNK_MAX   (2u << 20) /* a huge page of most processors */

#if defined(__SANITIZE_ADDRESS__)
#define CHUNKS 0 /* sanitizers see a byte too far only where each piece stands alone */
#else
#define CHUNKS 1
#endif

typedef struct pool {
	void *free;        /* each piece begins with a pointer to the next */
	uint8_t *at, *end; /* of the newest chunk */
	size_t chunk_bytes;
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pool pools[SMALL_LINES + 1]; /* by lines */

static void *alloc_pages(size_t align, size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, align, bytes) != 0) return NULL;
#ifdef MADV_DONTDUMP
	if (align >= PAGE_MIN) (void)madvise(p, bytes, MADV_DONTDUMP); /* refused where pages are larger: no harm */
#endif
	return p;
}

/* Under the lock. Chunks grow with what is needed, and stay: pieces are used again by their size. */
static bool new_chunk(pool *of)
{
	const size_t bytes = of->chunk_bytes == 0          ? CHUNK_MIN
						 : of->chunk_bytes < CHUNK_MAX ? of->chunk_bytes * 2
													   : CHUNK_MAX;
	uint8_t *p = alloc_pages(bytes < CHUNK_MAX ? PAGE_MIN : CHUNK_MAX, bytes);

	if (!p) return false;
#ifdef MADV_HUGEPAGE
	if (bytes == CHUNK_MAX) (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
	of->at = p;
	of->end = p + bytes;
	of->chunk_bytes = bytes;
	return true;
}

static void *take_small(size_t lines)
{
	pool *from = &pools[lines];
	void *p = NULL;

	pthread_mutex_lock(&lock);
	if (from->free) {
		p = from->free;
		memcpy(&from->free, p, sizeof p);
	} else if ((size_t)(from->end - from->at) >= lines * LINE || new_chunk(from)) {
		p = from->at;
		from->at += lines * LINE;
	}
	pthread_mutex_unlock(&lock);
	return p;
}

void *gw_alloc(size_t n)
{
	const size_t lines = n / LINE + (n % LINE != 0 || n == 0);
	size_t bytes = n == 0 ? 1 : n;
	void *p;

	if (n > SIZE_MAX - PAGE_MIN) return NULL;
	if (CHUNKS && lines <= SMALL_LINES) {
		bytes = lines * LINE;
		p = take_small(lines);
	} else if (n < PAGE_MIN) {
		p = alloc_pages(LINE, bytes); /* to the byte, for the sanitizers */
	} else {
		bytes = (n + PAGE_MIN - 1) / PAGE_MIN * PAGE_MIN;
		p = alloc_pages(PAGE_MIN, bytes);
	}
	if (p) memset(p, 0, bytes);
	return p;
}

void gw_free_wipe(void *p, size_t n)
{
	const size_t lines = n / LINE + (n % LINE != 0 || n == 0);

	if (p == NULL) return;
	gw_wipe(p, n);
	if (CHUNKS && lines <= SMALL_LINES) {
		pthread_mutex_lock(&lock);
		memcpy(p, &pools[lines].free, sizeof p);
		pools[lines].free = p;
		pthread_mutex_unlock(&lock);
		return;
	}
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
