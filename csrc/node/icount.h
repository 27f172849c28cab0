/* SPDX-License-Identifier: MIT
 * What icount's parts share: the meter, the shapes that are counted, a row of the report.
 */
#ifndef GW_NODE_ICOUNT_H
#define GW_NODE_ICOUNT_H

#include "node.h"

#define ICOUNT_MAX_BATCH 16
#define ICOUNT_MAX_BYTES 8192

static const size_t icount_sizes[] = {16, 64, 256, 1024, 1408, 8192}; /* bytes of a request */
static const size_t icount_batches[] = {1, ICOUNT_MAX_BATCH};
#define ICOUNT_N_SIZES   (sizeof icount_sizes / sizeof icount_sizes[0])
#define ICOUNT_N_BATCHES (sizeof icount_batches / sizeof icount_batches[0])

typedef struct icount {
	uint64_t insns, loads, stores;
	uint64_t neon_q; /* AArch32 NEON data processing on Q registers */
} icount;

int icount_open(void); /* 0, or -ENOENT: ICOUNT_SHM does not name the plugin's file */
/* Bracket a call: what a bracket around nothing counts is taken off. */
icount icount_start(void);
icount icount_stop(icount start);

/* Prints a row; 1 when nothing was counted, which says that the operation failed. op: encrypt, decrypt, hash, seal,
 * open */
int icount_report(const char *alg, const char *implementation, const char *tag, const char *op, size_t key_bits,
				  size_t bytes, size_t batch, icount c);

int icount_suites(void); /* icount_esp.c: whole packets; 1 when one failed */

#endif
