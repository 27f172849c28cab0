/* SPDX-License-Identifier: MIT
 * crypto and esp: how fast this processor is in memory, as tables. Nothing is sent anywhere.
 */
#include <stdio.h>
#include <string.h>

#include "node.h"

#define SAMPLE_NS    100000000u
#define PACKET_BYTES 1408u
#define BATCH        16u

/* ops, or bytes, of a sample per second. Whole numbers: processors without floating point are many here. */
static uint64_t per_second(const gw_bench_sample *s, uint64_t n)
{
	const uint64_t us = (uint64_t)s->ns / 1000;
	return us ? n * 1000000 / us : 0;
}

static void print_mega(uint64_t value, int width)
{
	const uint64_t tenths = (value + 50000) / 100000;
	printf(" %*llu.%u", width - 2, (unsigned long long)(tenths / 10), (unsigned)(tenths % 10));
}

/* The longest key that it takes, of the lengths in use. */
static size_t key_bytes(const gw_impl_info *info, bool long_key)
{
	if (info->kind == GW_KIND_HASH) return 0;
	if (info->kind == GW_KIND_MAC || strstr(info->alg, "chacha")) return 32;
	const size_t one = long_key ? 32 : 16;
	return strstr(info->alg, "xts") && !strstr(info->alg, "speck64") ? 2 * one : strstr(info->alg, "xts") ? 32 : one;
}

static int crypto_row(const gw_impl *impl, const gw_impl_info *info, bool long_key)
{
	const size_t key = key_bytes(info, long_key);
	gw_bench_sample s;
	gw_err err = {""};

	printf("%-24s %-34s %4zu", info->alg, info->driver, key * 8);
	for (int dir = 1; dir >= 0; dir--) {
		const int rc = gw_bench_impl(impl, dir, key, PACKET_BYTES, BATCH, SAMPLE_NS, &s, &err);
		if (rc)
			printf(" %9s", "-");
		else
			print_mega(per_second(&s, s.bytes), 9);
	}
	printf("\n");
	return 0;
}

static int unknown(const char *what, const char *name)
{
	fprintf(stderr, "gwnode: no %s is called '%.40s'; without one all are shown\n", what, name);
	return 2;
}

int node_crypto(int argc, char **argv)
{
	gw_err err = {""};
	size_t shown = 0;

	if (gw_init(&err) < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 2;
	}
	printf("MB/s (10^6 bytes), requests of %u bytes, %u at a time, on one core, in memory\n", PACKET_BYTES, BATCH);
	printf("%-24s %-34s %4s %9s %9s\n", "algorithm", "implementation", "key", "encrypt", "decrypt");
	for (size_t i = 0; i < gw_impl_count(); i++) {
		const gw_impl *impl = gw_impl_at(i);
		gw_impl_info info;
		gw_impl_describe(impl, &info);
		if (!info.runnable || info.checked < 0 || info.kind == GW_KIND_AUTHENC) continue;
		if (argc && !strstr(info.alg, argv[0]) && strcmp(info.tag, argv[0])) continue;
		shown++;
		crypto_row(impl, &info, false);
		if (strstr(info.alg, "(aes)")) crypto_row(impl, &info, true);
	}
	return shown ? 0 : unknown("algorithm or family", argv[0]);
}

static void esp_row(int suite, const char *name, const char *wish)
{
	char text[160];
	gw_err err = {""};

	if (gw_suite_resolve(suite, wish, text, sizeof text, &err)) return;
	printf("%-17s", name);
	for (int dir = 1; dir >= 0; dir--) {
		gw_bench_sample s;
		if (gw_bench_esp(suite, wish, dir, PACKET_BYTES, BATCH, 1, SAMPLE_NS, &s, &err)) {
			printf(" %9s %9s", "-", "-");
			continue;
		}
		print_mega(8 * per_second(&s, s.bytes), 9);
		printf(" %9llu", (unsigned long long)per_second(&s, s.ops));
	}
	printf("  %s\n", text);
}

int node_esp(int argc, char **argv)
{
	gw_suite_info suite;
	gw_err err = {""};

	if (argc && (argc > 1 || gw_suite_find(argv[0]) < 0)) return unknown("suite", argv[argc - 1]);
	if (gw_init(&err) < 0) {
		fprintf(stderr, "gwnode: %s\n", err.text);
		return 2;
	}
	printf("ESP on one core, in memory (no network): inner packets of %u bytes, %u at a time\n", PACKET_BYTES, BATCH);
	printf("%-17s %19s %19s\n", "", "seal", "open");
	printf("%-17s %9s %9s %9s %9s  %s\n", "suite", "Mbit/s", "packet/s", "Mbit/s", "packet/s", "implementation");
	for (int i = 0; !gw_suite_at((size_t)i, &suite); i++) {
		if (argc ? strcmp(argv[0], suite.name) != 0 : suite.bench_only || suite.legacy) continue;
		esp_row(i, suite.name, "generic");
		esp_row(i, suite.name, "accelerated");
	}
	return 0;
}
