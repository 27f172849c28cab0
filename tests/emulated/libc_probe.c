/* SPDX-License-Identifier: MIT
 * csrc/node/libc_*.c against what C and POSIX ask of it. Prints what is wrong; silent and 0 when nothing is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int wrong;
#define CHECK(x)                                                                                                       \
	do {                                                                                                               \
		if (!(x)) {                                                                                                    \
			printf("line %d: %s\n", __LINE__, #x);                                                                     \
			wrong = 1;                                                                                                 \
		}                                                                                                              \
	} while (0)

/* ---- heap: blocks of random sizes keep what was written to them ---- */

#define BLOCKS 200

static void *heap(void *seed)
{
	struct {
		uint8_t *p, fill;
		size_t n;
	} b[BLOCKS] = {{0}};
	uint32_t x = (uint32_t)(uintptr_t)seed;

	for (int i = 0; i < 20000; i++) {
		x = x * 1664525u + 1013904223u;
		const size_t at = x / 7919 % BLOCKS, n = (x >> 8) % (i % 50 ? 700 : 300000), align = (size_t)16 << (x >> 28);
		void *p = NULL;
		for (size_t k = 0; k<b[at].n; k += b[at].n> 4096 ? 509 : 1) CHECK(b[at].p[k] == b[at].fill);
		if (i % 3 == 0) {
			p = realloc(b[at].p, n + 1);
			for (size_t k = 0; k < b[at].n && k <= n; k += 97) CHECK(((uint8_t *)p)[k] == b[at].fill);
		} else {
			free(b[at].p);
			if (i % 3 == 1) {
				p = malloc(n + 1);
			} else {
				CHECK(posix_memalign(&p, align, n + 1) == 0);
				CHECK((uintptr_t)p % align == 0);
			}
		}
		CHECK(p && (uintptr_t)p % 16 == 0);
		b[at].p = p, b[at].n = n + 1, b[at].fill = (uint8_t)x;
		memset(p, b[at].fill, n + 1);
	}
	for (int i = 0; i < BLOCKS; i++) free(b[i].p);
	return NULL;
}

static void heap_edges(void)
{
	uint8_t *p = malloc(100);
	memset(p, 255, 100);
	free(p);
	p = calloc(10, 10);
	for (int i = 0; i < 100; i++) CHECK(p[i] == 0);
	free(p);
	free(NULL);
	volatile size_t huge = SIZE_MAX;
	CHECK(!malloc(huge) && errno == ENOMEM);
	CHECK(!malloc(huge - 8) && !calloc(huge / 2, 3) && !realloc(NULL, huge - 100));
	CHECK(posix_memalign((void **)&p, 24, 8) == EINVAL);
	char *s = strdup("copied");
	CHECK(!strcmp(s, "copied"));
	free(s);
}

/* ---- threads ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int counted, turn, ran;

static void run_once(void)
{
	usleep(20000);
	ran++;
}

static void *contend(void *arg)
{
	pthread_once(&once, run_once);
	CHECK(ran == 1);
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&lock);
		counted++;
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 500; i++) { /* in turn, four of them */
		pthread_mutex_lock(&lock);
		while (turn % 4 != (int)(intptr_t)arg) pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void threads(void *(*run)(void *))
{
	pthread_t t[4];
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	for (intptr_t i = 0; i < 4; i++) CHECK(!pthread_create(&t[i], &attr, run, (void *)i));
	for (int i = 0; i < 4; i++) CHECK(!pthread_join(t[i], NULL));
	pthread_attr_destroy(&attr);
}

static void waiting_ends(void)
{
	struct timespec until, now;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 50000000;
	if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
	pthread_mutex_lock(&lock);
	int rc = 0;
	while (!rc) rc = pthread_cond_timedwait(&changed, &lock, &until);
	pthread_mutex_unlock(&lock);
	clock_gettime(CLOCK_MONOTONIC, &now);
	CHECK(rc == ETIMEDOUT);
	CHECK(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
}

/* ---- numbers, words, files ---- */

static void numbers(void)
{
	char *end;
	CHECK(strtoul(" 42x", &end, 10) == 42 && *end == 'x');
	CHECK(strtoul("0x1fz", &end, 0) == 31 && *end == 'z');
	CHECK(strtoul("0x", &end, 16) == 0 && *end == 'x');
	CHECK(strtoul("017", NULL, 0) == 15 && strtoul("08", &end, 0) == 0 && *end == '8');
	CHECK(strtoul("none", &end, 10) == 0 && *end == 'n');
	CHECK(strtoul("fFfFfFfF", NULL, 16) == 0xffffffff);
	CHECK(strtoull("18446744073709551615", NULL, 10) == ULLONG_MAX);
	errno = 0;
	CHECK(strtoull("18446744073709551616", NULL, 10) == ULLONG_MAX && errno == ERANGE);
	errno = 0;
	CHECK(strtoull("99999999999999999999999", &end, 10) == ULLONG_MAX && errno == ERANGE && !*end);
	errno = 0;
	CHECK(strtol("-17", NULL, 10) == -17 && strtol("+17", NULL, 10) == 17 && errno == 0);
	CHECK(strtol("-99999999999999999999", NULL, 10) == LONG_MIN && errno == ERANGE);
	errno = 0;
	CHECK(strtol("99999999999999999999", NULL, 10) == LONG_MAX && errno == ERANGE);
	CHECK(atoi("-12 ") == -12 && atol("7") == 7 && atoi("") == 0);
	const char *text = "abcabd";
	CHECK(strstr(text, "abd") == text + 3 && strstr(text, "") == text && !strstr(text, "abdx") && !strstr("", "a"));
}

static void files(const char *path)
{
	char line[16], byte[2] = "";
	size_t newlines = 0, bytes = 0;
	FILE *f = fopen(path, "re"), *g = fopen(path, "re");
	CHECK(f && g && f != g);
	CHECK(fgets(byte, 2, g) && strlen(byte) == 1 && !fclose(g));
	while (f && fgets(line, sizeof line, f)) {
		CHECK(strlen(line) < sizeof line);
		bytes += strlen(line);
		newlines += strchr(line, '\n') != NULL;
	}
	CHECK(newlines == 1000 && bytes == 1000 * 21);
	if (f) fclose(f);
	CHECK(!fopen("/nonexistent", "re") && errno == ENOENT);
}

int main(int argc, char **argv)
{
	pthread_cond_init(&changed, NULL);
	heap_edges();
	threads(heap);
	threads(contend);
	CHECK(counted == 80000 && turn == 2000 && ran == 1);
	waiting_ends();
	numbers();
	if (argc > 1) files(argv[1]);
	CHECK(puts("") >= 0 && fflush(stdout) == 0);
	return wrong;
}
