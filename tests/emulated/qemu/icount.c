/* SPDX-License-Identifier: MIT
 * icount.so: exact counts of executed instructions, exported live to the guest through a file that the guest maps too,
 * so that it can bracket a region as with a PMU (csrc/node/icount.c).
 *   qemu-ARCH -plugin icount.so,shm=FILE PROGRAM
 * The file holds u64 in host order: [0] instructions [1] loads [2] stores [3] A32 NEON data processing on Q registers
 * (a Cortex-A7 does those in two halves).
 */
#include "qplug.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

QP_EXPORT int qemu_plugin_version = 1;

static uint64_t *counter;
static bool arm32;

static bool on_q_registers(const struct qemu_plugin_insn *insn)
{
	uint32_t word;
	if (qemu_plugin_insn_size(insn) != 4) return false;
	memcpy(&word, qemu_plugin_insn_data(insn), 4);
	return (word & 0xfe000000u) == 0xf2000000u && (word & 0x40u);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	const size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t on_q = 0;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_register_vcpu_mem_inline(insn, QEMU_PLUGIN_MEM_R, QEMU_PLUGIN_INLINE_ADD_U64, &counter[1], 1);
		qemu_plugin_register_vcpu_mem_inline(insn, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_INLINE_ADD_U64, &counter[2], 1);
		if (arm32) on_q += on_q_registers(insn);
	}
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &counter[0], n);
	if (on_q) qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &counter[3], on_q);
}

QP_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	arm32 = !strcmp(info->target_name, "arm");
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "shm=", 4)) {
			const int fd = open(argv[i] + 4, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
			if (fd < 0 || ftruncate(fd, 4096)) return -1;
			void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (p == MAP_FAILED) return -1;
			counter = p;
			close(fd);
		}
	if (!counter) return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
