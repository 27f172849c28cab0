# The kernel tier: our ESP against a stock Debian kernel's, in one boot of a virtual machine without KVM.
#
#   make test-kernel             a pairwise covering set of the matrix, iperf3, netem
#   make test-kernel FULL=1      the full product; the table goes into docs/kernel-matrix.md by `make kernel-matrix`
test-kernel: PROFILE = test

.PHONY: kernel-matrix
kernel-matrix:
	@test -s build/kernel/matrix.md || { echo "kernel-matrix: run make test-kernel FULL=1 first" >&2; exit 2; }
	@{ printf '# The kernel'"'"'s ESP and ours\n\nMade by `make test-kernel FULL=1 && make kernel-matrix`.\n\n'; cat build/kernel/matrix.md; } > docs/kernel-matrix.md
