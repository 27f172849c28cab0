/* SPDX-License-Identifier: MIT
 * The running dataplane as its owner sees it: open, start, free. dp_control.c has the commands.
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
#include "dp.h"
#include "tun.h"

#define STACK_BYTES (256u << 10) /* musl would give 128 KB, glibc 8 MB */
#define TUN_BYTES   (256u << 10)
#define TRAIN_BYTES (512u << 10)
#define WHOLE_BYTES 65600u /* a packet, and what its headers may grow by */

int gw_dp_fail(gw_err *err, int code, const char *what)
{
	if (err) snprintf(err->text, sizeof err->text, "%s: %s", what, strerror(-code));
	return code;
}

static void free_loop(gw_loop *l, bool close_tun)
{
	if (!l) return;
	if (close_tun && l->tun_fd >= 0) close(l->tun_fd);
	if (l->wake_fd >= 0) close(l->wake_fd);
	if (l->outer) l->ops->close(l->outer);
	gw_spd_free(l->spd);
	gw_sadb_free(l->sadb); /* wipes the SAs */
	gw_coalesce_free(l->co);
	if (l->box) gw_mailbox_free(l->box);
	if (l->page) gw_counters_free(l->page, l->page_fd);
	/* What passed in clear does not outlive the path. (The outer path's buffers go back to the kernel whole.) */
	if (l->tun_memory) gw_wipe(l->tun_memory, TUN_BYTES);
	if (l->scratch) gw_wipe(l->scratch, (size_t)GW_LOOP_OUT * GW_SEG_SCRATCH);
	if (l->whole) gw_free_wipe(l->whole, WHOLE_BYTES);
	for (uint32_t i = 0; l->inbox && i < l->n_loops; i++) gw_ring_free(l->inbox[i]);
	free(l->inbox);
	free(l->tun_memory);
	free(l->scratch);
	gw_trains_free(&l->trains);
	gw_peers_free(&l->peers);
	free(l);
}

static gw_loop *new_loop(gw_dp *dp, uint32_t index)
{
	const uint32_t max_sas = dp->max_sas, n = dp->info.queues;
	gw_loop *l = aligned_alloc(64, (sizeof *l + 63) & ~(size_t)63);

	if (!l) return NULL;
	memset(l, 0, sizeof *l);
	l->tun_fd = l->page_fd = -1;
	l->all = dp->loops;
	l->index = index;
	l->n_loops = n;
	l->inbox = calloc(n, sizeof *l->inbox);
	bool rings = l->inbox;
	for (uint32_t i = 0; rings && i < n; i++) rings = i == index || (l->inbox[i] = gw_ring_new());
	l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->box = gw_mailbox_new();
	l->sadb = gw_sadb_new(max_sas);
	l->spd = gw_spd_new();
	l->co = gw_coalesce_new(gw_loop_write_tun, l);
	l->page = gw_counters_new(max_sas, &l->page_fd);
	l->next_change_ns = UINT64_MAX;
	l->tun_cap = TUN_BYTES;
	l->tun_memory = aligned_alloc(4096, TUN_BYTES);
	l->scratch = aligned_alloc(64, (size_t)GW_LOOP_OUT * GW_SEG_SCRATCH);
	if (l->wake_fd < 0 || !rings || !l->box || !l->sadb || !l->spd || !l->co || !l->page || !l->tun_memory ||
		!l->scratch) {
		free_loop(l, false);
		return NULL;
	}
	return l;
}

/* The first queue makes or takes the device, the others join it. */
static int open_tun(gw_dp *dp, gw_loop *l, const gw_dp_config *config, gw_err *err)
{
	const bool many = dp->info.queues > 1;
	int code;

	if (l->index) {
		l->tun_fd = gw_tun_open(dp->info.tun_name, many, &dp->info.offload, err);
		return l->tun_fd < 0 ? l->tun_fd : 0;
	}
	if (config->tun_fd >= 0) {
		code = gw_tun_adopt(config->tun_fd, dp->info.tun_name, &dp->info.offload, err);
		if (code < 0) return code;
		l->tun_fd = config->tun_fd;
	} else {
		if (config->tun_name) {
			if (strlen(config->tun_name) >= sizeof dp->info.tun_name)
				return gw_dp_fail(err, -ENAMETOOLONG, "TUN: a name has at most 15 characters");
			memcpy(dp->info.tun_name, config->tun_name, strlen(config->tun_name));
		}
		l->tun_fd = gw_tun_open(dp->info.tun_name, many, &dp->info.offload, err);
		if (l->tun_fd < 0) return l->tun_fd;
	}
	dp->tun_is_ours = true;
	return gw_tun_link(dp->info.tun_name, config->mtu, config->txqueuelen ? config->txqueuelen : 10000,
					   &dp->info.ifindex, err);
}

