/* SPDX-License-Identifier: MIT
 * What the tests of emulated ARMv7 need beyond gwnode. Each goes over every NEON implementation of the table.
 *
 *   armv7_probe preserve   the calling convention: r4-r11, d8-d15 and the stack pointer, on stacks of either alignment
 *   armv7_probe edges      nothing is read or written past a packet: each ends where a page ends that has no neighbour
 *   armv7_probe company    a packet's result does not depend on the packets that share its batch
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../csrc/node/node.h"

#define MAX_BATCH 20
#define MAX_BYTES 4096
#define ROOM      (MAX_BYTES + 128)
#define AAD_BYTES 24
#define N_KEYS    3

uint32_t armv7_call_preserves(void (*f)(void *), void *arg, uint32_t shift);
void armv7_spoil(void *none);

/* A batch and everything it points to. */
typedef struct job {
	const gw_impl *impl;
	node_alg alg;
	int dir;
	size_t n;
	gw_op ops[MAX_BATCH];
	uint8_t in[MAX_BATCH][ROOM], out[MAX_BATCH][ROOM], iv[MAX_BATCH][16], tag[MAX_BATCH][64];
} job;

static job now, kept;
static node_key keys[N_KEYS];
static uint64_t rng = 20250101;

static bool uses_neon(const gw_impl *impl)
{
	gw_impl_info info;
	gw_impl_describe(impl, &info);
	return info.runnable && (impl->cpu_needs & GW_CPU_NEON) != 0;
}

/* Keys of this length, or of random ones that the algorithm takes when it is 0. False: it takes none such. */
static bool set_keys(const gw_impl *impl, size_t len)
{
	static const size_t lens[] = {16, 24, 32, 64};
	uint8_t key[64], mac_key[32];
	for (size_t k = 0; k < N_KEYS; k++) {
		int failed = -1;
		node_random_fill(&rng, key, sizeof key);
		node_random_fill(&rng, mac_key, sizeof mac_key);
		for (int turn = 0; turn < 40 && failed; turn++) {
			const size_t n = len ? len : lens[node_random(&rng) % 4];
			failed = node_key_init(&keys[k], impl, key, impl->setkey ? n : 0, mac_key, sizeof mac_key);
		}
		if (failed) return false;
	}
	return true;
}

static void drop_keys(void)
{
	for (size_t k = 0; k < N_KEYS; k++) node_key_wipe(&keys[k]);
}

/* Random data in packets of these lengths; to open, it is sealed first. */
static void fill(job *j, const gw_impl *impl, int dir, const size_t *len, size_t n, bool nonces)
{
	j->impl = impl;
	j->alg = node_alg_of(impl);
	j->dir = dir;
	j->n = n;
	node_random_fill(&rng, j->in, sizeof j->in);
	node_random_fill(&rng, j->iv, sizeof j->iv);
	for (size_t i = 0; i < n; i++) {
		const node_key *k = &keys[node_random(&rng) % N_KEYS];
		size_t bytes = len[i] - len[i] % j->alg.block;
		if (bytes < j->alg.min_bytes) bytes = j->alg.min_bytes;
		uint8_t *out = j->out[i] + 64;
		j->ops[i] = (gw_op){.key = k->ctx,
							.mac_key = k->mac_ctx ? k->mac_ctx : k->ctx,
							.in = {{j->in[i], bytes}},
							.n_in = 1,
							.out = out,
							.aad = impl->kind >= GW_KIND_AEAD ? out - AAD_BYTES : NULL,
							.aad_len = impl->kind >= GW_KIND_AEAD ? AAD_BYTES : 0,
							.iv = j->iv[i],
							.iv_len = (uint32_t)j->alg.iv_bytes,
							.tag = j->tag[i],
							.tag_len = (uint32_t)j->alg.tag_bytes,
							.flags = nonces && node_random(&rng) % 2 ? GW_OP_IV_NONCE : 0};
	}
	if (dir || j->alg.tag_bytes == 0) return;
	gw_impl_run(impl, 1, j->ops, n);
	for (size_t i = 0; i < n; i++) j->ops[i].in[0].data = j->ops[i].out;
}

static void run(void *arg)
{
	job *j = (job *)arg;
	gw_impl_run(j->impl, j->dir, j->ops, j->n);
}

static size_t report(const gw_impl *impl, const char *what, size_t n)
{
	printf("%s %s %zu\n", impl->driver, what, n);
	return n;
}

/* ---- preserve -------------------------------------------------------------------------------------------------- */

static size_t preserve(const gw_impl *impl)
{
	static const size_t lens[] = {0, 16, 112, 128, 300, 1408, 4096};
	static const size_t key_lens[] = {16, 24, 32, 64};
	size_t changed = armv7_call_preserves(armv7_spoil, NULL, 8) == 2 ? 0 : 1000; /* it does see changes */
	for (size_t k = 0; k < sizeof key_lens / sizeof key_lens[0]; k++) {
		if (!set_keys(impl, key_lens[k])) continue;
		for (int dir = 0; dir < 2; dir++)
			for (size_t i = 0; i < sizeof lens / sizeof lens[0] && (dir || impl->decrypt); i++)
				for (uint32_t shift = 0; shift <= 8; shift += 8) {
					const size_t batch[3] = {lens[i], lens[i], lens[i] / 2};
					fill(&now, impl, dir, batch, 3, false);
					changed += armv7_call_preserves(run, &now, shift);
				}
		drop_keys();
	}
	return report(impl, "changed registers", changed);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static uint8_t *edge(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (ROOM + page - 1) / page * page;
	uint8_t *p = (uint8_t *)mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + bytes, page, PROT_NONE) != 0) exit(2);
	return p + bytes;
}

