/* SPDX-License-Identifier: MIT
 * What the tests of the emulated e500v2 need beyond gwnode.
 *
 *   spe_probe run DRIVER DIR KEY_BYTES BYTES BATCH TIMES   one operation repeated, for block profiles
 *   spe_probe signals     both register halves and results survive signal handlers that use SPE themselves
 *   spe_probe threads     threads with keys of their own do not disturb one another
 *   spe_probe preserve    the calling convention: low halves of r14-r31 and the stack pointer
 *   spe_probe alignment   what evldd reads is aligned, for every key that an allocator may return
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "../../csrc/crypto/md.h"
#include "../../csrc/crypto/ppc/spe.h"

#define MAX_BATCH 32
#define MAX_BYTES 8192
#define ROOM      (MAX_BYTES + 128)

uint32_t spe_halves_spin(const volatile uint32_t *stop, uint64_t out[32], const uint64_t in[32]);
uint32_t spe_call_preserves(void (*f)(void *), void *arg);

typedef struct job {
	const gw_impl *impl;
	void *key;
	size_t bytes, n;
	gw_op ops[MAX_BATCH];
	uint8_t in[MAX_BATCH][ROOM], out[MAX_BATCH][ROOM], iv[MAX_BATCH][16], tag[MAX_BATCH][32];
} job;

static bool is_aead(const gw_impl *impl)
{
	return impl->kind == GW_KIND_AEAD;
}

static bool is_authenc(const gw_impl *impl)
{
	return impl->kind == GW_KIND_AUTHENC;
}

/* NULL: unknown driver or key length. The seed makes key and data. */
static job *job_new(const char *driver, size_t key_len, size_t bytes, size_t n, uint32_t seed)
{
	job *j = (job *)gw_alloc(sizeof *j);
	const gw_impl *impl = gw_impl_find(driver);
	uint8_t secret[64];
	if (j == NULL || impl == NULL || bytes > MAX_BYTES || n > MAX_BATCH) return NULL;
	for (size_t i = 0; i < sizeof j->in + sizeof j->out + sizeof j->iv; i++)
		(&j->in[0][0])[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 16);
	memcpy(secret, j->in[0], sizeof secret);
	j->impl = impl;
	j->bytes = bytes;
	j->n = n;
	const size_t cipher_room = (impl->key_ctx_bytes + 63) & ~(size_t)63;
	uint8_t *ctx = (uint8_t *)gw_alloc(cipher_room + impl->mac_ctx_bytes + 64);
	if (ctx == NULL || (impl->setkey != NULL && impl->setkey(ctx, secret, key_len) != 0)) return NULL;
	if (impl->mac_setkey != NULL) impl->mac_setkey(ctx + cipher_room, secret + 32, 32);
	j->key = ctx;
	for (size_t i = 0; i < n; i++)
		j->ops[i] = (gw_op){.key = ctx,
							.mac_key = is_authenc(impl) ? ctx + cipher_room : ctx,
							.in = {{j->in[i] + 20, bytes}},
							.n_in = 1,
							.out = j->out[i] + 64,
							.aad = j->out[i] + 64 - (is_authenc(impl) ? 24 : 8),
							.aad_len = is_authenc(impl) ? 24
									   : is_aead(impl)  ? 8
														: 0,
							.iv = j->iv[i],
							.iv_len = is_aead(impl) ? 12 : 16,
							.tag = j->tag[i],
							.tag_len = 16};
	return j;
}

/* For decryption that must succeed: what encryption made becomes the input, in place. */
static void job_turn(job *j)
{
	gw_impl_run(j->impl, 1, j->ops, j->n);
	for (size_t i = 0; i < j->n; i++) j->ops[i].in[0].data = j->ops[i].out;
}

static int run(char **argv)
{
	const int dir = atoi(argv[1]);
	const size_t key_len = strtoul(argv[2], NULL, 0), bytes = strtoul(argv[3], NULL, 0), n = strtoul(argv[4], NULL, 0);
	job *j = job_new(argv[0], key_len, bytes, n, 1);
	if (j == NULL) return 2;
	static uint8_t sealed[MAX_BATCH][ROOM];
	const bool opens = !dir && (is_aead(j->impl) || is_authenc(j->impl));
	if (opens) job_turn(j);
	memcpy(sealed, j->out, sizeof sealed);
	for (long times = strtol(argv[5], NULL, 0); times > 0; times--) {
		gw_impl_run(j->impl, dir, j->ops, j->n);
		if (!opens) continue;
		if (j->ops[0].status != 0) return 1;
		/* Opened in place: put back. The copy is in the profile, under one instruction a byte. */
		for (size_t i = 0; i < n; i++) memcpy(j->out[i], sealed[i], 64 + bytes);
	}
	return 0;
}

