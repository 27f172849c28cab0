/* SPDX-License-Identifier: MIT
 * SAs and policies: installed, removed. Keys are wiped as soon as the data path has its own copy.
 */
#include <stdio.h>
#include <string.h>

#include "../core/mem.h"
#include "guard.h"
#include "kernel.h"
#include "netif.h"
#include "protocol.h"

#define TEXT_ROOM 160 /* of an implementation's name */

static const node_word directions[] = {{"out", GW_DIR_OUT}, {"in", GW_DIR_IN}, {NULL, 0}};
static const node_word dfs[] = {{"copy", GW_SA_COPY_DF}, {"set", GW_SA_SET_DF}, {"clear", 0}, {NULL, 0}};
static const node_word modes[] = {{"tunnel", GW_MODE_TUNNEL}, {"transport", GW_MODE_TRANSPORT}, {NULL, 0}};

/* A refused command, unless the loop that should have answered it is gone. */
static int refused(node *n, node_failure *f, const char *what, uint32_t spi, const char *why)
{
	gw_err err;

	f->hint[0] = 0;
	if (n->dp && gw_dp_health(n->dp, &err)) return node_fail(f, "path-ended", "%s", err.text);
	return node_fail(f, "error", "%s %#x: %s", what, (unsigned)spi, why);
}

typedef struct sa_arguments {
	uint32_t spi, peer_port, local_port, icv_bytes, replay_window, loop;
	const char *direction, *suite, *local, *peer, *implementation, *mode, *selector_src, *selector_dst, *df;
	bool esn, lab, copy_dscp, ecn, roam;
	argument_key enc_key, auth_key, salt;
} sa_arguments;

#define SA(field) offsetof(sa_arguments, field)
static const argument sa_table[] = {
	{"enc_key", ARGUMENT_KEY, true, SA(enc_key)},
	{"auth_key", ARGUMENT_KEY, true, SA(auth_key)},
	{"salt", ARGUMENT_KEY, true, SA(salt)},
	{"spi", ARGUMENT_COUNT, true, SA(spi)},
	{"direction", ARGUMENT_TEXT, true, SA(direction)},
	{"suite", ARGUMENT_TEXT, true, SA(suite)},
	{"local", ARGUMENT_TEXT, true, SA(local)},
	{"peer", ARGUMENT_TEXT, true, SA(peer)},
	{"peer_port", ARGUMENT_PORT, true, SA(peer_port)},
	{"local_port", ARGUMENT_PORT, true, SA(local_port)},
	{"implementation", ARGUMENT_TEXT, false, SA(implementation)},
	{"mode", ARGUMENT_TEXT, false, SA(mode)},
	{"esn", ARGUMENT_BOOL, false, SA(esn)},
	{"icv_bytes", ARGUMENT_COUNT, false, SA(icv_bytes)},
	{"replay_window", ARGUMENT_COUNT, false, SA(replay_window)},
	{"loop", ARGUMENT_COUNT, false, SA(loop)},
	{"lab", ARGUMENT_BOOL, false, SA(lab)},
	{"df", ARGUMENT_TEXT, false, SA(df)},
	{"copy_dscp", ARGUMENT_BOOL, false, SA(copy_dscp)},
	{"ecn", ARGUMENT_BOOL, false, SA(ecn)},
	{"roam", ARGUMENT_BOOL, false, SA(roam)},
	{"selector_src", ARGUMENT_TEXT, false, SA(selector_src)},
	{"selector_dst", ARGUMENT_TEXT, false, SA(selector_dst)},
};

/* An address as an argument: empty = any. */
static int read_address(node *n, uint32_t spi, const char *text, gw_addr *out, node_failure *f)
{
	char why[96];

	memset(out, 0, sizeof *out);
	if (!*text || netif_parse(text, out)) return 0;
	snprintf(why, sizeof why, "'%.64s' is no address", text);
	return refused(n, f, "SA", spi, why);
}

static int read_selector(node *n, uint32_t spi, const char *src, const char *dst, gw_selector *s, node_failure *f)
{
	*s = (gw_selector){.sport_hi = 65535, .dport_hi = 65535};
	return read_address(n, spi, src, &s->src, f) || read_address(n, spi, dst, &s->dst, f) ? -1 : 0;
}

/* The name of what runs, kept once for all SAs that it runs; "" when there are too many. */
static const char *keep_name(node *n, const char *name)
{
	for (size_t i = 0; i < NODE_MAX_IMPLEMENTATIONS; i++) {
		if (!n->implementations[i]) n->implementations[i] = strdup(name);
		if (!n->implementations[i]) break;
		if (!strcmp(n->implementations[i], name)) return n->implementations[i];
	}
	return "";
}