static size_t edges(const gw_impl *impl)
{
	static uint8_t *in_end[MAX_BATCH], *out_end[MAX_BATCH];
	size_t lens[MAX_BATCH], wrong = 0;
	for (size_t i = 0; i < MAX_BATCH && in_end[i] == NULL; i++) {
		in_end[i] = edge();
		out_end[i] = edge();
	}
	if (!set_keys(impl, 0)) return report(impl, "no key", 1);
	for (int dir = 0; dir < 2; dir++)
		for (size_t turn = 0; turn < 12 && (dir || impl->decrypt); turn++) {
			const size_t n = 1 + turn % 7;
			for (size_t i = 0; i < n; i++) lens[i] = node_random(&rng) % 600;
			fill(&now, impl, dir, lens, n, false);
			memcpy(&kept, &now, sizeof now);
			for (size_t i = 0; i < n; i++) {
				gw_op *op = &now.ops[i];
				const size_t len = op->in[0].len;
				uint8_t *in = (uint8_t *)memcpy(in_end[i] - len, op->in[0].data, len);
				if (op->aad_len) memcpy(out_end[i] - len - op->aad_len, op->aad, op->aad_len);
				op->in[0].data = in;
				op->out = out_end[i] - len;
				if (op->aad_len) op->aad = op->out - op->aad_len;
				kept.ops[i].iv = kept.iv[i];
				kept.ops[i].tag = kept.tag[i];
				kept.ops[i].out = kept.out[i] + 64;
				kept.ops[i].in[0].data = in;
				if (op->aad_len) kept.ops[i].aad = kept.ops[i].out - op->aad_len;
			}
			run(&kept);
			run(&now);
			for (size_t i = 0; i < n; i++)
				if (impl->kind != GW_KIND_HASH && impl->kind != GW_KIND_MAC)
					wrong += memcmp(now.ops[i].out, kept.ops[i].out, now.ops[i].in[0].len) != 0;
		}
	drop_keys();
	return report(impl, "wrong at an edge", wrong);
}

/* ---- company --------------------------------------------------------------------------------------------------- */

static size_t company(const gw_impl *impl)
{
	size_t lens[MAX_BATCH], wrong = 0;
	for (size_t n = 1; n <= MAX_BATCH; n++)
		for (int dir = 0; dir < 2 && (dir == 0 || impl->decrypt); dir++) {
			const bool nonces = !dir && strcmp(impl->alg, "cbc(aes)") == 0;
			if (!set_keys(impl, 0)) return report(impl, "no key", 1);
			for (size_t i = 0; i < n; i++) lens[i] = node_random(&rng) % (i % 4 == 0 ? 2000 : 200);
			fill(&now, impl, !dir, lens, n, nonces);
			memcpy(&kept, &now, sizeof now);
			for (size_t i = 0; i < n; i++) { /* the same, alone, in memory of its own */
				gw_op *op = &kept.ops[i];
				const ptrdiff_t move = (uint8_t *)&kept - (uint8_t *)&now;
				op->in[0].data += move;
				op->out += move;
				op->iv += move;
				op->tag += move;
				if (op->aad_len) op->aad += move;
				gw_impl_run(impl, kept.dir, op, 1);
			}
			run(&now);
			for (size_t i = 0; i < n; i++) {
				const gw_op *a = &now.ops[i], *b = &kept.ops[i];
				const bool text = impl->kind != GW_KIND_HASH && impl->kind != GW_KIND_MAC;
				wrong += a->status != b->status || (text && memcmp(a->out, b->out, a->in[0].len) != 0) ||
						 memcmp(a->tag, b->tag, a->tag_len) != 0 || memcmp(a->iv, b->iv, 16) != 0;
			}
			drop_keys();
		}
	return report(impl, "different in company", wrong);
}

int main(int argc, char **argv)
{
	size_t (*check)(const gw_impl *) = NULL;
	size_t bad = 0, done = 0;
	gw_err err;
	if (argc == 2 && strcmp(argv[1], "preserve") == 0) check = preserve;
	if (argc == 2 && strcmp(argv[1], "edges") == 0) check = edges;
	if (argc == 2 && strcmp(argv[1], "company") == 0) check = company;
	if (check == NULL || gw_init(&err) != 0) return 2;
	for (size_t i = 0; i < gw_impl_count(); i++) {
		if (!uses_neon(gw_impl_at(i))) continue;
		bad += check(gw_impl_at(i));
		done++;
	}
	printf("%zu implementations\n", done);
	return bad != 0 || done == 0;
}
