# gwnode by whatever compiler is at hand: the SDK of a router's firmware, or this machine's.
#
#   make -f mk/node.mk CC=... CFLAGS=... LDFLAGS=... O=DIRECTORY
#
# Every file guards its own ISA, so that all are compiled for every processor; those of libraries that are loaded at run
# time are left out, as in mk/cross.mk, because a static program loads none.
O ?= build/node
CFLAGS ?= -O2
NODE_CFLAGS := -std=gnu11 -fno-tree-vectorize -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables \
	-Wall -Wextra -Wno-sign-compare -Wno-format-truncation
NODE_LDFLAGS := -pthread -Wl,--gc-sections
TEST_ONLY := $(patsubst %,csrc/node/%.c,common differential icount icount_esp icount_meter test_main vectors)
# Routers carry csrc/node/table_esp.c: what ESP can use.
SRC := $(filter-out $(TEST_ONLY) csrc/crypto/table.c,$(wildcard $(addsuffix /*.[cS],$(addprefix csrc/,core crypto esp io bench node \
	$(addprefix crypto/,generic x86 arm aarch64 ppc)))))
OBJ := $(SRC:csrc/%=$(O)/%.o)

$(O)/gwnode: $(OBJ)
	$(CC) $(NODE_LDFLAGS) $(LDFLAGS) -o $@ $^

$(O)/%.o: csrc/%
	@mkdir -p $(@D)
	$(CC) $(NODE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJ:.o=.d)
