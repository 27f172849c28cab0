# The kernel tier: our ESP against Linux's, in boots of a stock Debian kernel in an emulated machine (no KVM), or of
# Debian's kernel as a process (User Mode Linux), which `make test` uses: minutes instead of tens of minutes.
#
#   make test-kernel                         a covering set of the matrix, iperf3, netem, AF_ALG: the stock kernel
#   make test-kernel MACHINE=uml             the same as a process
#   make test-kernel MACHINE=uml FULL=1      the full product; `make kernel-matrix` puts its table into docs/
#   KEEP=1 goes on where an earlier run ended; BOOTS=n allows more than three boots a part;
#   GWBENCH_KERNEL_ONLY=REGEX takes some cases only
test-kernel: PROFILE = test

.PHONY: kernel-matrix
kernel-matrix:
	@test -s build/kernel/matrix.md || { echo "kernel-matrix: run make test-kernel FULL=1 first" >&2; exit 2; }
	@{ printf '# The kernel'"'"'s ESP and ours\n\nMade by `make test-kernel FULL=1 MACHINE=uml && make kernel-matrix`.\n\n'; cat build/kernel/matrix.md; } > docs/kernel-matrix.md
