/* SPDX-License-Identifier: MIT
 * The operations that only tell: hello, counters, health.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "journal.h"
#include "kernel.h"
#include "netif.h"
#include "protocol.h"

/* ---- hello ---- */

static void write_words(json_out *out, const char *name, const char *words)
{
	char word[32];

	json_key(out, name);
	json_begin(out, '[');
	while (*words) {
		size_t n = strcspn(words, " ");
		if (n && n < sizeof word) {
			memcpy(word, words, n);
			word[n] = 0;
			json_text(out, word);
		}
		words += n + (words[n] == ' ');
	}
	json_end(out, ']');
}

static void write_implementation(json_out *out, const gw_impl *impl)
{
	static const char *const kinds[] = {"", "cipher", "hash", "mac", "aead", "authenc"};
	gw_impl_info info;

	gw_impl_describe(impl, &info);
	json_begin(out, '{');
	json_put_text(out, "alg", info.alg);
	json_put_text(out, "driver", info.driver);
	json_put_text(out, "tag", info.tag);
	json_put_text(out, "isa", info.isa);
	json_put_text(out, "kind", kinds[info.kind]);
	json_put_count(out, "priority", (uint64_t)info.priority);
	json_key(out, "constant_time");
	json_bool(out, info.constant_time);
	json_key(out, "runnable");
	json_bool(out, info.runnable);
	json_put_text(out, "checked", info.checked > 0 ? "passed" : info.checked < 0 ? "failed" : "not run");
	json_put_count(out, "key_ctx_bytes", info.key_ctx_bytes);
	json_put_count(out, "batch_hint", (uint64_t)info.batch_hint);
	json_end(out, '}');
}

int node_hello(node *n, node_failure *f)
{
	const json_field *asked = json_find(n->request, "protocol");
	gw_suite_info suite;
	struct utsname system;
	gw_err err = {""};

	if (!asked || asked->kind != JSON_INT || asked->number != NODE_PROTOCOL) {
		strcpy(f->hint, "install the same version on both sides");
		return asked && asked->kind == JSON_INT
				   ? node_fail(f, "bad-protocol", "protocol %lld is not spoken here, %d is", (long long)asked->number,
							   NODE_PROTOCOL)
				   : node_fail(f, "bad-protocol", "a version of the protocol must be named; %d is spoken here",
							   NODE_PROTOCOL);
	}
	/* The known answers take seconds on a slow router, and the kernel's path runs none of them. */
	if (!n->kernel && gw_init(&err) < 0) return node_fail(f, "error", "%s", err.text);
	uname(&system);
	node_result(n);
	json_begin(&n->out, '{');
	json_put_text(&n->out, "kind", n->kernel ? "kernel" : "gwnode");
	json_put_count(&n->out, "protocol", NODE_PROTOCOL);
	json_put_text(&n->out, "version", gw_version());
	json_put_text(&n->out, "machine", system.machine);
	json_put_text(&n->out, "kernel", system.release);
	write_words(&n->out, "cpu_features", n->kernel ? "" : gw_cpu_features());
	if (n->leased) {
		json_put_count(&n->out, "undone", n->undone);
		json_put_text(&n->out, "journal", journal_path());
	}
	if (n->kernel) {
		kernel_write_hello(&n->out);
	} else {
		json_key(&n->out, "implementations");
		json_begin(&n->out, '[');
		for (size_t i = 0; i < gw_impl_count(); i++) write_implementation(&n->out, gw_impl_at(i));
		json_end(&n->out, ']');
		json_key(&n->out, "suites");
		json_begin(&n->out, '[');
		for (size_t i = 0; !gw_suite_at(i, &suite); i++) json_text(&n->out, suite.name);
		json_end(&n->out, ']');
	}
	json_end(&n->out, '}');
	return 0;
}

/* ---- counters ---- */

#define LOOP(field)                                                                                                    \
	{                                                                                                                  \
#field, offsetof(gw_loop_counters, field)                                                                      \
	}
