/* SPDX-License-Identifier: MIT
 * The heap of static builds on musl: blocks in order of their addresses, the first that is large enough is taken,
 * neighbours that are free become one. zig's own library brings an allocator for many cores, which is 7 KB of a
 * router's flash; what allocates here is control, and gw_mem's pools. glibc's is shared, and left alone.
 */
#include <stddef.h>

#if defined(__linux__) && !defined(__GLIBC__)

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define UNIT  16          /* of sizes and of alignment; a header fills one */
#define CHUNK (64u << 10) /* asked of the kernel at a time */
#define LARGE (96u << 10) /* from here on a mapping of its own, which is given back */

typedef struct block {
	size_t size; /* with this header; bit 0: a mapping of its own */
	union {
		struct block *next; /* free: the one behind it on the list */
		size_t before;      /* own mapping: bytes in front of the header */
	} u;
} __attribute__((aligned(UNIT))) block;

static struct {
	pthread_mutex_t lock;
	block *first;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static bool touches(const block *a, const block *b)
{
	return (const uint8_t *)a + a->size == (const uint8_t *)b;
}

/* Under the lock. */
static void give(block *b)
{
	block *before = NULL, *after = heap.first;

	for (; after && after < b; after = after->u.next) before = after;
	b->u.next = after;
	if (after && touches(b, after)) {
		b->size += after->size;
		b->u.next = after->u.next;
	}
	if (!before) {
		heap.first = b;
	} else if (touches(before, b)) {
		before->size += b->size;
		before->u.next = b->u.next;
	} else {
		before->u.next = b;
	}
}

/* Under the lock. What `size` bytes at a payload of this alignment leave over stays free, on both sides. */
static block *take(size_t size, size_t align)
{
	for (block **at = &heap.first, *b; (b = *at); at = &b->u.next) {
		const uintptr_t payload = (uintptr_t)(b + 1), front = (0 - payload) & (align - 1);
		if (b->size < size || b->size - size < front) continue;
		const size_t rest = b->size - size - front;
		block *mine = (block *)((uint8_t *)b + front), *behind = (block *)((uint8_t *)mine + size);
		block *next = b->u.next;
		if (rest) {
			behind->size = rest;
			behind->u.next = next;
			next = behind;
		}
		if (front) {
			b->size = front;
			b->u.next = next;
		} else {
			*at = next;
		}
		mine->size = size;
		return mine;
	}
	return NULL;
}

static void *large(size_t size, size_t align)
{
	const size_t room = align > UNIT ? align : 0;
	uint8_t *base = size + room < size ? NULL : (uint8_t *)map(size + room);
	if (!base) return NULL;
	const size_t front = (0 - (uintptr_t)(base + sizeof(block))) & (align - 1);
	block *b = (block *)(base + front);
	b->size = (size + room - front) | 1;
	b->u.before = front;
	return b + 1;
}

static void *allocate(size_t n, size_t align)
{
	const size_t size = ((n ? n : 1) + sizeof(block) + UNIT - 1) & ~(size_t)(UNIT - 1);
	void *p = NULL;

	if (align < UNIT) align = UNIT;
	if (size > n && size + align >= LARGE) {
		p = large(size, align);
	} else if (size > n) {
		pthread_mutex_lock(&heap.lock);
		block *b = take(size, align);
		if (!b && (b = (block *)map(CHUNK + LARGE))) {
			b->size = CHUNK + LARGE;
			give(b);
			b = take(size, align);
		}
		if (b) p = b + 1;
		pthread_mutex_unlock(&heap.lock);
	}
	if (!p) errno = ENOMEM;
	return p;
}

void *malloc(size_t n)
{
	return allocate(n, UNIT);
}

void free(void *p)
{
	block *b = (block *)p - 1;

	if (!p) return;
	if (b->size & 1) {
		const int kept = errno;
		munmap((uint8_t *)b - b->u.before, (b->size & ~(size_t)1) + b->u.before);
		errno = kept;
		return;
	}
	pthread_mutex_lock(&heap.lock);
	give(b);
	pthread_mutex_unlock(&heap.lock);
}

void *calloc(size_t n, size_t each)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	void *p = allocate(bytes, UNIT);
	return p ? memset(p, 0, bytes) : NULL;
}

void *realloc(void *old, size_t n)
{
	const size_t had = old ? (((block *)old)[-1].size & ~(size_t)1) - sizeof(block) : 0;
	if (had >= n && old) return old;
	void *p = allocate(n, UNIT);
	if (p && old) {
		memcpy(p, old, had);
		free(old);
	}
	return p;
}

int posix_memalign(void **to, size_t align, size_t n)
{
	if (align & (align - 1) || align < sizeof(void *)) return EINVAL;
	void *p = allocate(n, align);
	if (!p) return ENOMEM;
	*to = p;
	return 0;
}

void *aligned_alloc(size_t align, size_t n)
{
	return allocate(n, align);
}

char *strdup(const char *s)
{
	const size_t n = strlen(s) + 1;
	char *p = (char *)malloc(n);
	return p ? (char *)memcpy(p, s, n) : NULL;
}

#else
typedef int gw_heap_is_the_c_library_s;
#endif
