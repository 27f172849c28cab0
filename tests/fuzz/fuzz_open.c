/* SPDX-License-Identifier: MIT
 * libFuzzer on gw_open_batch: the first byte chooses the SA, the rest is what came from the wire, twice in one batch.
 *
 * Under the "null" suite nothing stands before the parser of padding, next header, inner packet, selectors and ECN,
 * so the fuzzer reaches all of it; under the others it reaches headers, lengths, window and ESN.
 * Whatever comes in: no access outside the packet, at most one copy accepted, inner inside the packet.
 */
#include <stdlib.h>

#include "../../csrc/core/mem.h"
#include "../../csrc/esp/esp.h"

static const char *const suites[4] = {"null", "null-sha256", "aes128gcm16", "aes128-sha256"};

static gw_sa *receiver(uint8_t choice)
{
	static const uint8_t keys[64];
	gw_sa_params p = {.spi = 0x11223344,
					  .direction = GW_DIR_IN,
					  .flags = GW_SA_LAB | (choice & 4 ? GW_SA_ESN : 0) | (choice & 64 ? GW_SA_NO_ECN : 0),
					  .mode = choice & 8 ? GW_MODE_TRANSPORT : GW_MODE_TUNNEL,
					  .replay_window = choice & 16 ? 1024 : 0,
					  .seq = choice & 128 ? 0xfffffff0u : 0,
					  .enc_key = keys,
					  .auth_key = keys,
					  .salt = keys,
					  .impl = "generic"};
	gw_err err;

	p.suite = gw_suite_find(suites[choice & 3]);
	if (choice & 32) {
		p.selector.proto = 17;
		p.selector.dport_lo = 1;
		p.selector.dport_hi = 1000;
		p.selector.src.family = 6;
		p.selector.src.prefix = 3;
	}
	gw_sa *sa = gw_sa_new(&p, 0, &err);
	if (!sa) abort();
	return sa;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	gw_err err;

	(void)argc, (void)argv;
	if (gw_init(&err) != 0) abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static gw_sa *receivers[256];
	uint8_t *copies[2];
	gw_pkt pkts[2] = {{0}};

	if (size < 2 || size > 4096) return 0;
	const uint8_t choice = data[0], tos = data[1];
	data += 2;
	size -= 2;
	/* an SA of its own for each input: a window that has moved would make findings irreproducible */
	gw_sa_free(receivers[choice]);
	gw_sa *sa = receivers[choice] = receiver(choice);
	for (int i = 0; i < 2; i++) {
		copies[i] = malloc(size + 4);
		gw_store_be32(copies[i], 0x11223344); /* the look-up would have found this SA by it */
		if (size) memcpy(copies[i] + 4, data, size);
		pkts[i] = (gw_pkt){.sa = sa, .out = copies[i], .out_len = (uint32_t)size + 4, .outer_tos = tos};
	}
	if (gw_open_batch(pkts, 2, 0) > 1) abort();
	for (int i = 0; i < 2; i++) {
		if (pkts[i].status == GW_OK &&
			(pkts[i].inner < copies[i] || pkts[i].inner + pkts[i].inner_len > copies[i] + size + 4))
			abort();
		if (pkts[i].status != GW_OK && (pkts[i].inner || pkts[i].inner_len)) abort();
		free(copies[i]);
	}
	return 0;
}