/* A TUN queue, an outer socket and what a thread needs to serve them. */
static int open_loop(gw_dp *dp, uint32_t index, const gw_dp_config *config, gw_err *err)
{
	gw_dp_config c = *config;
	gw_loop *l = dp->loops[index] = new_loop(dp, index);
	int code;

	if (!l) return gw_dp_fail(err, -ENOMEM, "data path");
	code = open_tun(dp, l, &c, err);
	if (code < 0) return code;
	if (c.local.port) c.local.port = (uint16_t)(c.local.port + index);
	l->ops = c.encap == GW_ENCAP_UDP ? &gw_outer_udp : &gw_outer_raw;
	l->outer = l->ops->open(&c, index > 0, &dp->info, err);
	if (!l->outer) return -EIO;
	l->port = dp->info.local.port;
	l->mtu = c.mtu ? c.mtu : 65535;
	l->headers = (c.local.family == 6 ? 40 : 20) + (c.encap == GW_ENCAP_UDP ? 8 : 0);
	l->clamp_mss = !(c.flags & GW_DP_KEEP_MSS);
	l->coalesce = dp->info.offload & GW_OFF_TUN_COALESCE;
	if ((c.flags & GW_DP_FRAGMENT_BEFORE) && !(l->whole = gw_alloc(WHOLE_BYTES)))
		return gw_dp_fail(err, -ENOMEM, "data path");
	code = gw_peers_init(&l->peers, dp->max_sas, c.encap == GW_ENCAP_NONE);
	if (code == 0) code = gw_trains_init(&l->trains, TRAIN_BYTES, dp->info.gso_max_segments, c.local.family);
	return code < 0 ? gw_dp_fail(err, code, "data path") : 0;
}

static int open_all(gw_dp *dp, const gw_dp_config *config, gw_err *err)
{
	gw_dp_config c = *config;
	int code;

	if (c.encap != GW_ENCAP_UDP && c.encap != GW_ENCAP_NONE) return gw_dp_fail(err, -EINVAL, "encapsulation");
	if (c.queues > GW_MAX_LOOPS) return gw_dp_fail(err, -EINVAL, "more than 64 queues");
	if (c.queues > 1 && c.tun_fd >= 0) return gw_dp_fail(err, -EINVAL, "a TUN that was handed over has one queue");
	if (c.local.port + (c.queues ? c.queues - 1 : 0) > 65535)
		return gw_dp_fail(err, -EINVAL, "no ports for so many queues");
	if (c.local.family != 4 && c.local.family != 6) return gw_dp_fail(err, -EAFNOSUPPORT, "outer address");
	if (!c.rcvbuf_bytes) c.rcvbuf_bytes = 8u << 20;
	if (!c.sndbuf_bytes) c.sndbuf_bytes = 8u << 20;
	dp->max_sas = c.max_sas ? c.max_sas : 64;
	dp->info.offload = c.offload & GW_OFF_ALL;
	dp->info.queues = c.queues ? c.queues : 1;
	for (uint32_t i = 0; i < dp->info.queues; i++)
		if ((code = open_loop(dp, i, &c, err)) < 0) return code;
	dp->info.local.port = dp->loops[0]->port;
	return 0;
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
	int code = 0;

	if (dp->started) return gw_dp_fail(err, -EALREADY, "data path");
	/* Signals are the owner's: the threads inherit a full mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (uint32_t i = 0; i < dp->info.queues && code == 0; i++) {
		gw_loop *l = dp->loops[i];
		code = -pthread_create(&l->thread, &attr, gw_loop_run, l);
		l->started = code == 0;
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code < 0) return gw_dp_fail(err, code, "loop thread"); /* gw_dp_free ends those that run */
	dp->started = true;
	return 0;
}

void gw_dp_free(gw_dp *dp)
{
	if (!dp) return;
	for (uint32_t i = 0; i < dp->info.queues; i++) {
		const uint64_t one = 1;
		gw_loop *l = dp->loops[i];
		if (!l || !l->started) continue;
		__atomic_store_n(&l->stop, 1, __ATOMIC_RELEASE);
		while (write(l->wake_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
	}
	for (uint32_t i = 0; i < dp->info.queues; i++) /* all, before any ring goes */
		if (dp->loops[i] && dp->loops[i]->started) pthread_join(dp->loops[i]->thread, NULL);
	for (uint32_t i = 0; i < dp->info.queues; i++) free_loop(dp->loops[i], i > 0 || dp->tun_is_ours);
	free(dp);
}
