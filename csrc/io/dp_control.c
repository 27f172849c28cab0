/* SPDX-License-Identifier: MIT
 * Commands and readings. Control never touches what a loop reads: it posts commands, and waits for their
 * acknowledgement. An SA belongs to one loop; the others are told that it is there, and whose it is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core/clock.h"
#include "dp.h"

#define CALL_MS 5000

void gw_dp_describe(const gw_dp *dp, gw_dp_info *out)
{
	*out = dp->info;
}

uint16_t gw_dp_port(const gw_dp *dp, uint32_t loop)
{
	return loop < dp->info.queues ? dp->loops[loop]->port : 0;
}

int gw_dp_health(gw_dp *dp, gw_err *err)
{
	const gw_loop *l = NULL;
	int code = 0;

	for (uint32_t i = 0; i < dp->info.queues && !code; i++) {
		l = dp->loops[i];
		code = __atomic_load_n(&l->dead, __ATOMIC_ACQUIRE);
	}
	if (!code) return 0;
	if (err)
		snprintf(err->text, sizeof err->text, "the data path has ended: %s: %s (was %s deleted?)", l->dead_why,
				 strerror(-code), dp->info.tun_name);
	return code;
}

/* Before the start and after the end there is no loop to race with, but after the end there is no point either. */
static int call(gw_dp *dp, gw_loop *l, gw_mail_fn fn, void *arg, gw_err *err)
{
	int code = dp->started ? gw_mailbox_call(l->box, fn, arg, CALL_MS) : fn(l, arg);

	if (code == -ESHUTDOWN && gw_dp_health(dp, err) == 0) return gw_dp_fail(err, code, "the data path has ended");
	return code;
}

typedef struct command {
	gw_sa *sa;
	uint32_t spi, owner; /* owner: a loop */
	int direction;
	gw_selector selector;
} command;

/* Commands live on the heap: one that timed out may still be read by the loop, and is then left to it. */
static int run(gw_dp *dp, uint32_t loop, gw_mail_fn fn, const command *what, gw_sa **removed, gw_err *err)
{
	command *c = malloc(sizeof *c);
	if (!c) return -ENOMEM;
	*c = *what;
	int code = call(dp, dp->loops[loop], fn, c, err);
	if (code == -ETIMEDOUT) return gw_dp_fail(err, code, "the data path does not answer");
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
		return code;
	}
	gw_sa_set_peer_id(c->sa, gw_peers_take(&l->peers, gw_sa_peer(c->sa)));
	if ((gw_sa_flags(c->sa) & GW_SA_ROAM) && l->ops == &gw_outer_udp) l->roaming = true;
	const uint64_t next = gw_sa_age(c->sa, gw_now_ns());
	if (next < l->next_change_ns) l->next_change_ns = next;
	return 0;
}

static int mail_del(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;

	c->sa = gw_sadb_remove(l->sadb, c->spi, c->direction);
	if (!c->sa || gw_sa_is_elsewhere(c->sa)) return -ENOENT;
	gw_spd_forget(l->spd, c->sa);
	/* Nothing may wait for a peer whose number is the next one's. */
	if (l->peers.peer[gw_sa_peer_id(c->sa)].users == 1) gw_loop_send_rest(l);
	gw_peers_release(&l->peers, gw_sa_peer_id(c->sa));
	gw_counter_slot *slot = gw_sa_set_counters(c->sa, NULL);
	if (slot) gw_counters_release(slot);
	return 0;
}

static int mail_policy(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;
	gw_sa *sa = gw_sadb_out(l->sadb, c->spi);
	return sa ? gw_spd_set(l->spd, &c->selector, sa) : -ENOENT;
}

static int mail_policy_del(void *loop, void *arg)
{
	return gw_spd_del(((gw_loop *)loop)->spd, &((command *)arg)->selector);
}

/* Another loop's SA serves this selector, unless one of our own does. */
static int mail_policy_elsewhere(void *loop, void *arg)
{
	gw_loop *l = loop;
	command *c = arg;
	const gw_sa *ours = gw_spd_get(l->spd, &c->selector);

	if (ours && !gw_sa_is_elsewhere(ours)) return 0;
	return gw_spd_set(l->spd, &c->selector, gw_sa_elsewhere(c->owner));
}

static int mail_note(void *loop, void *arg)
{
	command *c = arg;

	return gw_sadb_note(((gw_loop *)loop)->sadb, c->spi, c->direction, c->owner);
}

/* To every loop but one. */
static void tell_others(gw_dp *dp, gw_mail_fn fn, const command *what)
{
	for (uint32_t i = 0; i < dp->info.queues; i++)
		if (i != what->owner) (void)run(dp, i, fn, what, NULL, NULL);
}