/* Every operation that the suites use, each with an answer to compare with. */
static const struct {
	const char *driver;
	size_t key_len, bytes;
} work[] = {{"cbc-aes-spe/gwbench", 32, 1408},
			{"gcm-aes-spe/gwbench", 16, 1400},
			{"hmac-sha256-spe/gwbench", 32, 1432},
			{"ctr-aes-spe/gwbench", 24, 999},
			{"xts-aes-spe/gwbench", 64, 527},
			{"ecb-aes-spe/gwbench", 16, 160},
			{"sha256-spe/gwbench", 0, 300},
			{"authenc-hmac-sha256-cbc-aes-spe/gwbench", 32, 1040},
			{"authenc-hmac-sha256-cbc-aes-spe/gwbench", 16, 528}};
#define N_WORK (sizeof work / sizeof work[0])

/* ---- signals ---- */

static volatile uint32_t stop, hits, wrong;
static job *handler_job;
static uint8_t handler_want[ROOM];

/* Uses every register on purpose. The accumulator is left out: our code has no use for it, and QEMU 7.2 loses it. */
static void on_signal(int number)
{
	static const uint64_t garbage[32] = {[0 ... 31] = 0x1111111122222222ull};
	static uint64_t seen[32];
	uint32_t at_once = 1;
	(void)number;
	gw_impl_run(handler_job->impl, 1, handler_job->ops, 1);
	if (memcmp(handler_job->out[0] + 64, handler_want, handler_job->bytes) != 0) wrong++;
	spe_halves_spin(&at_once, seen, garbage);
	hits++;
	stop = 1;
}

static int test_signals(void)
{
	struct sigaction act = {.sa_handler = on_signal};
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	uint64_t in[32], out[32];
	uint32_t during = 0;

	handler_job = job_new("gcm-aes-spe/gwbench", 32, 200, 1, 77);
	if (handler_job == NULL) return 1;
	gw_impl_run(handler_job->impl, 1, handler_job->ops, 1);
	memcpy(handler_want, handler_job->out[0] + 64, handler_job->bytes);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int pass = 0; pass < 200; pass++) {
		for (uint32_t i = 0; i < 32; i++) in[i] = ((uint64_t)(pass + 1) << 48) + ((uint64_t)i << 40) + 0x33u * i + pass;
		memset(out, 0, sizeof out);
		stop = 0;
		(void)spe_halves_spin(&stop, out, in);
		for (uint32_t i = 6; i < 32; i++)
			if (i != 13 && out[i] != in[i]) {
				printf("r%u: %016llx became %016llx\n", i, (unsigned long long)in[i], (unsigned long long)out[i]);
				return 1;
			}
	}
	for (size_t w = 0; w < N_WORK; w++) {
		job *j = job_new(work[w].driver, work[w].key_len, work[w].bytes, 5, (uint32_t)w);
		static uint8_t want[sizeof j->out], want_tag[sizeof j->tag];
		if (j == NULL) return 1;
		setitimer(ITIMER_REAL, &never, NULL);
		gw_impl_run(j->impl, 1, j->ops, j->n);
		memcpy(want, j->out, sizeof want);
		memcpy(want_tag, j->tag, sizeof want_tag);
		setitimer(ITIMER_REAL, &often, NULL);
		const uint32_t before = hits;
		for (int i = 0; i < 2000 && hits - before < 40; i++) {
			memset(j->tag, 0, sizeof j->tag);
			gw_impl_run(j->impl, 1, j->ops, j->n);
			wrong += memcmp(want, j->out, sizeof want) != 0 || memcmp(want_tag, j->tag, sizeof want_tag) != 0;
		}
		during += hits - before;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals %u during_crypto %u wrong %u\n", hits, during, wrong);
	return wrong != 0 || during < 20;
}

/* ---- threads ---- */

