/* SPDX-License-Identifier: MIT
 * The running dataplane as its owner sees it: open, start, command, read, free. Control never touches what a loop
 * reads: it posts commands, and waits for their acknowledgement.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../core/clock.h"
#include "../core/mem.h"
#include "loop.h"
#include "tun.h"

#define STACK_BYTES (256u << 10) /* musl would give 128 KB, glibc 8 MB */
#define CALL_MS     5000
#define TUN_BYTES   (256u << 10)
#define TRAIN_BYTES (512u << 10)

struct gw_dp {
	gw_dp_info info;
	uint32_t max_sas;
	gw_loop *loop;
	pthread_t thread;
	bool started, tun_is_ours;
};

static int fail(gw_err *err, int code, const char *what)
{
	if (err) snprintf(err->text, sizeof err->text, "%s: %s", what, strerror(-code));
	return code;
}

static void free_loop(gw_loop *l, bool close_tun)
{
	if (!l) return;
	if (close_tun && l->tun_fd >= 0) close(l->tun_fd);
	if (l->stop_fd >= 0) close(l->stop_fd);
	if (l->outer) l->ops->close(l->outer);
	gw_spd_free(l->spd);
	gw_sadb_free(l->sadb); /* wipes the SAs */
	gw_coalesce_free(l->co);
	if (l->box) gw_mailbox_free(l->box);
	if (l->page) gw_counters_free(l->page, l->page_fd);
	/* What passed in clear does not outlive the path. (The outer path's buffers go back to the kernel whole.) */
	if (l->tun_memory) gw_wipe(l->tun_memory, TUN_BYTES);
	if (l->scratch) gw_wipe(l->scratch, (size_t)GW_LOOP_OUT * GW_SEG_SCRATCH);
	free(l->tun_memory);
	free(l->scratch);
	gw_trains_free(&l->trains);
	free(l);
}

static gw_loop *new_loop(uint32_t max_sas)
{
	gw_loop *l = aligned_alloc(64, (sizeof *l + 63) & ~(size_t)63);

	if (!l) return NULL;
	memset(l, 0, sizeof *l);
	l->tun_fd = l->page_fd = -1;
	l->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->box = gw_mailbox_new();
	l->sadb = gw_sadb_new(max_sas);
	l->spd = gw_spd_new();
	l->co = gw_coalesce_new(gw_loop_write_tun, l);
	l->page = gw_counters_new(max_sas, &l->page_fd);
	l->tun_cap = TUN_BYTES;
	l->tun_memory = aligned_alloc(4096, TUN_BYTES);
	l->scratch = aligned_alloc(64, (size_t)GW_LOOP_OUT * GW_SEG_SCRATCH);
	if (l->stop_fd < 0 || !l->box || !l->sadb || !l->spd || !l->co || !l->page || !l->tun_memory || !l->scratch) {
		free_loop(l, false);
		return NULL;
	}
	return l;
}

static int open_tun(gw_dp *dp, const gw_dp_config *config, gw_err *err)
{
	gw_loop *l = dp->loop;
	int code;

	if (config->tun_fd >= 0) {
		code = gw_tun_adopt(config->tun_fd, dp->info.tun_name, &dp->info.offload, err);
		if (code < 0) return code;
		l->tun_fd = config->tun_fd;
	} else {
		if (config->tun_name) {
			if (strlen(config->tun_name) >= sizeof dp->info.tun_name)
				return fail(err, -ENAMETOOLONG, "TUN: a name has at most 15 characters");
			memcpy(dp->info.tun_name, config->tun_name, strlen(config->tun_name));
		}
		l->tun_fd = gw_tun_open(dp->info.tun_name, false, &dp->info.offload, err);
		if (l->tun_fd < 0) return l->tun_fd;
	}
	dp->tun_is_ours = true;
	return gw_tun_link(dp->info.tun_name, config->mtu, config->txqueuelen ? config->txqueuelen : 10000,
					   &dp->info.ifindex, err);
}

