# Static gwnode binaries for other processors, and what is tested and counted with them under qemu-user.
#
#   make cross                    all targets into build/cross/<target>/gwnode, and gwnode-test beside it
#   make cross-<target>           one of them (make -j2 helps: zig builds musl once per target, 60 s each)
#   make icount [TARGET=a,b]      instructions per byte, into build/icount.json
#   make icount-baseline          the counts that `make test-emulated` compares with
#   make sizes                    what gwnode takes of a router's flash and memory, a line per target
#   make wdr4900 [TARGET=armv7]   the WDR4900 test with an emulated gateway, in instructions of its whole process
#   make test-emulated            vectors, differential tests and counts on every target (Debian: qemu-user, gcc)
#
# One -mcpu and one -O a target: zig rebuilds musl for every combination. Each -mcpu is the least that the target's
# boards have; faster code is compiled by function attributes (NEON, Crypto Extensions) and chosen at run time.

CROSS_TARGETS := x86_64 armv7 aarch64 e500v2 ppc mips mipsel

ZIG_FLAGS_x86_64  := -target x86_64-linux-musl
# cortex_a8 and not a7: the same binary must run where there is no integer division and no VFPv4.
ZIG_FLAGS_armv7   := -target arm-linux-musleabihf -mcpu=cortex_a8-neon
ZIG_FLAGS_aarch64 := -target aarch64-linux-musl -mcpu=cortex_a53-aes-sha2
# soft float: e500 has no classic FPU. SPE is assembly only.
ZIG_FLAGS_e500v2  := -target powerpc-linux-musleabi -mcpu=e500
ZIG_FLAGS_ppc     := -target powerpc-linux-musleabi -mcpu=generic
ZIG_FLAGS_mips    := -target mips-linux-musleabi -mcpu=mips32r2+soft_float
ZIG_FLAGS_mipsel  := -target mipsel-linux-musleabi -mcpu=mips32r2+soft_float

# pyproject.toml pins ziglang; another Python that has it may be named on the command line.
CROSS_PYTHON ?= $(or $(addsuffix /python,$(BIN)),python3)
CROSS_CC      = $(CROSS_PYTHON) -m ziglang cc
# The counts are pinned to this compiler, this -O and no auto-vectorisation.
CROSS_CFLAGS := -std=gnu11 -O2 -fno-tree-vectorize -Wall -Wextra -Werror -ffunction-sections -fdata-sections
# Nothing unwinds in C: the tables are a tenth of the binary.
CROSS_CFLAGS += -fno-unwind-tables -fno-asynchronous-unwind-tables
# musl's CMSG_NXTHDR compares a difference with a size.
CROSS_CFLAGS += -Wno-sign-compare
# Small: everything but the ciphers, whose counts are pinned, and what touches each byte of a packet.
CROSS_SMALL := core/%.c bench/%.c node/%.c esp/%.c io/%.c $(patsubst %,crypto/%.c,key registry select table known_answers%)
CROSS_FAST  := io/checksum.c $(patsubst %,node/%.c,common icount icount_esp icount_meter)
# The largest: what is done once a packet there too.
CROSS_SMALL_e500v2 := crypto/transform.c crypto/ppc/aes_spe.c
CROSS_SMALL_ppc    := $(CROSS_SMALL_e500v2)
cross_opt = $(if $(filter $(CROSS_SMALL) $(CROSS_SMALL_$(1)),$(filter-out $(CROSS_FAST),$(2))),-Os)
# Where flash is least, gwnode is compiled once more for size: as one program, in which what is called once is in line
# and what nobody calls is gone. Not the ciphers, whose counts are pinned, nor what stands for the C library's own, which
# the compiler may call by name. gwnode-test, which counts, stays as the others are.
CROSS_WHOLE    := x86_64 e500v2 ppc mips mipsel
CROSS_BY_NAME  := node/libc_%.c node/print.c
cross_is_whole  = $(and $(filter $(CROSS_WHOLE),$(1)),$(call cross_opt,$(1),$(2)),$(filter-out $(CROSS_BY_NAME),$(2)))
cross_node_obj  = $(foreach s,$(2:csrc/%=%),build/cross/$(1)/$(if $(call cross_is_whole,$(1),$(s)),whole/)$(s).o)
# -Oz, which zig takes for -Os.
CROSS_WHOLE_CFLAGS := -Os -Xclang -Oz -flto -DGW_ESP_ONLY=1
# Not -Os here: zig would link a memcpy that moves single bytes.
CROSS_LDFLAGS := -static -s -Wl,--gc-sections
# Procedure descriptors that no program reads: 41 KB which -s leaves in the file.
CROSS_LDFLAGS_mips   := -Wl,-T,mk/mips.ld
CROSS_LDFLAGS_mipsel := $(CROSS_LDFLAGS_mips)