/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
} loop_fields[] = {
	LOOP(tun_reads),         LOOP(tun_read_bytes),    LOOP(tun_read_gso),
	LOOP(tun_writes),        LOOP(tun_write_bytes),   LOOP(tun_write_segments),
	LOOP(tun_write_einval),  LOOP(udp_sends),         LOOP(udp_send_packets),
	LOOP(udp_send_bytes),    LOOP(udp_recvs),         LOOP(udp_recv_packets),
	LOOP(udp_recv_bytes),    LOOP(udp_send_errors),   LOOP(udp_rcvbuf_drops),
	LOOP(gso_fallbacks),     LOOP(keepalives),        LOOP(non_esp),
	LOOP(wakeups),           LOOP(spins),             LOOP(coalesce_bad_checksum),
	LOOP(mss_clamped),       LOOP(peer_moves),        LOOP(udp_send_too_big),
	LOOP(coalesce_off),      LOOP(handed_over),       LOOP(taken_over),
	LOOP(cpu_ns),            LOOP(started_ns),        LOOP(now_ns),
};
/* clang-format on */
/* The arrays are the rest of the struct: whoever adds a field must add it above. */
_Static_assert(sizeof(gw_loop_counters) ==
				   8 * (sizeof loop_fields / sizeof loop_fields[0] + GW_DROP_REASONS + GW_STAGES + 2 * GW_HIST_BUCKETS),
			   "a counter is missing here");

static void write_drops(json_out *out, const uint64_t *drops)
{
	json_key(out, "drops");
	json_begin(out, '{');
	for (int i = 1; i < GW_DROP_REASONS; i++)
		if (drops[i]) json_put_count(out, gw_drop_name(i), drops[i]);
	json_end(out, '}');
}

static void write_histogram(json_out *out, const char *name, const uint64_t *buckets)
{
	char key[] = "seal_batch_hist_0";

	memcpy(key, name, 4);
	for (int i = 0; i < GW_HIST_BUCKETS; i++) {
		key[sizeof key - 2] = (char)('0' + i);
		json_put_count(out, key, buckets[i]);
	}
}

/* By name, without the braces. */
static void write_fields(json_out *out, const gw_loop_counters *c)
{
	for (size_t i = 0; i < sizeof loop_fields / sizeof loop_fields[0]; i++) {
		uint64_t value;
		memcpy(&value, (const char *)c + loop_fields[i].offset, sizeof value);
		json_put_count(out, loop_fields[i].name, value);
	}
	write_histogram(out, "seal", c->seal_batch_hist);
	write_histogram(out, "open", c->open_batch_hist);
}

static void write_rest(json_out *out, const gw_loop_counters *c, bool kernel)
{
	if (kernel)
		kernel_write_drops(out);
	else
		write_drops(out, c->drops);
	json_key(out, "stage_cycles");
	json_begin(out, '{');
	for (int i = 0; i < GW_STAGES; i++) json_put_count(out, gw_stage_name(i), c->stage_cycles[i]);
	json_end(out, '}');
	json_put_count(out, "cpu_ns", c->cpu_ns);
}

/* Every field is a uint64_t (see above) and counts, but for the two times. */
static void add_loop(gw_loop_counters *sum, const gw_loop_counters *c)
{
	const uint64_t started = sum->started_ns, now = sum->now_ns;

	for (size_t at = 0; at < sizeof *sum; at += sizeof(uint64_t)) {
		uint64_t a, b;
		memcpy(&a, (const char *)sum + at, sizeof a);
		memcpy(&b, (const char *)c + at, sizeof b);
		a += b;
		memcpy((char *)sum + at, &a, sizeof a);
	}
	sum->started_ns = !started || c->started_ns < started ? c->started_ns : started;
	sum->now_ns = c->now_ns > now ? c->now_ns : now;
}

