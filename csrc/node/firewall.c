/* SPDX-License-Identifier: MIT
 * See firewall.h. nft is on every router that has fw4; its language is its stable interface, and spares us the
 * netlink encoding of every expression.
 */
#include "firewall.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "netif.h"
#include "spawn.h"

#define LIST_BYTES   (256u << 10)
#define SCRIPT_BYTES 6000u
#define TABLE        "inet fw4"
#define COMMENT      "comment \"gwbench\""

typedef struct text {
	size_t len;
	char bytes[SCRIPT_BYTES];
	int rules;
} text;

__attribute__((format(printf, 2, 3))) static void add(text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	const int n = vsnprintf(t->bytes + t->len, sizeof t->bytes - t->len, format, args);
	va_end(args);
	t->len += (size_t)n < sizeof t->bytes - t->len ? (size_t)n : sizeof t->bytes - 1 - t->len;
}

static char *arg(const char *s)
{
	return (char *)(size_t)s;
}

/* ---- fw4 ---- */

static int nft(const char *input, char *out, size_t room)
{
	char path[32];
	char *const run[] = {arg(spawn_find("nft", path)), arg("-a"), arg("-f"), arg("-"), NULL};

	return run[0] ? spawn_run(run, input, out, room) : -ENOENT;
}

/* Calls each rule of ours. How many; -1: there is no table, or no nft. */
static int each_rule(void (*call)(text *t, const char *chain, const char *handle), text *t)
{
	char *list = malloc(LIST_BYTES), *line, *next, chain[64] = "";
	int n = -1;

	if (list && !nft("list table " TABLE "\n", list, LIST_BYTES)) {
		n = 0;
		for (line = list; line; line = next) {
			next = strchr(line, '\n');
			if (next) *next++ = 0;
			line += strspn(line, "\t ");
			if (!strncmp(line, "chain ", 6))
				snprintf(chain, sizeof chain, "%.*s", (int)strcspn(line + 6, " "), line + 6);
			const char *handle = strstr(line, COMMENT " # handle ");
			if (!handle) continue;
			n++;
			if (call) call(t, chain, handle + sizeof COMMENT " # handle " - 1);
		}
	}
	free(list);
	return n;
}

static void delete_one(text *t, const char *chain, const char *handle)
{
	add(t, "delete rule " TABLE " %s handle %s\n", chain, handle);
}

int firewall_undo_fw4(void)
{
	char said[256];

	for (int tries = 0; tries < 5; tries++) { /* a reload in between makes a handle unknown */
		text t = {.len = 0};
		if (each_rule(delete_one, &t) <= 0) return 0;
		nft(t.bytes, said, sizeof said);
	}
	return each_rule(NULL, NULL) > 0 ? -EIO : 0;
}

/* "{ a, b }" of the prefixes of one family; empty when there are none. */
static void set_of(const argument_texts *prefixes, bool v6, text *to)
{
	const char *p = prefixes->first;

	to->len = 0;
	to->bytes[0] = 0;
	for (size_t i = 0; i < prefixes->count; i++, p += strlen(p) + 1)
		if ((strchr(p, ':') != NULL) == v6) add(to, "%s%s", to->len ? ", " : "{ ", p);
	if (to->len) add(to, " }");
}

static void rule(text *t, const char *list, const char *chain, const char *match)
{
	char named[80];

	snprintf(named, sizeof named, "\tchain %s {", chain);
	if (!strstr(list, named)) return;
	add(t, "insert rule " TABLE " %s %s accept " COMMENT "\n", chain, match);
	t->rules++;
}

static void family_rules(text *t, const char *list, const firewall_wish *w, bool v6)
{
	static const char *const chains[] = {"input", "forward", "output"};
	static text set;
	char match[1200];
	const char *ip = v6 ? "ip6" : "ip";

	set_of(&w->prefixes, v6, &set);
	if (!set.len) return;
	for (int i = 0; i < 3; i++) {
		char by[40] = "";
		/* What is forwarded between test addresses may use no tunnel at all: the line without one is measured too. */
		if (*w->interface && i != 1) snprintf(by, sizeof by, "%s \"%s\" ", i ? "oifname" : "iifname", w->interface);
		snprintf(match, sizeof match, "%s%s saddr %s %s daddr %s", by, ip, set.bytes, ip, set.bytes);
		rule(t, list, chains[i], match);
	}
	/* Leaving through the wan zone they would be masqueraded. */
	snprintf(match, sizeof match, "%s saddr %s %s daddr %s", ip, set.bytes, ip, set.bytes);
	rule(t, list, "srcnat", match);
}

static int insert_fw4(const char *list, const firewall_wish *w, node_failure *f)
{
	static text t;
	char match[160], said[256];

	memset(&t, 0, sizeof t);
	family_rules(&t, list, w, false);
	family_rules(&t, list, w, true);
	if (*w->peer) {
		const size_t n =
			(size_t)snprintf(match, sizeof match, "%s saddr %s ", strchr(w->peer, ':') ? "ip6" : "ip", w->peer);
		if (strcmp(w->encap, "udp"))
			snprintf(match + n, sizeof match - n, "meta l4proto esp");
		else
			snprintf(match + n, sizeof match - n, "udp dport %u", (unsigned)w->port);
		rule(&t, list, "input", match);
	}
	if (t.len >= sizeof t.bytes - 1) return node_fail(f, "bad-request", "too many prefixes for the firewall");
	int rc = journal_note("fw4");
	if (rc) return node_fail(f, "error", "cannot write the journal %s: %s", journal_path(), strerror(-rc));
	rc = nft(t.bytes, said, sizeof said);
	if (!rc) return t.rules;
	snprintf(f->hint, sizeof f->hint, "nothing was changed; try: nft list table " TABLE);
	return node_fail(f, "error", "nft refused the rules (%d): %.*s", rc, (int)strcspn(said, "\n"), said);
}