static void *thread(void *arg)
{
	const uint32_t seed = (uint32_t)(uintptr_t)arg;
	for (size_t w = 0; w < N_WORK; w++) {
		job *j = job_new(work[w].driver, work[w].key_len, work[w].bytes, 4, seed * 100 + (uint32_t)w);
		if (j == NULL) return (void *)1;
		uint8_t *want = (uint8_t *)malloc(sizeof j->out + sizeof j->tag);
		for (int i = 0; i < 60; i++) {
			gw_impl_run(j->impl, 1, j->ops, j->n);
			if (i == 0)
				memcpy(want, j->out, sizeof j->out);
			else if (memcmp(want, j->out, sizeof j->out) != 0)
				return (void *)1;
			if (i == 0)
				memcpy(want + sizeof j->out, j->tag, sizeof j->tag);
			else if (memcmp(want + sizeof j->out, j->tag, sizeof j->tag) != 0)
				return (void *)1;
		}
		free(want);
	}
	return NULL;
}

static int test_threads(void)
{
	pthread_t t[4];
	int bad = 0;
	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(i + 1)) != 0) return 1;
	for (int i = 0; i < 4; i++) {
		void *result = NULL;
		pthread_join(t[i], &result);
		bad += result != NULL;
	}
	printf("threads 4 wrong %d\n", bad);
	return bad != 0;
}

/* ---- calling convention, alignment ---- */

static int decrypting;

static void call(void *arg)
{
	job *j = (job *)arg;
	gw_impl_run(j->impl, !decrypting, j->ops, j->n);
}

/* The assembly itself, without C around it that would save and restore registers. */
static void call_bare(void *arg)
{
	static uint8_t data[128], chain[16];
	static uint32_t state[8];
	const gw_spe_aes_key *k = (const gw_spe_aes_key *)((job *)arg)->key;
	gw_spe_aes_cbc_enc(k->enc, data, data, 3, gw_spe_aes_te, k->rounds, chain, chain);
	gw_spe_aes_cbc_dec(k->dec, data, data, 3, gw_spe_aes_td, k->rounds, chain);
	gw_spe_sha256_blocks(state, data, 2, gw_sha256_k);
}

static int test_preserve(void)
{
	int bad = 0;
	for (size_t w = 0; w < N_WORK; w++)
		for (decrypting = 0; decrypting < 2; decrypting++) {
			job *j = job_new(work[w].driver, work[w].key_len, work[w].bytes, 4, 5);
			if (j == NULL) return 1;
			if (decrypting && j->impl->decrypt == NULL) continue;
			const uint32_t changed = spe_call_preserves(call, j) | (w == 0 ? spe_call_preserves(call_bare, j) : 0);
			if (changed != 0) printf("%s changed %u registers\n", work[w].driver, changed);
			bad |= changed != 0;
		}
	printf("preserved %s\n", bad ? "no" : "yes");
	return bad;
}

static int test_alignment(void)
{
	int bad = ((uintptr_t)gw_spe_aes_te | (uintptr_t)gw_spe_aes_td) % 8192 != 0;
	bad |= (uintptr_t)gw_sha256_k % 64 != 0;
	/* A context may stand at any multiple of 64; GCM's table must come out right at each. */
	const gw_impl *gcm = gw_impl_find("gcm-aes-spe/gwbench");
	uint8_t *room = (uint8_t *)gw_alloc(gcm->key_ctx_bytes + 4096 + 64), first[16] = {0};
	for (size_t at = 0; at < 4096; at += 64) {
		static const uint8_t secret[16] = {9, 8, 7};
		uint8_t iv[12] = {1}, data[32] = {2}, tag[16];
		const uint8_t *end = room + at + gcm->key_ctx_bytes;
		memset(room, 0xee, gcm->key_ctx_bytes + 4096 + 64);
		if (gcm->setkey(room + at, secret, sizeof secret) != 0) return 1;
		gw_op op = {.key = room + at,
					.in = {{data, 32}},
					.n_in = 1,
					.out = data,
					.aad = iv,
					.aad_len = 12,
					.iv = iv,
					.iv_len = 12,
					.tag = tag,
					.tag_len = 16};
		gcm->encrypt(&op, 1);
		if (at == 0) memcpy(first, tag, 16);
		bad |= memcmp(first, tag, 16) != 0;
		for (int i = 0; i < 64; i++) bad |= end[i] != 0xee; /* nothing written past the context */
	}
	printf("alignment %s\n", bad ? "wrong" : "right");
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 8 && !strcmp(argv[1], "run")) return run(argv + 2);
	if (argc != 2) return 2;
	if (!strcmp(argv[1], "signals")) return test_signals();
	if (!strcmp(argv[1], "threads")) return test_threads();
	if (!strcmp(argv[1], "preserve")) return test_preserve();
	if (!strcmp(argv[1], "alignment")) return test_alignment();
	return 2;
}