static void write_loops(json_out *out, const gw_loop_counters *loops, uint32_t n, bool alive, bool kernel)
{
	gw_loop_counters sum = {0};

	json_key(out, "loops");
	json_begin(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		add_loop(&sum, &loops[i]);
		json_begin(out, '{');
		json_key(out, "counters");
		json_begin(out, '{');
		write_fields(out, &loops[i]);
		json_end(out, '}');
		write_rest(out, &loops[i], false);
		json_end(out, '}');
	}
	json_end(out, ']');
	json_key(out, "loop");
	json_begin(out, '{');
	write_fields(out, &sum);
	json_put_count(out, "alive", alive);
	json_end(out, '}');
	write_rest(out, &sum, kernel);
}

void node_write_sa(node *n, const gw_sa_counters *c)
{
	static const char *const states[] = {"valid", "dying", "expired"};
	json_out *out = &n->out;

	json_begin(out, '{');
	json_put_count(out, "spi", c->spi);
	json_put_text(out, "direction", c->direction == GW_DIR_OUT ? "out" : "in");
	json_put_count(out, "packets", c->packets);
	json_put_count(out, "bytes", c->bytes);
	json_put_count(out, "wire_bytes", c->wire_bytes);
	write_drops(out, c->drops);
	json_put_count(out, "seq", c->seq);
	json_put_text(out, "state", states[c->state <= GW_SA_STATE_EXPIRED ? c->state : GW_SA_STATE_EXPIRED]);
	json_put_text(out, "implementation", node_implementation(n, c->spi, c->direction));
	json_end(out, '}');
}

typedef struct counters_arguments {
	bool sas;
	uint32_t first, max;
} counters_arguments;

/* The loops' counters come before the SAs' so that nothing is counted there that the loop has not seen. */
int node_counters(node *n, node_failure *f)
{
	counters_arguments a = {true, 0, NODE_SAS_A_LINE};
	static const argument table[] = {{"sas", ARGUMENT_BOOL, false, offsetof(counters_arguments, sas)},
									 {"first", ARGUMENT_COUNT, false, offsetof(counters_arguments, first)},
									 {"max", ARGUMENT_COUNT, false, offsetof(counters_arguments, max)}};
	gw_loop_counters *loops = NULL;
	gw_dp_info info = {.queues = 0};
	bool alive = true;
	gw_err err;

	if (arguments_read(n->request, table, 3, &a, f) || node_need_path(n, f)) return -1;
	if (n->dp) gw_dp_describe(n->dp, &info);
	if (info.queues) loops = calloc(info.queues, sizeof loops[0]);
	if (info.queues && !loops) return node_fail(f, "error", "out of memory");
	for (uint32_t i = 0; i < info.queues; i++)
		if (gw_dp_loop_read(n->dp, i, &loops[i])) {
			free(loops);
			return node_fail(f, "error", "the loop's counters cannot be read");
		}
	if (n->dp) alive = gw_dp_health(n->dp, &err) == 0;
	const size_t n_sas =
		n->kernel ? kernel_sa_read(n, n->counted, n->max_sas) : gw_dp_sa_read(n->dp, n->counted, n->max_sas);
	node_result(n);
	json_begin(&n->out, '{');
	json_key(&n->out, "sas");
	json_begin(&n->out, '[');
	for (size_t i = a.first; a.sas && i < n_sas && i - a.first < a.max; i++) node_write_sa(n, &n->counted[i]);
	json_end(&n->out, ']');
	json_put_count(&n->out, "sas_there", n_sas);
	write_loops(&n->out, loops, info.queues, alive, n->kernel);
	free(loops);
	json_key(&n->out, "interfaces");
	netif_write_counters(&n->out);
	json_end(&n->out, '}');
	return 0;
}

int node_health(node *n, node_failure *f)
{
	gw_err err = {""};

	if (arguments_read(n->request, NULL, 0, NULL, f) || node_need_path(n, f)) return -1;
	if (n->dp && gw_dp_health(n->dp, &err)) return node_fail(f, "path-ended", "%s", err.text);
	node_write_empty(n);
	return 0;
}