static int open_all(gw_dp *dp, const gw_dp_config *config, gw_err *err)
{
	gw_dp_config c = *config;
	gw_loop *l;

	if (c.encap != GW_ENCAP_UDP && c.encap != GW_ENCAP_NONE) return fail(err, -EINVAL, "encapsulation");
	if (c.queues > 1) return fail(err, -EOPNOTSUPP, "more than one queue");
	if (c.local.family != 4 && c.local.family != 6) return fail(err, -EAFNOSUPPORT, "outer address");
	if (!c.rcvbuf_bytes) c.rcvbuf_bytes = 8u << 20;
	if (!c.sndbuf_bytes) c.sndbuf_bytes = 8u << 20;
	dp->max_sas = c.max_sas ? c.max_sas : 64;
	dp->info.offload = c.offload & GW_OFF_ALL;
	dp->info.queues = 1;
	l = dp->loop = new_loop(dp->max_sas);
	if (!l) return fail(err, -ENOMEM, "data path");
	int code = open_tun(dp, &c, err);
	if (code < 0) return code;
	l->ops = c.encap == GW_ENCAP_UDP ? &gw_outer_udp : &gw_outer_raw;
	l->outer = l->ops->open(&c, &dp->info, err);
	if (!l->outer) return -EIO;
	l->mtu = c.mtu ? c.mtu : 65535;
	l->headers = (c.local.family == 6 ? 40 : 20) + (c.encap == GW_ENCAP_UDP ? 8 : 0);
	l->clamp_mss = !(c.flags & GW_DP_KEEP_MSS);
	l->coalesce = dp->info.offload & GW_OFF_TUN_COALESCE;
	code = gw_trains_init(&l->trains, TRAIN_BYTES, dp->info.gso_max_segments, c.local.family);
	return code < 0 ? fail(err, code, "data path") : 0;
}

gw_dp *gw_dp_new(const gw_dp_config *config, gw_err *err)
{
	gw_dp *dp = calloc(1, sizeof *dp);

	if (err) err->text[0] = 0;
	if (!dp) return NULL;
	if (open_all(dp, config, err) < 0) {
		gw_dp_free(dp);
		return NULL;
	}
	return dp;
}