CROSS_SRC := $(wildcard $(addsuffix /*.c,$(addprefix csrc/,core crypto crypto/generic esp io bench)))
# What tests and counts implementations one by one is a binary of its own: routers do not carry it.
NODE_TEST_SRC := $(patsubst %,csrc/node/%.c,common differential icount icount_esp icount_meter selftest speed test_main vectors)
NODE_SRC := csrc/node/selftest.c csrc/node/speed.c $(filter-out $(NODE_TEST_SRC),$(wildcard csrc/node/*.c))
# Code of one ISA goes to its own targets only (elsewhere it would compile to nothing).
CROSS_SRC_x86_64  := $(wildcard csrc/crypto/x86/*.[cS])
CROSS_SRC_armv7   := $(wildcard csrc/crypto/arm/*.[cS])
CROSS_SRC_aarch64 := $(wildcard csrc/crypto/aarch64/*.[cS])
CROSS_SRC_e500v2  := $(wildcard csrc/crypto/ppc/*.[cS])
CROSS_SRC_ppc     := $(wildcard csrc/crypto/ppc/*.[cS])

.PHONY: cross sizes icount icount-baseline wdr4900 test-emulated
cross: build/cross/SHA256SUMS
build/cross/SHA256SUMS: $(CROSS_TARGETS:%=build/cross/%/gwnode) $(CROSS_TARGETS:%=build/cross/%/gwnode-test)
	@cd $(@D) && sha256sum $(patsubst $(@D)/%,%,$(sort $^)) > $(@F)

define CROSS_template
.PHONY: cross-$(1)
cross-$(1): build/cross/$(1)/gwnode build/cross/$(1)/gwnode-test
CROSS_LIB_$(1) := $$(patsubst csrc/%,build/cross/$(1)/%.o,$$(CROSS_SRC) $$(CROSS_SRC_$(1)))
CROSS_NODE_$(1) := $$(call cross_node_obj,$(1),$$(NODE_SRC) $$(filter-out csrc/crypto/table.c,$$(CROSS_SRC) $$(CROSS_SRC_$(1))))
CROSS_OBJ_$(1) := $$(sort $$(CROSS_LIB_$(1)) $$(CROSS_NODE_$(1)) $$(NODE_TEST_SRC:csrc/%=build/cross/$(1)/%.o))
build/cross/$(1)/gwnode: CROSS_LDFLAGS_$(1) += $(if $(filter $(1),$(CROSS_WHOLE)),-flto)
build/cross/$(1)/gwnode: $$(CROSS_NODE_$(1))
build/cross/$(1)/gwnode-test: $$(NODE_TEST_SRC:csrc/%=build/cross/$(1)/%.o) $$(CROSS_LIB_$(1))
build/cross/$(1)/gwnode build/cross/$(1)/gwnode-test:
	$$(CROSS_CC) $$(ZIG_FLAGS_$(1)) $$(CROSS_CFLAGS) $$(CROSS_LDFLAGS) $$(CROSS_LDFLAGS_$(1)) -o $$@ $$^
build/cross/$(1)/whole/%.o: csrc/% mk/cross.mk
	@mkdir -p $$(@D)
	$$(CROSS_CC) $$(ZIG_FLAGS_$(1)) $$(CROSS_CFLAGS) $$(CROSS_WHOLE_CFLAGS) -MMD -MP -c -o $$@ $$<
build/cross/$(1)/%.o: csrc/% mk/cross.mk
	@mkdir -p $$(@D)
	$$(CROSS_CC) $$(ZIG_FLAGS_$(1)) $$(CROSS_CFLAGS) $$(call cross_opt,$(1),$$*) -MMD -MP -c -o $$@ $$<
-include $$(CROSS_OBJ_$(1):.o=.d)
endef
$(foreach t,$(CROSS_TARGETS),$(eval $(call CROSS_template,$(t))))

ICOUNT_TARGETS = $(or $(subst $(comma), ,$(TARGET)),armv7 aarch64-neon aarch64-ce e500v2 mips mipsel)
comma := ,
icount: $(patsubst %,cross-%,$(sort $(ICOUNT_TARGETS:aarch64-%=aarch64)))
	$(CROSS_PYTHON) tests/emulated/icount_report.py --out build/icount.json $(ICOUNT_TARGETS)

icount-baseline: cross
	$(CROSS_PYTHON) tests/emulated/icount_baseline.py $(ICOUNT_TARGETS)

sizes: cross | dev
	@$(CROSS_PYTHON) tests/emulated/sizes.py

wdr4900: cross-$(or $(TARGET),e500v2) | dev
	$(CROSS_PYTHON) tests/emulated/wdr4900.py --target $(or $(TARGET),e500v2)

test-emulated: cross
	$(CROSS_PYTHON) -m pytest -q tests/emulated
