/* SPDX-License-Identifier: MIT
 * bbprof.so: how often each translation block ran, and the proof that no Crypto Extension was used.
 *   qemu-ARCH -plugin bbprof.so,out=FILE,lo=0x..,hi=0x.. PROGRAM   lines "pc count instructions hexbytes"
 *   qemu-ARCH -plugin bbprof.so,ce=forbid PROGRAM                  exits 99 when such an instruction is translated
 */
#include "qplug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

QP_EXPORT int qemu_plugin_version = 1;

typedef struct block {
	uint64_t pc, count;
	size_t n_insns, n_bytes;
	uint8_t *bytes;
	struct block *next;
} block;

static block *table[65536];
static uint64_t lo = 0, hi = ~0ull;
static const char *out;
static bool forbid_ce, aarch64, arm32;

/* AArch64: AES, SHA-1, SHA-256, 64-bit PMULL, SHA-512/SHA-3/SM3/SM4. */
static const char *extension_a64(uint32_t i)
{
	if ((i & 0xff3e0c00) == 0x4e280800) return "aes";
	if ((i & 0xff3e0c00) == 0x5e280800 || (i & 0xff208c00) == 0x5e000000) return "sha1/sha256";
	if ((i & 0xbfe0fc00) == 0x0ee0e000) return "pmull";
	if ((i & 0xff800000) == 0xce000000 || (i & 0xfffff000) == 0xcec08000) return "sha512/sha3";
	return NULL;
}

/* AArch32, A32 encoding; T32 has the same low bits under ff/ef. */
static const char *extension_a32(uint32_t i)
{
	const uint32_t top = i >> 24;
	if (top == 0xf3 || top == 0xff) {
		if ((i & 0x00b30f10) == 0x00b00300) return "aes";
		if ((i & 0x00bf0fd0) == 0x00b902c0 || (i & 0x00b30f90) == 0x00b20380) return "sha1/sha256";
		if ((i & 0x00800f50) == 0x00000c40) return "sha256"; /* bit 23: vext and others, not a hash */
	}
	if (top == 0xf2 || top == 0xef) {
		if ((i & 0x00800f50) == 0x00000c40) return "sha1";
		if ((i & 0x00b00f50) == 0x00a00e00) return "pmull";
	}
	return NULL;
}

static void check_extension(const struct qemu_plugin_insn *insn)
{
	uint32_t word;
	if (qemu_plugin_insn_size(insn) != 4) return;
	memcpy(&word, qemu_plugin_insn_data(insn), 4);
	const char *found = aarch64 ? extension_a64(word) : extension_a32(word);
	const uint32_t swapped = word << 16 | word >> 16; /* T32 is stored in halfwords */
	if (!found && arm32 && (swapped >> 24 == 0xff || swapped >> 24 == 0xef)) found = extension_a32(swapped);
	if (!found) return;
	fprintf(stderr, "bbprof: forbidden crypto extension (%s) %08x at 0x%llx\n", found, (unsigned)word,
			(unsigned long long)qemu_plugin_insn_vaddr(insn));
	_exit(99);
}

static block *find_block(struct qemu_plugin_tb *tb, uint64_t pc, size_t n)
{
	block **head = &table[(pc >> 1) & 65535];
	for (block *b = *head; b; b = b->next)
		if (b->pc == pc && b->n_insns == n) return b;
	block *b = calloc(1, sizeof *b);
	if (!b || !(b->bytes = malloc(16 * n))) abort();
	b->pc = pc;
	b->n_insns = n;
	for (size_t i = 0; i < n; i++) {
		const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const size_t size = qemu_plugin_insn_size(insn);
		memcpy(b->bytes + b->n_bytes, qemu_plugin_insn_data(insn), size);
		b->n_bytes += size;
	}
	b->next = *head;
	return *head = b;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	const size_t n = qemu_plugin_tb_n_insns(tb);
	const uint64_t pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	if (forbid_ce && (aarch64 || arm32))
		for (size_t i = 0; i < n; i++) check_extension(qemu_plugin_tb_get_insn(tb, i));
	if (out && pc >= lo && pc < hi)
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &find_block(tb, pc, n)->count, 1);
}

static void finished(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	FILE *f = out ? fopen(out, "w") : NULL;
	if (!f) return;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		for (const block *b = table[i]; b; b = b->next) {
			if (!b->count) continue;
			fprintf(f, "%llx %llu %zu ", (unsigned long long)b->pc, (unsigned long long)b->count, b->n_insns);
			for (size_t k = 0; k < b->n_bytes; k++) fprintf(f, "%02x", b->bytes[k]);
			fputc('\n', f);
		}
	fclose(f);
}

QP_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	aarch64 = !strcmp(info->target_name, "aarch64");
	arm32 = !strcmp(info->target_name, "arm");
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) out = strdup(argv[i] + 4);
		if (!strncmp(argv[i], "lo=", 3)) lo = strtoull(argv[i] + 3, NULL, 0);
		if (!strncmp(argv[i], "hi=", 3)) hi = strtoull(argv[i] + 3, NULL, 0);
		if (!strcmp(argv[i], "ce=forbid")) forbid_ce = true;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, finished, NULL);
	return 0;
}