int gw_dp_start(gw_dp *dp, gw_err *err)
{
	pthread_attr_t attr;
	sigset_t all, before;

	if (dp->started) return fail(err, -EALREADY, "data path");
	/* Signals are the owner's: the thread inherits a full mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int code = -pthread_create(&dp->thread, &attr, gw_loop_run, dp->loop);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code < 0) return fail(err, code, "loop thread");
	dp->started = true;
	return 0;
}

void gw_dp_free(gw_dp *dp)
{
	if (!dp) return;
	if (dp->started) {
		const uint64_t one = 1;
		__atomic_store_n(&dp->loop->stop, 1, __ATOMIC_RELEASE);
		while (write(dp->loop->stop_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
		pthread_join(dp->thread, NULL);
	}
	free_loop(dp->loop, dp->tun_is_ours);
	free(dp);
}

void gw_dp_describe(const gw_dp *dp, gw_dp_info *out)
{
	*out = dp->info;
}

int gw_dp_health(gw_dp *dp, gw_err *err)
{
	int code = __atomic_load_n(&dp->loop->dead, __ATOMIC_ACQUIRE);

	if (!code) return 0;
	if (err)
		snprintf(err->text, sizeof err->text, "the data path has ended: %s: %s (was %s deleted?)", dp->loop->dead_why,
				 strerror(-code), dp->info.tun_name);
	return code;
}

/* Before the start and after the end there is no loop to race with, but after the end there is no point either. */
static int call(gw_dp *dp, gw_mail_fn fn, void *arg, gw_err *err)
{
	int code = dp->started ? gw_mailbox_call(dp->loop->box, fn, arg, CALL_MS) : fn(dp->loop, arg);

	if (code == -ESHUTDOWN && gw_dp_health(dp, err) == 0) return fail(err, code, "the data path has ended");
	return code;
}

typedef struct command {
	gw_sa *sa;
	uint32_t spi;
	int direction;
	gw_selector selector;
} command;

/* Commands live on the heap: one that timed out may still be read by the loop, and is then left to it. */
static int run(gw_dp *dp, gw_mail_fn fn, const command *what, gw_sa **removed, gw_err *err)
{
	command *c = malloc(sizeof *c);
	if (!c) return -ENOMEM;
	*c = *what;
	int code = call(dp, fn, c, err);
	if (code == -ETIMEDOUT) return fail(err, code, "the data path does not answer");
	if (removed) *removed = c->sa;
	free(c);
	return code;
}

static int mail_add(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;
	gw_counter_slot *slot = gw_counters_take(l->page);

	if (!slot) return -ENOSPC;
	gw_sa_set_counters(c->sa, slot);
	int code = gw_sadb_add(l->sadb, c->sa);
	if (code < 0) {
		gw_sa_set_counters(c->sa, NULL);
		gw_counters_release(slot);
	} else if ((gw_sa_flags(c->sa) & GW_SA_ROAM) && l->ops == &gw_outer_udp) {
		l->roaming = true;
	}
	return code;
}

static int mail_del(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;

	c->sa = gw_sadb_remove(l->sadb, c->spi, c->direction);
	if (!c->sa) return -ENOENT;
	gw_spd_forget(l->spd, c->sa);
	gw_counter_slot *slot = gw_sa_set_counters(c->sa, NULL);
	if (slot) gw_counters_release(slot);
	return 0;
}

static int mail_policy(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;
	if (!c->spi) return gw_spd_del(l->spd, &c->selector);
	gw_sa *sa = gw_sadb_out(l->sadb, c->spi);
	return sa ? gw_spd_set(l->spd, &c->selector, sa) : -ENOENT;
}

int gw_dp_sa_add(gw_dp *dp, const gw_sa_params *params, char *ran, size_t ran_len, gw_err *err)
{
	if (params->loop >= dp->info.queues) return fail(err, -EINVAL, "no loop of this number");
	gw_sa *sa = gw_sa_new(params, gw_now_ns(), err);
	if (!sa) return -EINVAL;
	if (ran) snprintf(ran, ran_len, "%s", gw_sa_implementation(sa)); /* later it is the loop's */
	int code = run(dp, mail_add, &(command){.sa = sa}, NULL, err);
	if (code == -EEXIST) fail(err, code, "an SA of this SPI and direction");
	if (code == -ENOSPC) fail(err, code, "more SAs than max_sas");
	if (code < 0 && code != -ETIMEDOUT) gw_sa_free(sa);
	return code;
}

int gw_dp_sa_del(gw_dp *dp, uint32_t spi, int direction, gw_sa_counters *last, gw_err *err)
{
	gw_sa *sa = NULL;
	int code = run(dp, mail_del, &(command){.spi = spi, .direction = direction}, &sa, err);

	if (code == -ENOENT) fail(err, code, "no SA of this SPI and direction");
	if (code == 0) {
		if (last) gw_sa_read(sa, last);
		gw_sa_free(sa);
	}
	return code;
}

int gw_dp_policy_set(gw_dp *dp, const gw_selector *selector, uint32_t spi, gw_err *err)
{
	if (!spi) return fail(err, -EINVAL, "policy: SPI 0");
	int code = run(dp, mail_policy, &(command){.spi = spi, .selector = *selector}, NULL, err);
	if (code == -ENOENT) fail(err, code, "policy: no outbound SA of this SPI");
	return code;
}

int gw_dp_policy_del(gw_dp *dp, const gw_selector *selector, gw_err *err)
{
	int code = run(dp, mail_policy, &(command){.selector = *selector}, NULL, err);
	if (code == -ENOENT) fail(err, code, "no policy of this selector");
	return code;
}

int gw_dp_loop_read(gw_dp *dp, uint32_t loop, gw_loop_counters *out)
{
	if (loop >= dp->info.queues) return -EINVAL;
	/* Exact at this moment, while the loop runs; its last words, when it has ended. */
	if (dp->started) (void)gw_mailbox_call(dp->loop->box, gw_loop_publish_mail, NULL, CALL_MS);
	gw_seq_read(&dp->loop->page->loop_seq, out, &dp->loop->page->loop, sizeof *out);
	return 0;
}

size_t gw_dp_sa_read(gw_dp *dp, gw_sa_counters *out, size_t max)
{
	const gw_counter_page *page = dp->loop->page;
	size_t n = 0;

	for (uint32_t i = 0; i < page->max_slots && n < max; i++) {
		const gw_counter_slot *s = &page->slots[i];
		if (!__atomic_load_n(&s->used, __ATOMIC_ACQUIRE)) continue;
		gw_seq_read(&s->seq, &out[n++], &s->c, sizeof *out);
	}
	return n;
}

int gw_dp_counters_fd(gw_dp *dp, uint32_t loop)
{
	return loop < dp->info.queues ? dp->loop->page_fd : -EINVAL;
}