/* ---- iptables (fw3) ---- */

#define MAX_WORDS 32

/* One rule, words by spaces: "iptables -I INPUT ..."; the text is destroyed. */
static int iptables(char *words, char *out, size_t room)
{
	char *argv[MAX_WORDS + 1], path[32];
	size_t n = 0;

	for (char *at = words; n < MAX_WORDS && *(at += strspn(at, " "));) {
		argv[n++] = at;
		at += strcspn(at, " ");
		if (*at) *at++ = 0;
	}
	argv[n] = NULL;
	argv[0] = n ? arg(spawn_find(argv[0], path)) : NULL;
	return argv[0] ? spawn_run(argv, NULL, out, room) : -ENOENT;
}

/* rule: "TOOL TABLE CHAIN match"; how: I insert, D delete, C check. */
static int iptables_rule(const char *rule, char how)
{
	char words[400], said[256];
	const char *table = strchr(rule, ' ') + 1, *chain = strchr(table, ' ') + 1;

	snprintf(words, sizeof words, "%.*s -w -t %.*s -%c %s -m comment --comment gwbench -j ACCEPT",
			 (int)(table - rule - 1), rule, (int)(chain - table - 1), table, how, chain);
	return iptables(words, said, sizeof said);
}

int firewall_undo_iptables(char *rule)
{
	/* 1: no such rule (any more); it was one, but whoever inserts twice must not leave one. */
	for (int i = 0; i < 8 && !iptables_rule(rule, 'D'); i++) continue;
	return iptables_rule(rule, 'C') == 0 ? -EIO : 0;
}

static int insert_iptables(const char *tool, const firewall_wish *w, node_failure *f)
{
	static const char *const chains[] = {"filter INPUT", "filter FORWARD", "filter OUTPUT", "nat POSTROUTING"};
	const char *p = w->prefixes.first;
	const bool v6 = tool[2] == '6';
	int rules = 0, rc = 0;
	char line[300];

	for (size_t i = 0; i < w->prefixes.count; i++, p += strlen(p) + 1)
		for (int c = 0; c < 4 && !rc; c++) {
			char by[40] = "";
			if ((strchr(p, ':') != NULL) != v6 || (v6 && c == 3)) continue;
			if (*w->interface && (c == 0 || c == 2)) snprintf(by, sizeof by, "%s %s ", c ? "-o" : "-i", w->interface);
			snprintf(line, sizeof line, "%s %s %s-s %s -d %s", tool, chains[c], by, p, p);
			if ((rc = journal_note("iptables %s", line)) || (rc = iptables_rule(line, 'I'))) break;
			rules++;
		}
	if (!rc && *w->peer && (strchr(w->peer, ':') != NULL) == v6) {
		snprintf(line, sizeof line,
				 strcmp(w->encap, "udp") ? "%s filter INPUT -s %s -p esp" : "%s filter INPUT -s %s -p udp --dport %u",
				 tool, w->peer, (unsigned)w->port);
		if (!(rc = journal_note("iptables %s", line)) && !(rc = iptables_rule(line, 'I'))) rules++;
	}
	return rc ? node_fail(f, "error", "%s refused a rule (%d)", tool, rc) : rules;
}

/* More than the policies, or a policy that is not ACCEPT. */
static bool iptables_in_force(const char *tool)
{
	char words[32], out[512];

	snprintf(words, sizeof words, "%s -w -S", tool);
	if (iptables(words, out, sizeof out)) return false;
	return strstr(out, "-A ") || strstr(out, " DROP") || strstr(out, " REJECT");
}

/* ---- which ---- */

int firewall_insert(const firewall_wish *w, const char **kind, node_failure *f)
{
	static const char *const tools[] = {"iptables", "ip6tables"};
	char *list = malloc(LIST_BYTES);
	int rules = 0;

	if (!list) return node_fail(f, "error", "out of memory");
	*kind = "fw4";
	const bool fw4 = !nft("list table " TABLE "\n", list, LIST_BYTES);
	if (fw4) rules = insert_fw4(list, w, f);
	free(list);
	if (fw4) return rules;
	*kind = "none";
	for (size_t i = 0; i < 2; i++) {
		if (!iptables_in_force(tools[i])) continue;
		*kind = "iptables";
		const int n = insert_iptables(tools[i], w, f);
		if (n < 0) return n;
		rules += n;
	}
	return rules;
}

int firewall_count(const char *kind)
{
	static const char *const tools[] = {"iptables", "ip6tables"};
	char *out;
	int n = 0;

	if (!strcmp(kind, "fw4")) return each_rule(NULL, NULL);
	if (strcmp(kind, "iptables") || !(out = malloc(LIST_BYTES))) return 0;
	for (size_t i = 0; i < 4; i++) {
		char words[40];
		snprintf(words, sizeof words, "%s -w -t %s -S", tools[i & 1], i < 2 ? "filter" : "nat");
		if (iptables(words, out, LIST_BYTES)) continue;
		for (const char *at = out; (at = strstr(at, "--comment gwbench ")); at++) n++;
	}
	free(out);
	return n;
}
