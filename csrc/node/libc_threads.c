/* SPDX-License-Identifier: MIT
 * Mutexes, condition variables and once for static builds on musl: of one kind each, on futexes. The C library's have
 * kinds, cancellation and sharing between processes, which nothing here uses: 9 KB of a router's flash. Their types
 * stay the C library's: zeros are what its initializers write, and these functions' free state.
 */
#include <stddef.h>

#if defined(__linux__) && !defined(__GLIBC__)

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the kernel's first interface: uptime, in which waits end here, does not outgrow 32 bits of seconds. */
typedef struct moment {
	long s, ns;
} moment;

/* Older 32-bit processors have this one alone before Linux 5.1, newer ones only the other. */
#if defined(SYS_futex)
#define FUTEX SYS_futex
#else
#define FUTEX SYS_futex_time64
#endif

static int wait_while(int *word, int value, const moment *until)
{
	const int kept = errno;
	const long rc = syscall(FUTEX, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, until, NULL, -1);
	const int code = rc ? errno : 0;
	errno = kept;
	return code;
}

static void wake(int *word, int count)
{
	const int kept = errno;
	(void)syscall(FUTEX, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
	errno = kept;
}

/* ---- mutex: 0 free, 1 held, 2 held and perhaps waited for ---- */

static int *word_of(void *object)
{
	return (int *)object;
}

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	(void)attr; /* none of ours has any */
	memset(m, 0, sizeof *m);
	return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *m)
{
	(void)m;
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	int *word = word_of(m), free_ = 0;
	if (__atomic_compare_exchange_n(word, &free_, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return 0;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE)) (void)wait_while(word, 2, NULL);
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	int *word = word_of(m);
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2) wake(word, 1);
	return 0;
}

/* ---- condition variable: a count of signals, and the clock ---- */

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	memset(c, 0, sizeof *c);
	(void)attr; /* a clock, and ours is always CLOCK_MONOTONIC */
	return 0;
}

int pthread_condattr_init(pthread_condattr_t *attr)
{
	memset(attr, 0, sizeof *attr);
	return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
	(void)attr;
	return clock == CLOCK_MONOTONIC ? 0 : EINVAL;
}

int pthread_condattr_destroy(pthread_condattr_t *attr)
{
	(void)attr;
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *c)
{
	(void)c;
	return 0;
}

static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, const moment *until)
{
	int *word = word_of(c);
	const int seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	pthread_mutex_unlock(m);
	const int code = wait_while(word, seen, until);
	pthread_mutex_lock(m);
	return code == ETIMEDOUT ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return cond_wait(c, m, NULL);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	const moment at = {(long)until->tv_sec, (long)until->tv_nsec};
	return cond_wait(c, m, &at);
}

int pthread_cond_signal(pthread_cond_t *c)
{
	__atomic_add_fetch(word_of(c), 1, __ATOMIC_RELAXED);
	wake(word_of(c), 1);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
	__atomic_add_fetch(word_of(c), 1, __ATOMIC_RELAXED);
	wake(word_of(c), INT_MAX);
	return 0;
}

/* ---- once: 0 never, 1 running, 2 done ---- */

int pthread_once(pthread_once_t *once, void (*run)(void))
{
	int *word = word_of(once), never = 0, state;

	if (__atomic_compare_exchange_n(word, &never, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		run();
		__atomic_store_n(word, 2, __ATOMIC_RELEASE);
		wake(word, INT_MAX);
		return 0;
	}
	while ((state = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == 1) (void)wait_while(word, 1, NULL);
	return state == 2 ? 0 : EINVAL;
}

/* ---- attributes of a thread: the C library's asks under a lock for defaults that nobody sets ---- */

int pthread_attr_init(pthread_attr_t *attr)
{
	memset(attr, 0, sizeof *attr);
	if (pthread_attr_setstacksize(attr, 128 << 10)) return EINVAL;
	return pthread_attr_setguardsize(attr, 8 << 10);
}

#else
typedef int gw_threads_are_the_c_library_s;
#endif
