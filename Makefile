# gwbench. `make demo` is the place to start; CONTRIBUTING.md explains the rest.
#
#   make build        .venv with gwbench in it: .venv/bin/gwbench
#   make demo         installs what is missing, builds, runs the WDR4900 test on this machine, prints its table
#   make demo-monitoring  two gateways under load, a real Prometheus, the overview dashboard's numbers
#   make test         installs what is missing and runs every tier of tests
#   make check        formatters, linters, types, warnings as errors, the fast tests
#   make test-TIER    one tier, of those that have tests: unit vectors emulated kernel e2e fuzz
#   make fuzz SECONDS=600
#   make deb          a Debian package in build/: gwbench under /opt/gwbench, its units, its user
#   make clean
SHELL := /bin/bash
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

PYTHON ?= python3
export PYTHON
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
C_FILES := $(shell find csrc -name '*.[chS]' -o -name '*.inc')
C_FORMATTED = $(shell find csrc tests -name '*.[ch]' -not -name '*_asm.h')
# The demo: about three minutes.
DEMO_ARGS ?= --suite aes256-sha256 -t 10 --rounds 3
TIERS := $(foreach tier,unit vectors emulated kernel e2e fuzz,$(if $(wildcard tests/$(tier)/test_*.py),$(tier)))

.PHONY: build dev demo demo-monitoring dashboards deb test check clean bootstrap

# Which Debian packages may be needed: build, demo or test.
PROFILE ?= build
bootstrap:
	@scripts/bootstrap.sh $(PROFILE)

# A virtual environment that was moved or half made does not run: it is made again.
.venv/stamp-venv: constraints.txt pyproject.toml | bootstrap
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@$(PIP) install -c constraints.txt setuptools cffi
	@GWBENCH_PURE=1 $(PIP) install --config-settings editable_mode=compat -c constraints.txt --no-build-isolation -e '.[serve,report,ndr]'
	@touch $@

.venv/stamp-dev: .venv/stamp-venv
	@GWBENCH_PURE=1 $(PIP) install --config-settings editable_mode=compat -c constraints.txt --no-build-isolation -e '.[dev,serve,report,ndr,fleet,emulated,kernel]'
	@touch $@

# In place, and only what changed; see setup.py.
.venv/stamp-ext: .venv/stamp-venv setup.py dataplane/_build.py $(C_FILES)
	@echo "Building the dataplane"
	@GWBENCH_WERROR=1 $(BIN)/python -W ignore setup.py -q build_ext --inplace --build-temp build/ext
	@touch $@

build: .venv/stamp-ext

dev: .venv/stamp-dev .venv/stamp-ext

demo:
	@$(MAKE) --no-print-directory build PROFILE=demo
	@$(BIN)/gwbench iperf --lab $(DEMO_ARGS)

demo-monitoring:
	@$(MAKE) --no-print-directory build PROFILE=monitoring
	@$(BIN)/python scripts/demo_monitoring.py

# The dashboards' JSON from their Python.
dashboards: build
	@$(BIN)/python -m grafana

deb: build
	@$(PIP) install -c constraints.txt MLRsearch
	@$(BIN)/python scripts/make_deb.py

test:
	@scripts/test.sh

check: dev
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --diff . ; false; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/clang-format --dry-run -Werror $(C_FORMATTED)
	@env -u MAKEFLAGS -u MAKELEVEL $(BIN)/python -m pytest -q -x -m "not slow" tests/unit

# Cross builds for other processors, and test-emulated.
# mk/node.mk is a makefile of its own: the firmware SDK calls it.
include $(filter-out mk/node.mk,$(wildcard mk/*.mk))
test-emulated: | dev
# Their compiler is a wheel of the development environment.
$(foreach target,$(CROSS_TARGETS),$(CROSS_OBJ_$(target))): | .venv/stamp-dev

$(patsubst %,test-%,$(filter-out emulated,$(TIERS))): test-%: dev
	@env -u MAKEFLAGS -u MAKELEVEL $(BIN)/python -m pytest -q tests/$*

# libFuzzer on all targets, SECONDS in all; see docs/fuzzing.md.
.PHONY: fuzz
fuzz: dev
	@env -u MAKEFLAGS -u MAKELEVEL FUZZ_SECONDS=$(or $(SECONDS),600) $(BIN)/python -m pytest -q -s tests/fuzz

clean:
	rm -rf .venv build *.egg-info dataplane/_gwdp.c dataplane/_gwdp*.so dataplane/gwbench-xfrm-reader .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find csrc gateway dataplane tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
