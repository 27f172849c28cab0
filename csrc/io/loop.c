/* SPDX-License-Identifier: MIT
 * The thread: serve both directions while there is work, apply commands between batches, sleep when there is none.
 */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../core/clock.h"

#define PUBLISH_NS 2000000u  /* readers of the page see counters at most this old while packets flow */
#define SETTLE_MS  10        /* quiet for so long: publish once more, then sleep without limit */
#define AGE_NS     50000000u /* from one walk over all SAs to the next, at least */

const char *gw_stage_name(int stage)
{
	static const char *const names[GW_STAGES] = {"tun_read", "segment",  "seal",      "send", "recv",
												 "open",     "coalesce", "tun_write", "wait", "other"};
	return stage >= 0 && stage < GW_STAGES ? names[stage] : NULL;
}

void gw_loop_publish(gw_loop *l)
{
	l->c.cpu_ns = gw_thread_cpu_ns();
	l->c.now_ns = gw_now_ns();
	gw_seq_begin(&l->page->loop_seq);
	l->page->loop = l->c;
	gw_seq_end(&l->page->loop_seq);
	l->published_ns = l->c.now_ns;
	l->dirty = false;
}

int gw_loop_publish_mail(void *loop, void *arg)
{
	gw_loop *l = loop;
	(void)arg;
	l->ops->settle(l->outer, &l->c);
	gw_loop_publish(l);
	return 0;
}

/* Lifetimes in seconds end without a packet, too. */
static void age(gw_loop *l, uint64_t now_ns)
{
	if (now_ns < l->next_change_ns) return;
	const uint64_t next = gw_sadb_age(l->sadb, now_ns);
	l->next_change_ns = next < now_ns + AGE_NS ? now_ns + AGE_NS : next;
}

/* Milliseconds to sleep at most, rounded up; -1 = without limit. */
static int patience(const gw_loop *l)
{
	if (l->dirty) return SETTLE_MS;
	if (l->next_change_ns == UINT64_MAX) return -1;
	const uint64_t now = gw_now_ns(), ms = l->next_change_ns > now ? (l->next_change_ns - now) / 1000000 + 1 : 0;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Sleeps until a direction, a command or the stop wakes it. */
static void wait_for_work(gw_loop *l)
{
	struct pollfd p[4] = {{.fd = l->tun_fd, .events = POLLIN},
						  {.fd = l->ops->fd(l->outer), .events = POLLIN},
						  {.fd = gw_mailbox_fd(l->box), .events = POLLIN},
						  {.fd = l->wake_fd, .events = POLLIN}};

	gw_loop_stage(l, GW_STAGE_OTHER);
	__atomic_store_n(&l->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see gw_loop_hand */
	if (gw_loop_handed(l)) {
		l->try_in = true;
		__atomic_store_n(&l->asleep, 0, __ATOMIC_RELAXED);
		return;
	}
	int ready = poll(p, 4, patience(l));
	__atomic_store_n(&l->asleep, 0, __ATOMIC_RELAXED);
	l->c.wakeups++;
	gw_loop_stage(l, GW_STAGE_WAIT);
	if (ready == 0) {
		age(l, gw_now_ns());
		l->ops->settle(l->outer, &l->c);
		gw_loop_publish(l);
		return;
	}
	if (ready < 0) {
		if (errno != EINTR) gw_loop_die(l, -errno, "poll");
		return;
	}
	/* Only what is ready is tried: a system call that finds nothing costs as much as one that does. */
	l->try_out = p[0].revents != 0;
	l->try_in = p[1].revents != 0;
	if (p[2].revents) {
		/* The box empties its eventfd when it finds a command; one that it took just before the caller rang would
		 * leave the bell ringing, and this loop spinning. The command itself is announced before the bell. */
		uint64_t rung;
		(void)!read(gw_mailbox_fd(l->box), &rung, sizeof rung);
	}
	if (p[3].revents) {
		uint64_t rung;
		(void)!read(l->wake_fd, &rung, sizeof rung);
		l->try_in = true;
	}
	/* A deleted TUN reads as EBADFD, which gw_loop_out reports; a bad descriptor never reads at all. */
	if ((p[0].revents | p[1].revents) & POLLNVAL) gw_loop_die(l, -EBADF, "poll");
}

void *gw_loop_run(void *arg)
{
	gw_loop *l = arg;

	(void)prctl(PR_SET_NAME, "gwbench-loop");
	l->c.started_ns = gw_now_ns();
	l->last_cycles = gw_cycles();
	gw_loop_publish(l);
	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) && !__atomic_load_n(&l->dead, __ATOMIC_RELAXED)) {
		gw_mailbox_drain(l->box, l);
		if (!l->try_in && !l->try_out) {
			wait_for_work(l);
			continue;
		}
		uint64_t now = gw_now_ns();
		age(l, now);
		bool more_in = l->try_in && gw_loop_in(l, now);
		bool more_out = l->try_out && gw_loop_out(l, now);
		bool more_handed = gw_loop_take_over(l, now);
		l->try_in = l->try_out = more_in || more_out || more_handed; /* under load all are looked at */
		l->dirty = true;
		if (now - l->published_ns > PUBLISH_NS) gw_loop_publish(l);
	}
	gw_loop_publish(l);
	gw_mailbox_close(l->box);
	return NULL;
}