static int install(node *n, const sa_arguments *a, node_failure *f)
{
	const node_word *direction = node_find_word(directions, a->direction), *mode = node_find_word(modes, a->mode);
	const node_word *df = node_find_word(dfs, a->df);
	gw_sa_params p = {.spi = a->spi,
					  .flags = GW_SA_ENCAP_UDP | (a->esn ? GW_SA_ESN : 0u) | (a->lab ? GW_SA_LAB : 0u) |
							   (a->copy_dscp ? GW_SA_COPY_DSCP : 0u) | (a->ecn ? 0u : GW_SA_NO_ECN) |
							   (a->roam ? GW_SA_ROAM : 0u),
					  .icv_bytes = a->icv_bytes,
					  .replay_window = a->replay_window,
					  .loop = a->loop,
					  .enc_key = a->enc_key.bytes,
					  .auth_key = a->auth_key.bytes,
					  .salt = a->salt.bytes,
					  .impl = a->implementation};
	char name[TEXT_ROOM];
	gw_suite_info suite;
	gw_err err = {""};

	if (!direction) return node_fail(f, "bad-request", "a direction is 'in' or 'out', not '%.64s'", a->direction);
	if (node_need_path(n, f)) return -1;
	p.suite = gw_suite_find(a->suite);
	if (p.suite < 0) {
		size_t used = 0;
		for (size_t i = 0; !gw_suite_at(i, &suite) && used < sizeof err.text; i++)
			used += (size_t)snprintf(err.text + used, sizeof err.text - used, "%s%s", i ? ", " : "", suite.name);
		refused(n, f, "SA", a->spi, "no such suite");
		return node_fail(f, f->code, "SA %#x: no suite is called '%.32s'; there are: %.220s", (unsigned)a->spi,
						 a->suite, err.text);
	}
	if (!mode || !df)
		return node_fail(f, "bad-request", "SA %#x: unknown value '%.64s'", (unsigned)a->spi, mode ? a->df : a->mode);
	p.flags |= df->value;
	p.direction = (int)direction->value;
	p.mode = (int)mode->value;
	if (gw_suite_check_keys(p.suite, a->enc_key.len, a->auth_key.len, a->salt.len, &err))
		return refused(n, f, "SA", a->spi, err.text);
	if (read_selector(n, a->spi, a->selector_src, a->selector_dst, &p.selector, f) ||
		read_address(n, a->spi, a->local, &p.local, f) || read_address(n, a->spi, a->peer, &p.peer, f))
		return -1;
	p.local.port = (uint16_t)a->local_port;
	p.peer.port = (uint16_t)a->peer_port;
	if (n->kernel ? n->n_sas == n->max_sas || kernel_sa_add(n, &p, name, sizeof name, &err)
				  : gw_dp_sa_add(n->dp, &p, name, sizeof name, &err))
		return refused(n, f, "SA", a->spi, err.text);
	if (n->n_sas < n->max_sas) n->sas[n->n_sas++] = (sa_note){a->spi, p.direction, keep_name(n, name), p.local, p.peer};
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "implementation", name);
	json_end(&n->out, '}');
	return 0;
}

int node_add_sa(node *n, node_failure *f)
{
	sa_arguments a = {.implementation = "auto",
					  .mode = "tunnel",
					  .esn = true,
					  .df = "copy",
					  .copy_dscp = true,
					  .ecn = true,
					  .roam = true,
					  .replay_window = 4096,
					  .selector_src = "",
					  .selector_dst = ""};
	const int rc =
		arguments_read(n->request, sa_table, sizeof sa_table / sizeof sa_table[0], &a, f) ? -1 : install(n, &a, f);

	gw_wipe(&a, sizeof a);
	return rc;
}

const char *node_implementation(const node *n, uint32_t spi, uint32_t direction)
{
	for (uint32_t i = 0; i < n->n_sas; i++)
		if (n->sas[i].spi == spi && n->sas[i].direction == (int)direction) return n->sas[i].implementation;
	return "";
}

int node_delete_sa(node *n, node_failure *f)
{
	static const argument table[] = {{"spi", ARGUMENT_COUNT, true, offsetof(sa_arguments, spi)},
									 {"direction", ARGUMENT_TEXT, true, offsetof(sa_arguments, direction)}};
	const node_word *direction;
	gw_sa_counters last;
	sa_arguments a;
	gw_err err = {""};

	if (arguments_read(n->request, table, 2, &a, f) || node_need_path(n, f)) return -1;
	direction = node_find_word(directions, a.direction);
	if (!direction) return node_fail(f, "bad-request", "a direction is 'in' or 'out', not '%.64s'", a.direction);
	if (n->kernel ? kernel_sa_del(n, a.spi, (int)direction->value, &last, &err)
				  : gw_dp_sa_del(n->dp, a.spi, (int)direction->value, &last, &err))
		return refused(n, f, "SA", a.spi, err.text);
	node_result(n);
	json_begin(&n->out, '{');
	json_key(&n->out, "last");
	node_write_sa(n, &last); /* with the name, so before the note goes */
	json_end(&n->out, '}');
	for (uint32_t i = 0; i < n->n_sas; i++)
		if (n->sas[i].spi == a.spi && n->sas[i].direction == (int)direction->value) {
			n->sas[i] = n->sas[--n->n_sas];
			break;
		}
	return 0;
}

int node_set_policy(node *n, node_failure *f)
{
	static const argument table[] = {{"spi", ARGUMENT_COUNT, true, offsetof(sa_arguments, spi)},
									 {"src", ARGUMENT_TEXT, false, offsetof(sa_arguments, selector_src)},
									 {"dst", ARGUMENT_TEXT, false, offsetof(sa_arguments, selector_dst)}};
	sa_arguments a = {.selector_src = "", .selector_dst = ""};
	gw_selector selector;
	gw_err err = {""};

	if (arguments_read(n->request, table, 3, &a, f) || node_need_path(n, f) ||
		read_selector(n, a.spi, a.selector_src, a.selector_dst, &selector, f))
		return -1;
	/* A policy of the kernel's catches the router's own packets too: its far side at least must be a test prefix. */
	if (n->kernel && *a.selector_dst && guard_prefix(n, a.selector_dst, &selector.dst, f)) return -1;
	if (n->kernel ? kernel_policy_set(n, &selector, a.spi, &err) : gw_dp_policy_set(n->dp, &selector, a.spi, &err))
		return refused(n, f, "policy for SA", a.spi, err.text);
	node_write_empty(n);
	return 0;
}