int gw_dp_sa_add(gw_dp *dp, const gw_sa_params *params, char *ran, size_t ran_len, gw_err *err)
{
	if (params->loop >= dp->info.queues) return gw_dp_fail(err, -EINVAL, "no loop of this number");
	if (params->peer.family && params->peer.family != dp->info.local.family)
		return gw_dp_fail(err, -EAFNOSUPPORT, "the peer's address is of another IP version than the path's own");
	if (params->mode == GW_MODE_TRANSPORT && !(params->local.family && params->peer.family))
		return gw_dp_fail(err, -EINVAL, "transport mode: the SA needs both its addresses");
	gw_sa *sa = gw_sa_new(params, gw_now_ns(), err);
	if (!sa) return -EINVAL;
	if (ran) snprintf(ran, ran_len, "%s", gw_sa_implementation(sa)); /* later it is the loop's */
	const uint32_t loop = params->loop;
	int code = run(dp, loop, mail_add, &(command){.sa = sa}, NULL, err);
	if (code == 0)
		tell_others(dp, mail_note, &(command){.spi = params->spi, .direction = params->direction, .owner = loop});
	if (code == -EEXIST) gw_dp_fail(err, code, "an SA of this SPI and direction");
	if (code == -ENOSPC) gw_dp_fail(err, code, "more SAs than max_sas");
	if (code < 0 && code != -ETIMEDOUT) gw_sa_free(sa);
	return code;
}

int gw_dp_sa_del(gw_dp *dp, uint32_t spi, int direction, gw_sa_counters *last, gw_err *err)
{
	const command what = {.spi = spi, .direction = direction};
	gw_sa *sa = NULL;
	int code = -ENOENT;

	/* Everywhere: those who only know of it forget it. */
	for (uint32_t i = 0; i < dp->info.queues; i++) {
		gw_sa *here = NULL;
		const int one = run(dp, i, mail_del, &what, &here, err);
		if (one == 0) sa = here;
		if (one != -ENOENT) code = one;
	}
	if (code == -ENOENT) gw_dp_fail(err, code, "no SA of this SPI and direction");
	if (code == 0) {
		if (last) gw_sa_read(sa, last);
		gw_sa_free(sa);
	}
	return code;
}

int gw_dp_policy_set(gw_dp *dp, const gw_selector *selector, uint32_t spi, gw_err *err)
{
	if (!spi) return gw_dp_fail(err, -EINVAL, "policy: SPI 0");
	command what = {.spi = spi, .selector = *selector};
	int code = -ENOENT;
	for (uint32_t i = 0; i < dp->info.queues && code == -ENOENT; i++) {
		what.owner = i;
		code = run(dp, i, mail_policy, &what, NULL, err);
	}
	if (code == 0) tell_others(dp, mail_policy_elsewhere, &what);
	if (code == -ENOENT) gw_dp_fail(err, code, "policy: no outbound SA of this SPI");
	return code;
}

int gw_dp_policy_del(gw_dp *dp, const gw_selector *selector, gw_err *err)
{
	const command what = {.selector = *selector};
	int code = -ENOENT;
	for (uint32_t i = 0; i < dp->info.queues; i++) {
		const int one = run(dp, i, mail_policy_del, &what, NULL, err);
		if (one != -ENOENT) code = one;
	}
	if (code == -ENOENT) gw_dp_fail(err, code, "no policy of this selector");
	return code;
}

int gw_dp_loop_read(gw_dp *dp, uint32_t loop, gw_loop_counters *out)
{
	if (loop >= dp->info.queues) return -EINVAL;
	/* Exact at this moment, while the loop runs; its last words, when it has ended. */
	const gw_loop *l = dp->loops[loop];
	if (dp->started) (void)gw_mailbox_call(l->box, gw_loop_publish_mail, NULL, CALL_MS);
	gw_seq_read(&l->page->loop_seq, out, &l->page->loop, sizeof *out);
	return 0;
}

size_t gw_dp_sa_read(gw_dp *dp, gw_sa_counters *out, size_t max)
{
	size_t n = 0;

	for (uint32_t loop = 0; loop < dp->info.queues; loop++) {
		const gw_counter_page *page = dp->loops[loop]->page;
		for (uint32_t i = 0; i < page->max_slots && n < max; i++) {
			const gw_counter_slot *s = &page->slots[i];
			if (!__atomic_load_n(&s->used, __ATOMIC_ACQUIRE)) continue;
			gw_seq_read(&s->seq, &out[n++], &s->c, sizeof *out);
		}
	}
	return n;
}

int gw_dp_counters_fd(gw_dp *dp, uint32_t loop)
{
	return loop < dp->info.queues ? dp->loops[loop]->page_fd : -EINVAL;
}
