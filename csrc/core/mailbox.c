/* SPDX-License-Identifier: MIT
 * A queue of commands under a mutex, an eventfd that wakes the loop, a condition that wakes the caller.
 *
 * The loop takes the mutex only when a flag says that something waits, so a drain between two batches costs one
 * load. A command belongs to the box and to its caller: whoever lets go last frees it, which makes a timeout safe.
 */
#include "mailbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

typedef struct mail {
	struct mail *next;
	gw_mail_fn fn;
	void *arg;
	int result;
	bool done;
	bool abandoned; /* its caller has timed out: the loop's side frees it */
} mail;

struct gw_mailbox {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	mail *first, **end;
	int fd;
	int waiting; /* read by the loop without the lock */
	bool closed;
};

gw_mailbox *gw_mailbox_new(void)
{
	gw_mailbox *box = calloc(1, sizeof(*box));
	pthread_condattr_t attr;

	if (!box) return NULL;
	box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->fd < 0) {
		free(box);
		return NULL;
	}
	box->end = &box->first;
	pthread_mutex_init(&box->lock, NULL);
	/* a timeout must not move with the wall clock: routers set it by NTP minutes after boot */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&box->answered, &attr);
	pthread_condattr_destroy(&attr);
	return box;
}

void gw_mailbox_free(gw_mailbox *box)
{
	if (!box) return;
	gw_mailbox_close(box);
	close(box->fd);
	pthread_cond_destroy(&box->answered);
	pthread_mutex_destroy(&box->lock);
	free(box);
}

int gw_mailbox_fd(const gw_mailbox *box)
{
	return box->fd;
}

/* Under the lock. */
static void answer(gw_mailbox *box, mail *m, int result)
{
	if (m->abandoned) {
		free(m);
		return;
	}
	m->result = result;
	m->done = true;
	pthread_cond_broadcast(&box->answered);
}

int gw_mailbox_call(gw_mailbox *box, gw_mail_fn fn, void *arg, int timeout_ms)
{
	mail *m = calloc(1, sizeof(*m));
	struct timespec until;
	int result, waited = 0;

	if (!m) return -ENOMEM;
	m->fn = fn;
	m->arg = arg;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}

	pthread_mutex_lock(&box->lock);
	if (box->closed) {
		pthread_mutex_unlock(&box->lock);
		free(m);
		return -ESHUTDOWN;
	}
	*box->end = m;
	box->end = &m->next;
	__atomic_store_n(&box->waiting, 1, __ATOMIC_RELEASE);
	const uint64_t one = 1;
	while (write(box->fd, &one, sizeof(one)) < 0 && errno == EINTR) continue;
	while (!m->done && waited != ETIMEDOUT) waited = pthread_cond_timedwait(&box->answered, &box->lock, &until);
	if (m->done) {
		result = m->result;
		free(m);
	} else {
		result = -ETIMEDOUT;
		m->abandoned = true;
	}
	pthread_mutex_unlock(&box->lock);
	return result;
}

/* Unlinks everything that waits. */
static mail *take_all(gw_mailbox *box)
{
	mail *m;

	pthread_mutex_lock(&box->lock);
	m = box->first;
	box->first = NULL;
	box->end = &box->first;
	__atomic_store_n(&box->waiting, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&box->lock);
	return m;
}

int gw_mailbox_drain(gw_mailbox *box, void *loop)
{
	uint64_t count;
	int n = 0;

	if (!__atomic_load_n(&box->waiting, __ATOMIC_ACQUIRE)) return 0;
	/* Empty the eventfd before the queue: a command posted in between wakes the loop once too often, never not. */
	while (read(box->fd, &count, sizeof(count)) < 0 && errno == EINTR) continue;
	for (mail *m = take_all(box), *next; m; m = next, n++) {
		/* fn runs without the lock: control may post meanwhile */
		const int result = m->fn(loop, m->arg);

		next = m->next;
		pthread_mutex_lock(&box->lock);
		answer(box, m, result);
		pthread_mutex_unlock(&box->lock);
	}
	return n;
}

void gw_mailbox_close(gw_mailbox *box)
{
	mail *m, *next;

	pthread_mutex_lock(&box->lock);
	box->closed = true;
	m = box->first;
	box->first = NULL;
	box->end = &box->first;
	for (; m; m = next) {
		next = m->next;
		answer(box, m, -ESHUTDOWN);
	}
	pthread_mutex_unlock(&box->lock);
}
